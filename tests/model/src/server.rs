//! The server: a group in its real layout, a clock that may step, and an identity.

use n_and_i::counters::Refusal;
use n_and_i::scripts::Store;
use n_and_i::{Layout, WorkerId};
use n_and_i_core::{Failure, Reply, ServerTime, Stamp, Timing};

use crate::action::ServerFault;
use crate::setup::{INTERVAL_MILLIS, NANOS_PER_MILLI};

/// The server's time when true time begins: the start of an interval, late enough for any step.
const EPOCH_MILLIS: i64 = 1_000_000;
const MICROS_PER_MILLI: i64 = 1_000;
const NANOS_PER_MICRO: u64 = 1_000;

/// What a worker hears of its registration.
pub(crate) type Answer = Result<Reply, Failure>;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Server {
    store: Store,
    /// How far its clock is ahead of true time, in milliseconds.
    ahead_millis: i64,
    /// Changes when another server takes over.
    identity: u64,
    /// What the store was before each of the latest writes, the oldest first.
    before_writes: Vec<Store>,
}

impl Server {
    pub(crate) fn new(layout: Layout) -> Self {
        let store = Store::new(layout);
        Self { store, ahead_millis: EPOCH_MILLIS, identity: 0, before_writes: Vec::new() }
    }

    /// What its clock reads at a true time.
    pub(crate) fn time(&self, now: u64) -> ServerTime {
        let ahead = self.ahead_millis * MICROS_PER_MILLI;
        let micros = ahead.saturating_add_unsigned(now / NANOS_PER_MICRO);
        ServerTime::from_micros(u64::try_from(micros).unwrap_or(0))
    }

    /// `stamp` must be a new one.
    pub(crate) fn register(
        &mut self,
        now: u64,
        timing: Timing,
        worker: WorkerId,
        stamp: Stamp,
        not_after: Option<ServerTime>,
    ) -> Answer {
        let (at, before) = (self.time(now), self.store.clone());
        let result = self.store.register(at, self.identity, timing, worker, stamp, not_after);
        if result.is_ok() {
            self.before_writes.push(before);
        }
        result.map_err(|refusal| match refusal {
            Refusal::TooLate => Failure::TooLate { at },
            Refusal::Interval(_) | Refusal::Gone => Failure::NotExecuted,
        })
    }

    /// A worker leaves in order.
    pub(crate) fn release(&mut self, now: u64, timing: Timing, worker: WorkerId) {
        let (at, before) = (self.time(now), self.store.clone());
        self.store.release(at, timing, worker);
        if matches!(self.store, Store::Slots(_)) {
            self.before_writes.push(before);
        }
    }

    /// Keeps only what was before this many of the latest writes.
    pub(crate) fn forget_before(&mut self, writes: usize) {
        let excess = self.before_writes.len().saturating_sub(writes);
        self.before_writes.drain(..excess);
    }

    /// How many of the latest writes can be lost.
    pub(crate) fn writes_to_lose(&self) -> usize {
        self.before_writes.len()
    }

    /// `renamed` is whether a server that takes over has a name of its own.
    pub(crate) fn suffer(&mut self, fault: ServerFault, now: u64, renamed: bool) {
        let open =
            self.time(now).as_micros() / (INTERVAL_MILLIS * NANOS_PER_MILLI / NANOS_PER_MICRO);
        match fault {
            ServerFault::Step(millis) => self.ahead_millis += millis,
            ServerFault::LoseOpen => self.store.lose_counter(open),
            ServerFault::LoseClosed => self.store.lose_counter(open.saturating_sub(1)),
            ServerFault::LoseGuard => self.store.lose_guard(),
            ServerFault::RollBack(writes) => {
                let kept = self.before_writes.len().saturating_sub(writes);
                if let Some(store) = self.before_writes.get(kept) {
                    self.store = store.clone();
                    self.before_writes.truncate(kept);
                }
                self.identity += u64::from(renamed);
            }
        }
    }

    /// Whether the fault would change anything.
    pub(crate) fn would_suffer(&self, fault: ServerFault, now: u64) -> bool {
        let mut after = self.clone();
        after.suffer(fault, now, true);
        after != *self
    }
}
