//! A worker under test: a [`Machine`], the server's clock beside its own, and its outputs.
//!
//! Tests speak of whole milliseconds of the worker's clock, its origin being the start of
//! interval 100 on the server's. So local time 2,350 is phase 350 of interval 102, until
//! a test steps the server's clock.
//!
//! [`Worker`] behaves as a good embedder does: it handles every deadline exactly when it is
//! due and drains all outputs after every input. Registrations happen when the machine asks for
//! them; a test only says how each one ends.

use std::time::Duration;

use n_and_i_core::{
    AttemptId, Change, Diagnostic, Failure, Instant, Lease, Machine, Output, Pair, Rebalance,
    Rejected, Reply, ServerTime, Stamp, Timing,
};

/// `T`, in milliseconds.
pub(crate) const INTERVAL: u64 = 1_000;
/// `g · T`, in milliseconds. With it the slots of three workers are 300, 500 and 700.
pub(crate) const GAP: u64 = 200;
/// The number of the interval that begins at local time 0.
const FIRST: u64 = 100;

/// The end of a lease, that of what is held and the next registration: no more deadlines come
/// before the worker registers.
const MOST_DEADLINES: usize = 3;

/// One expiry, change, registration and deadline, and at most eight reports.
const MOST_OUTPUTS: usize = 12;

pub(crate) fn timing() -> Timing {
    Timing::new(Duration::from_millis(INTERVAL), 0.2).expect("within the bounds")
}

/// The local time `millis` after the origin.
pub(crate) const fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

pub(crate) const fn just_before(instant: Instant) -> Instant {
    Instant::from_nanos(instant.as_nanos() - 1)
}

/// The server's time at the local time `millis`, as long as its clock has not stepped.
pub(crate) const fn server(millis: u64) -> ServerTime {
    ServerTime::from_micros((FIRST * INTERVAL + millis) * 1_000)
}

pub(crate) const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn pair(i: u32, n: u32) -> Pair {
    Pair::new(i, n).expect("i < n")
}

/// The stamp that an interval has as long as its counter is not lost.
const fn stamp(interval: u64) -> Stamp {
    Stamp::from_u128(interval as u128)
}

/// A registration that was counted, and the way of its reply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    index: u32,
    replicas: Option<u32>,
    outward: Duration,
    inward: Duration,
    stamp: Reported,
    previous_stamp: Reported,
}

/// What a reply says of an interval's stamp.
#[derive(Clone, Copy, Debug)]
enum Reported {
    /// It never changed: [`stamp`].
    Unchanged,
    Other(Option<Stamp>),
}

impl Reported {
    fn or(self, unchanged: Stamp) -> Option<Stamp> {
        match self {
            Self::Unchanged => Some(unchanged),
            Self::Other(other) => other,
        }
    }
}

/// Counted as `index`, told of `replicas`, at once and with all stamps in order.
pub(crate) fn counted(index: u32, replicas: impl Into<Option<u32>>) -> Counted {
    Counted {
        index,
        replicas: replicas.into(),
        outward: Duration::ZERO,
        inward: Duration::ZERO,
        stamp: Reported::Unchanged,
        previous_stamp: Reported::Unchanged,
    }
}

impl Counted {
    /// Counted this many milliseconds after it was sent.
    pub(crate) fn outward(self, delay: u64) -> Self {
        Self { outward: millis(delay), ..self }
    }

    /// The reply is handled this many milliseconds after it was counted.
    pub(crate) fn inward(self, delay: u64) -> Self {
        self.inward_exactly(millis(delay))
    }

    pub(crate) fn inward_exactly(self, inward: Duration) -> Self {
        Self { inward, ..self }
    }

    /// In an incarnation of the counter with this stamp.
    pub(crate) fn stamp(self, stamp: u128) -> Self {
        Self { stamp: Reported::Other(Some(Stamp::from_u128(stamp))), ..self }
    }

    /// Told that the interval before has this stamp.
    pub(crate) fn previous_stamp(self, stamp: impl Into<Option<u128>>) -> Self {
        let previous_stamp = Reported::Other(stamp.into().map(Stamp::from_u128));
        Self { previous_stamp, ..self }
    }

    /// The reply of a server that counts it `at` this time.
    pub(crate) fn reply(self, at: ServerTime) -> Reply {
        let interval = timing().interval_at(at);
        Reply {
            interval,
            index: self.index,
            replicas: self.replicas,
            at,
            stamp: self.stamp.or(stamp(interval)).expect("an open interval has one"),
            previous_stamp: self.previous_stamp.or(stamp(interval - 1)),
        }
    }
}

