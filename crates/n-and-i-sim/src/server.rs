//! The server: a group in its layout, a clock, and what befalls both.

use std::collections::VecDeque;

use n_and_i::counters::Refusal;
use n_and_i::scripts::Store;
use n_and_i::{Layout, WorkerId};
use n_and_i_core::{Reply, ServerTime, Stamp, Timing};

use crate::world::Event;

/// The server's time when true time begins: some real date.
const EPOCH_MICROS: i64 = 1_800_000_000_000_000;
const NANOS_PER_MICRO: u64 = 1_000;
/// How many past states a rollback may return to.
const SNAPSHOTS: usize = 64;

#[derive(Debug)]
pub(crate) struct Server {
    store: Store,
    /// How far its clock is ahead of true time, in microseconds.
    offset: i64,
    /// Changes with every restart and promotion.
    identity: u64,
    snapshots: VecDeque<Store>,
    keep_snapshots: bool,
    next_stamp: u128,
    /// Until when it refuses and says so, and until when it stands still, in true time.
    pub(crate) refuses_until: u64,
    pub(crate) stopped_until: u64,
    /// What arrived while it stood still.
    pub(crate) unread: Vec<Event>,
    /// How many registrations were counted.
    pub(crate) counted: u64,
}

impl Server {
    pub(crate) fn new(layout: Layout, phase: i64, keep_snapshots: bool) -> Self {
        Self {
            store: Store::new(layout),
            offset: EPOCH_MICROS + phase,
            identity: 0,
            snapshots: VecDeque::new(),
            keep_snapshots,
            next_stamp: 0,
            refuses_until: 0,
            stopped_until: 0,
            unread: Vec::new(),
            counted: 0,
        }
    }

    /// How far its clock is ahead of true time, in microseconds.
    pub(crate) fn ahead(&self) -> i64 {
        self.offset
    }

    /// What its clock reads at a true time.
    pub(crate) fn time(&self, now: u64) -> ServerTime {
        let micros = self.offset.saturating_add_unsigned(now / NANOS_PER_MICRO);
        ServerTime::from_micros(u64::try_from(micros).unwrap_or(0))
    }

    pub(crate) fn register(
        &mut self,
        now: u64,
        timing: Timing,
        worker: WorkerId,
        not_after: Option<ServerTime>,
    ) -> Result<Reply, Refusal> {
        self.keep_snapshot();
        self.next_stamp += 1;
        let (at, stamp) = (self.time(now), Stamp::from_u128(self.next_stamp));
        let result = self.store.register(at, self.identity, timing, worker, stamp, not_after);
        self.counted += u64::from(result.is_ok());
        result
    }

    /// A worker leaves in order.
    pub(crate) fn release(&mut self, now: u64, timing: Timing, worker: WorkerId) {
        self.keep_snapshot();
        let at = self.time(now);
        self.store.release(at, timing, worker);
    }

    fn keep_snapshot(&mut self) {
        if self.keep_snapshots {
            if self.snapshots.len() == SNAPSHOTS {
                self.snapshots.pop_front();
            }
            self.snapshots.push_back(self.store.clone());
        }
    }

    /// What a worker does that knows only the counters.
    pub(crate) fn increment(&mut self, now: u64, timing: Timing) {
        let at = self.time(now);
        if let Store::Counters(store) = &mut self.store {
            store.increment(at, timing, true);
            self.counted += 1;
        }
    }

    /// Its clock steps by this many microseconds.
    pub(crate) fn step(&mut self, by: i64) {
        self.offset += by;
    }

    /// Another process takes over with the state of some writes ago.
    pub(crate) fn roll_back(&mut self, writes: usize) {
        let kept = self.snapshots.len().saturating_sub(writes);
        if let Some(store) = self.snapshots.get(kept) {
            self.store = store.clone();
            self.snapshots.truncate(kept);
        }
        self.identity += 1;
    }

    pub(crate) fn snapshots(&self) -> usize {
        self.snapshots.len()
    }

    pub(crate) fn restart_empty(&mut self) {
        self.store.clear();
        self.snapshots.clear();
        self.identity += 1;
    }

    pub(crate) fn store(&mut self) -> &mut Store {
        &mut self.store
    }
}
