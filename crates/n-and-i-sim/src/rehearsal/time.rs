//! Virtual clocks and timers.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use n_and_i::{Clock, Runtime};
use n_and_i_core::Instant;

use crate::clock::WorkerClock;

/// The time that no member knows.
#[derive(Clone, Default)]
pub(crate) struct TrueTime(Arc<AtomicU64>);

impl TrueTime {
    pub(crate) fn set(&self, nanos: u64) {
        self.0.store(nanos, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A member's clock and its timers.
#[derive(Clone)]
pub(super) struct VirtualTime {
    true_time: TrueTime,
    clock: WorkerClock,
    timers: Arc<Mutex<Timers>>,
    notes: Arc<Mutex<Vec<String>>>,
}

#[derive(Default)]
struct Timers {
    /// Whom to wake at which reading; the number tells timers of one reading apart.
    pending: BTreeMap<(Instant, u64), Waker>,
    made: u64,
}

impl VirtualTime {
    pub(super) fn new(true_time: TrueTime, clock: WorkerClock) -> Self {
        Self { true_time, clock, timers: Arc::default(), notes: Arc::default() }
    }

    pub(super) fn now(&self) -> Instant {
        self.clock.at(self.true_time.get())
    }

    pub(super) fn true_time(&self) -> Duration {
        Duration::from_nanos(self.true_time.get())
    }

    pub(super) fn note(&self, text: String) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    pub(super) fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn sleep(&self, duration: Duration) -> Sleep {
        let deadline = self.now().saturating_add(duration);
        let mut timers = self.timers();
        timers.made += 1;
        Sleep { timer: (deadline, timers.made), time: self.clone(), yielded: false }
    }

    /// Wakes whoever waits for a reading that has come.
    pub(super) fn wake_due(&self) {
        let now = self.now();
        loop {
            // A waker is called without the lock, as it may do anything.
            let mut timers = self.timers();
            let Some(timer) = timers.pending.first_entry() else { return };
            if timer.key().0 > now {
                return;
            }
            let waker = timer.remove();
            drop(timers);
            waker.wake();
        }
    }

    pub(super) fn next_timer(&self) -> Option<Instant> {
        self.timers().pending.first_key_value().map(|((deadline, _), _)| *deadline)
    }

    fn timers(&self) -> MutexGuard<'_, Timers> {
        self.timers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) struct Sleep {
    timer: (Instant, u64),
    time: VirtualTime,
    /// Whether it was pending once, as even a sleep of no length is.
    yielded: bool,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.time.now() >= self.timer.0 {
            if std::mem::replace(&mut self.yielded, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.yielded = true;
        self.time.timers().pending.insert(self.timer, cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.time.timers().pending.remove(&self.timer);
    }
}

pub(super) struct SimulatedRuntime(pub(super) VirtualTime);

impl Runtime for SimulatedRuntime {
    fn clock(&self) -> Arc<dyn Clock> {
        let time = self.0.clone();
        Arc::new(move || time.now())
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send {
        self.0.sleep(duration)
    }
}