/// What the machine asked for last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Request {
    pub(crate) attempt: AttemptId,
    pub(crate) not_after: Option<ServerTime>,
    pub(crate) sent: Instant,
}

/// A machine and its embedder.
#[derive(Clone, Debug)]
pub(crate) struct Worker {
    pub(crate) machine: Machine,
    pub(crate) now: Instant,
    pub(crate) request: Request,
    /// How far the server's clock has stepped, in microseconds.
    server_step: i64,
    outputs: Vec<Output>,
}

impl Worker {
    /// A worker that starts at this local time; its first request is on the way.
    pub(crate) fn start(start: u64) -> Self {
        Self::start_with(start, Rebalance::StandDown)
    }

    /// The same, in this mode.
    pub(crate) fn start_with(start: u64, rebalance: Rebalance) -> Self {
        let machine = Machine::new(timing(), at(start)).with_rebalance(rebalance);
        let attempt = machine.in_flight().expect("a worker registers at once");
        let request = Request { attempt, not_after: None, sent: at(start) };
        let mut worker =
            Self { machine, now: at(start), request, server_step: 0, outputs: Vec::new() };
        worker.drain(at(start));
        worker
    }

    /// A worker that is index 1 of 3 since stage 102. It registered last at 2,500; its lease
    /// ends at 3,700, its next registration is due at 3,500.
    pub(crate) fn settled() -> Self {
        let mut worker = Self::start(400);
        worker.register_all([counted(1, None), counted(1, 3), counted(1, 3)]);
        assert_eq!(worker.lease_in_words(), "1 of 3 since 102 until 3700");
        worker.take();
        worker
    }

    // ---- inputs ----

    /// The next registration goes like this. Deadlines meanwhile are handled in time.
    pub(crate) fn register(&mut self, counted: Counted) {
        let (arrival, reply) = self.counted(counted);
        self.sleep_until_just_before(arrival);
        self.reply(arrival, reply);
    }

    pub(crate) fn register_all(&mut self, all: impl IntoIterator<Item = Counted>) {
        for counted in all {
            self.register(counted);
        }
    }

    /// The next registration goes like this, but the process is stopped until the reply is
    /// there: no deadline is handled between sending and the reply.
    pub(crate) fn register_frozen(&mut self, counted: Counted) {
        let (arrival, reply) = self.counted(counted);
        self.reply(arrival, reply);
    }

    /// The next registration fails this many milliseconds after it was sent.
    pub(crate) fn fail(&mut self, after: u64, failure: Failure) {
        self.await_request();
        let arrival = self.request.sent.saturating_add(millis(after));
        self.sleep_until_just_before(arrival);
        self.machine.handle_failure(arrival, self.request.attempt, failure).expect("in flight");
        self.drain(arrival);
    }

    /// Hands over a reply to the last request now.
    pub(crate) fn reply(&mut self, now: Instant, reply: Reply) {
        self.machine.handle_reply(now, self.request.attempt, reply).expect("in flight and valid");
        self.drain(now);
    }

    /// Hands over an answer that the machine must refuse, unchanged and without a word.
    pub(crate) fn reject<F>(&mut self, answer: F) -> Rejected
    where
        F: FnOnce(&mut Machine) -> Result<(), Rejected>,
    {
        let before = self.machine.clone();
        let rejected = answer(&mut self.machine).expect_err("must be refused");
        assert_eq!(self.machine, before, "a refused input changes nothing");
        assert_eq!(self.machine.poll_output(), None);
        rejected
    }

    /// Handles every deadline up to this one, each in time.
    pub(crate) fn sleep_until(&mut self, until: u64) {
        self.sleep_until_just_before(Instant::from_nanos(at(until).as_nanos() + 1));
        self.now = at(until);
    }

    /// Wakes up once at this time, whatever was due before.
    pub(crate) fn wake(&mut self, now: Instant) {
        self.machine.handle_timeout(now);
        self.drain(now);
    }

    pub(crate) fn stop(&mut self, now: Instant) {
        self.machine.handle_stop(now);
        self.drain(now);
    }

    /// Lets the server's clock jump by this many milliseconds.
    pub(crate) fn step_server(&mut self, by: i64) {
        self.step_server_micros(by * 1_000);
    }

