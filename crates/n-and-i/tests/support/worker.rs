//! A worker whose work is run, polled by hand, and what the work did.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use n_and_i::{Finished, Lease, Peers, Rebalance, StopHandle};

use super::time::{Time, on_stall};
use super::{Driver, INTERVAL, Planned, config, look, start_with};

/// What work returns.
pub(crate) type Outcome = Result<(), &'static str>;
/// Some work.
pub(crate) type Work = Pin<Box<dyn Future<Output = Outcome>>>;

/// A driver, and a run loop in a task of its own.
pub(crate) struct Worker {
    pub(crate) time: Time,
    pub(crate) registry: Planned,
    pub(crate) stop: StopHandle,
    /// Whether the driver has ended.
    pub(crate) ended: bool,
    pub(crate) run: Run,
    driver: Driver,
    log: Log,
}

/// The task of the run loop. Clones are the same.
#[derive(Clone)]
pub(crate) struct Run(Rc<RefCell<State>>);

enum State {
    Running(Pin<Box<dyn Future<Output = Result<Finished, &'static str>>>>),
    Over(Option<Result<Finished, &'static str>>),
}

impl Run {
    pub(crate) fn poll(&self) {
        let mut state = self.0.borrow_mut();
        if let State::Running(running) = &mut *state
            && let Poll::Ready(outcome) =
                running.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        {
            *state = State::Over(Some(outcome));
        }
    }

    pub(crate) fn cancel(&self) {
        *self.0.borrow_mut() = State::Over(None);
    }

    /// None while it runs, or if it was cancelled.
    pub(crate) fn outcome(&self) -> Option<Result<Finished, &'static str>> {
        match &*self.0.borrow() {
            State::Running(_) => None,
            State::Over(outcome) => *outcome,
        }
    }
}

/// What the work did, with the time in intervals.
#[derive(Clone)]
struct Log {
    time: Time,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Log {
    fn note(&self, text: impl AsRef<str>) {
        let intervals = Duration::from_nanos(self.time.reading().as_nanos()).as_secs_f64()
            / INTERVAL.as_secs_f64();
        self.lines.lock().unwrap().push(format!("{intervals:.2} {}", text.as_ref()));
    }
}

/// Notes when the work that holds it is dropped before it has returned.
struct Guard {
    log: Log,
    share: String,
    returned: bool,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.returned {
            self.log.note(format!("dropped {}", self.share));
        }
    }
}

impl Worker {
    /// Each work notes its start, does what `then` says, and notes its end.
    pub(crate) fn start<W, F>(rebalance: Rebalance, then: W) -> Self
    where
        W: Fn(Time, Lease) -> F + 'static,
        F: Future<Output = Outcome> + 'static,
    {
        Self::start_late(rebalance, 0, then)
    }

    /// The same, with a loop that begins after so many changes were read.
    pub(crate) fn start_late<W, F>(rebalance: Rebalance, read: usize, then: W) -> Self
    where
        W: Fn(Time, Lease) -> F + 'static,
        F: Future<Output = Outcome> + 'static,
    {
        let (time, registry, mut driver, mut peers) =
            start_with(config().with_rebalance(rebalance));
        for _ in 0..read {
            wait_for_change(&mut driver, &mut peers);
        }
        let stop = peers.stop_handle();
        let log = Log { time: time.clone(), lines: Arc::default() };
        let (notes, clock) = (log.clone(), time.clone());
        let running = peers.run(move |lease: Lease| {
            let share = lease.share().to_string();
            notes.note(format!("start {share}"));
            let (log, then) = (notes.clone(), then(clock.clone(), lease));
            async move {
                let mut guard = Guard { log: log.clone(), share, returned: false };
                let outcome = then.await;
                guard.returned = true;
                log.note(format!("end {}", guard.share));
                outcome
            }
        });
        let run = Run(Rc::new(RefCell::new(State::Running(Box::pin(running)))));
        Self { time, registry, stop, ended: false, run, driver, log }
    }

    /// Lets this much time pass, and everybody run whenever a timer is due on the way.
    pub(crate) fn pass(&mut self, intervals: f64) {
        self.poll();
        self.pass_with(intervals, Self::poll);
    }

    /// The same, but the driver does not run.
    pub(crate) fn pass_without_driver(&mut self, intervals: f64) {
        self.pass_with(intervals, |worker| worker.run.poll());
    }

    fn pass_with(&mut self, intervals: f64, mut poll: impl FnMut(&mut Self)) {
        let mut left = INTERVAL.mul_f64(intervals);
        while !left.is_zero() {
            left -= self.time.advance(left);
            poll(self);
        }
    }

    pub(crate) fn poll(&mut self) {
        // Each may have something for the other.
        for _ in 0..2 {
            if !self.ended {
                self.ended = self.driver.poll();
            }
            self.run.poll();
        }
    }

    /// Another one registers in this interval; then an interval passes.
    pub(crate) fn join(&mut self) {
        self.registry.visit();
        self.pass(1.0);
    }

    /// The next time the driver has read its clock after an answer, everything stands still until
    /// then; and when it goes on, the run loop happens to come first.
    pub(crate) fn stall_until(&self, intervals: f64) {
        self.registry.plan([super::Fault::Stall]);
        let (time, run) = (self.time.clone(), self.run.clone());
        on_stall(move || {
            let until = n_and_i::Instant::from_elapsed(INTERVAL.mul_f64(intervals));
            time.suspend(until.saturating_duration_since(time.reading()));
            run.poll();
        });
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lines.lock().unwrap())
    }
}

fn wait_for_change(driver: &mut Driver, peers: &mut Peers) {
    while look(peers).is_pending() {
        driver.run(INTERVAL / 8);
    }
}

/// Goes on until it is told to end, and then for that many intervals.
pub(crate) fn until_told(drain: f64) -> impl Fn(Time, Lease) -> Work {
    move |time, lease| {
        Box::pin(async move {
            lease.ended().await;
            if drain > 0.0 {
                time.sleep_for(INTERVAL.mul_f64(drain)).await;
            }
            Ok(())
        })
    }
}
