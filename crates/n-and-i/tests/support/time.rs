//! A runtime whose time passes only when a test says so.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;

use n_and_i::{Clock, Instant, Runtime, ServerTime};

thread_local! {
    static STALLS: Cell<bool> = const { Cell::new(false) };
    static STALL: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

/// What happens when the clock was next read after [`stall_at_next_reading`], before the reading is used.
pub(crate) fn on_stall(stall: impl FnOnce() + 'static) {
    STALL.set(Some(Box::new(stall)));
}

pub(crate) fn stall_at_next_reading() {
    STALLS.set(true);
}

/// Clones share their time.
#[derive(Clone, Default)]
pub(crate) struct Time {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// What the timers have counted.
    timers: Duration,
    /// What the clock has counted besides.
    suspended: Duration,
    /// By how many milliseconds the server's clock was set forward.
    server_ahead: i64,
    /// When to wake up, as the timers count; none once the sleep is over.
    sleeps: Vec<Option<Duration>>,
    /// By how much the next sleep of the driver will be too short.
    early: Duration,
    /// How many sleeps the driver has started.
    started: usize,
}

impl Time {
    pub(crate) fn reading(&self) -> Instant {
        let state = self.lock();
        Instant::from_elapsed(state.timers + state.suspended)
    }

    /// The server's clock runs with the worker's, from some real date on.
    pub(crate) fn server(&self) -> ServerTime {
        let micros = 1_800_000_000_000_000 + self.reading().as_nanos() / 1_000;
        ServerTime::from_micros(micros.saturating_add_signed(1_000 * self.lock().server_ahead))
    }

    /// The server's clock is set forward, or back.
    pub(crate) fn step_server(&self, millis: i64) {
        self.lock().server_ahead += millis;
    }

    /// Moves on to the next wake-up, but at most by `limit`. Returns by how much.
    pub(crate) fn advance(&self, limit: Duration) -> Duration {
        let mut state = self.lock();
        let left = state.sleeps.iter().flatten().map(|wake| wake.saturating_sub(state.timers));
        let by = left.filter(|left| !left.is_zero()).fold(limit, Duration::min);
        state.timers += by;
        by
    }

    /// The computer sleeps: the clock goes on, the timers do not.
    pub(crate) fn suspend(&self, duration: Duration) {
        self.lock().suspended += duration;
    }

    /// The driver's next sleep will be too short.
    pub(crate) fn wake_early(&self, by: Duration) {
        self.lock().early = by;
    }

    /// How many sleeps the driver has started so far.
    pub(crate) fn started(&self) -> usize {
        self.lock().started
    }

    /// Sleeps for somebody else than the driver.
    pub(crate) fn sleep_for(&self, duration: Duration) -> Sleep {
        let mut state = self.lock();
        let wake = state.timers + duration;
        state.sleeps.push(Some(wake));
        Sleep { state: Arc::clone(&self.state), index: state.sleeps.len() - 1, wake }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl Runtime for Time {
    fn clock(&self) -> Arc<dyn Clock> {
        let time = self.clone();
        Arc::new(move || {
            let now = time.reading();
            if STALLS.replace(false)
                && let Some(stall) = STALL.take()
            {
                stall();
            }
            now
        })
    }

    async fn sleep(&self, duration: Duration) {
        let shorter = {
            let mut state = self.lock();
            state.started += 1;
            std::mem::take(&mut state.early)
        };
        self.sleep_for(duration.saturating_sub(shorter)).await;
    }
}

pub(crate) struct Sleep {
    state: Arc<Mutex<State>>,
    index: usize,
    wake: Duration,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.state.lock().unwrap().timers >= self.wake { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.state.lock().unwrap().sleeps[self.index] = None;
    }
}