    pub(crate) fn step_server_micros(&mut self, by: i64) {
        self.server_step += by;
    }

    /// Handles deadlines until a registration is in flight.
    pub(crate) fn await_request(&mut self) -> Request {
        for _ in 0..=MOST_DEADLINES {
            if self.machine.in_flight().is_some() {
                return self.request;
            }
            let deadline = self.machine.poll_timeout().expect("a running machine registers again");
            self.wake(deadline);
        }
        panic!("does not register");
    }

    // ---- what came of it ----

    /// The outputs since the last call.
    pub(crate) fn take(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.outputs)
    }

    /// Like [`Worker::take`], only the reports.
    pub(crate) fn take_reports(&mut self) -> Vec<Diagnostic> {
        self.take().into_iter().filter_map(report).collect()
    }

    /// Like [`Worker::take`], only the changes, as [`changes_in_words`] puts them.
    pub(crate) fn take_changes_in_words(&mut self) -> Vec<String> {
        changes_in_words(&self.take())
    }

    /// The lease as the machine has it now, such as `1 of 3 since 102 until 3700`.
    pub(crate) fn lease_in_words(&self) -> String {
        self.machine.lease().map_or("none".to_owned(), |Lease { share, stage, ends, .. }| {
            format!("{share} since {stage} until {}", in_millis(ends))
        })
    }

    /// The server's time now.
    pub(crate) fn server_time(&self) -> ServerTime {
        self.server_time_at(self.now)
    }

    fn server_time_at(&self, local: Instant) -> ServerTime {
        let unstepped = server(0).as_micros() + local.as_nanos() / 1_000;
        ServerTime::from_micros(unstepped.saturating_add_signed(self.server_step))
    }

    fn counted(&mut self, counted: Counted) -> (Instant, Reply) {
        self.await_request();
        let executed = self.request.sent.saturating_add(counted.outward);
        let reply = counted.reply(self.server_time_at(executed));
        (executed.saturating_add(counted.inward), reply)
    }

    fn sleep_until_just_before(&mut self, until: Instant) {
        while let Some(deadline) = self.machine.poll_timeout()
            && deadline < until
        {
            self.wake(deadline);
        }
    }

    fn drain(&mut self, now: Instant) {
        assert!(now >= self.now, "a test goes back from {:?} to {now:?}", self.now);
        self.now = now;
        let mut drained = 0;
        while let Some(output) = self.machine.poll_output() {
            drained += 1;
            assert!(drained <= MOST_OUTPUTS, "more outputs than kinds of them");
            if let Output::Register { attempt, not_after } = output {
                self.request = Request { attempt, not_after, sent: now };
            }
            self.outputs.push(output);
        }
        // Or a loop that sleeps until the deadline would never end.
        let deadline = self.machine.poll_timeout();
        assert!(deadline.is_none_or(|deadline| deadline > now), "{deadline:?} is over at {now:?}");
    }
}

pub(crate) fn change(output: Output) -> Option<Change> {
    if let Output::Yield(change) = output { Some(change) } else { None }
}

pub(crate) fn report(output: Output) -> Option<Diagnostic> {
    if let Output::Report(report) = output { Some(report) } else { None }
}

/// The changes among these outputs, such as `idle: expired` and `1 of 3 since 102`.
pub(crate) fn changes_in_words(outputs: &[Output]) -> Vec<String> {
    outputs.iter().copied().filter_map(change).map(in_words).collect()
}

/// The pair that the last reply implied, as it was reported.
pub(crate) fn implied(outputs: &[Output]) -> Option<Pair> {
    let implied = |&output: &Output| match report(output)? {
        Diagnostic::PairAgreed(pair) | Diagnostic::PairDisagreed { pair, .. } => Some(Some(pair)),
        Diagnostic::NoPairImplied { .. } => Some(None),
        _ => None,
    };
    outputs.iter().rev().find_map(implied).expect("every reply is followed by such a report")
}

pub(crate) fn in_millis(instant: Instant) -> u64 {
    assert_eq!(instant.as_nanos() % 1_000_000, 0, "not a whole millisecond");
    instant.as_nanos() / 1_000_000
}

fn in_words(change: Change) -> String {
    match change.owned {
        Ok(lease) => format!("{} since {}", lease.share, lease.stage),
        Err(reason) => format!("idle: {reason}"),
    }
}
