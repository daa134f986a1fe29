//! What the scripts do, in memory, whichever layout the group has.

use n_and_i_core::{Reply, ServerTime, Stamp, Timing};

use crate::layout::{Layout, Refusal};
use crate::registry::WorkerId;
use crate::{counters, slots};

/// A group's data in one of the layouts, for simulations that lose them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Store {
    /// [`Layout::Counters`].
    Counters(counters::Store),
    /// [`Layout::Slots`].
    Slots(slots::Store),
}

impl Store {
    /// A group that nobody has registered in.
    pub fn new(layout: Layout) -> Self {
        match layout {
            Layout::Counters => Self::Counters(counters::Store::new()),
            Layout::Slots => Self::Slots(slots::Store::new()),
        }
    }

    /// Makes one registration. `server` is any number that changes whenever the server may have
    /// lost its latest writes.
    ///
    /// # Errors
    /// If the script would refuse it.
    pub fn register(
        &mut self,
        at: ServerTime,
        server: u64,
        timing: Timing,
        worker: WorkerId,
        stamp: Stamp,
        not_after: Option<ServerTime>,
    ) -> Result<Reply, Refusal> {
        match self {
            Self::Counters(store) => store.register(at, server, timing, stamp, not_after),
            Self::Slots(store) => store.register(at, server, timing, worker, stamp, not_after),
        }
    }

    /// A worker leaves in order, which counters do not want to know.
    pub fn release(&mut self, at: ServerTime, timing: Timing, worker: WorkerId) {
        if let Self::Slots(store) = self {
            store.release(at, timing, worker);
        }
    }

    /// Loses the counter of an interval. Slots have one key, which is lost as a whole.
    pub fn lose_counter(&mut self, interval: u64) {
        match self {
            Self::Counters(store) => store.lose_counter(interval),
            Self::Slots(store) => store.clear(),
        }
    }

    /// Loses the guard. Slots have one key, which is lost as a whole.
    pub fn lose_guard(&mut self) {
        match self {
            Self::Counters(store) => store.lose_guard(),
            Self::Slots(store) => store.clear(),
        }
    }

    /// Loses everything, as by FLUSHALL or a restart without persistence.
    pub fn clear(&mut self) {
        match self {
            Self::Counters(store) => store.clear(),
            Self::Slots(store) => store.clear(),
        }
    }
}
