//! One of the groups as it is seen from outside.

use std::time::Duration;

use n_and_i::{Change, Config, Lease, Rebalance};

use crate::demo::history::History;
use crate::demo::ledger::{Event, Ledger, News};
use crate::demo::summary::Summary;

/// What is known of a group.
#[derive(Debug)]
pub(crate) struct Side {
    config: Config,
    pub(crate) ledger: Ledger<Lease>,
    pub(crate) history: History,
    /// When some interval began, as the latest grant of a whole share tells.
    interval_began: Option<Duration>,
}

impl Side {
    /// A group of so many workers that is looked at for this long.
    pub(crate) fn new(config: Config, workers: usize, length: Duration) -> Self {
        let interval = config.interval();
        let mut ledger = Ledger::new(interval);
        (0..workers).for_each(|_| ledger.enter());
        let history = History::new(length, interval);
        Self { config, ledger, history, interval_began: None }
    }

    pub(crate) fn rebalance(&self) -> Rebalance {
        self.config.rebalance()
    }

    /// The longest time that a lease can be left.
    pub(crate) fn full_lease(&self) -> Duration {
        self.config.interval() + self.config.timing().gap_length()
    }

    /// A worker was handed this.
    pub(crate) fn hear(&mut self, worker: usize, change: &Change, elapsed: Duration) {
        if let Some(share) = change.share().filter(|share| share.is_settled()) {
            // Granted by a registration, and that was made at its slot.
            let slot = self.config.timing().slot(share.pair().i(), share.pair().n());
            self.interval_began = elapsed.checked_sub(slot);
        }
        let news = News { holds: change.owned().cloned(), stage: change.stage() };
        self.ledger.hear(worker, news, elapsed);
    }

    /// When, next after this time, half of so many workers have registered in an interval; this
    /// time itself as long as nobody knows.
    pub(crate) fn next_middle(&self, workers: usize, after: Duration) -> Duration {
        let Some(began) = self.interval_began else { return after };
        let workers = u32::try_from(workers).unwrap_or(u32::MAX);
        let (timing, half) = (self.config.timing(), workers.div_ceil(2).max(1));
        let middle = (timing.slot(half - 1, workers) + timing.slot(half, workers)) / 2;
        let (first, interval) = (began + middle, self.config.interval());
        let Some(gone) = after.checked_sub(first) else { return first };
        let intervals = gone.as_nanos().div_ceil(interval.as_nanos());
        first + interval * u32::try_from(intervals).unwrap_or(u32::MAX)
    }

    /// Checks the group. What there is to tell.
    pub(crate) fn look(&mut self, elapsed: Duration) -> Vec<Event> {
        let events = self.ledger.settle(elapsed);
        self.ledger.check();
        self.history.record(elapsed, self.ledger.share());
        events
    }

    pub(crate) fn summary(&self, elapsed: Duration) -> Summary {
        let losses = self.history.losses();
        Summary {
            rebalance: self.rebalance(),
            elapsed,
            interval: self.config.interval(),
            changes: self.ledger.changes(),
            first_ownership: self.history.first_ownership(),
            mean: self.history.mean(),
            least: self.history.least(),
            lost_by_join: losses.first().copied(),
            lost_by_crash: losses.get(1).copied(),
            conflicts: self.ledger.conflicts(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_when_half_have_registered() {
        let second = Duration::from_secs(1);
        let config = Config::new("x", second).unwrap();
        let timing = config.timing();
        let mut side = Side::new(config, 5, second * 30);
        assert_eq!(side.next_middle(5, second * 9), second * 9, "nobody knows");
        side.interval_began = Some(second * 3 / 2);
        for (workers, after) in [(1, 0), (2, 1), (5, 9), (6, 20), (1000, 2)] {
            let after = second * after;
            let middle = side.next_middle(workers, after);
            assert!(middle >= after && middle < (after + second).max(second * 5 / 2));
            let half = u32::try_from(workers.div_ceil(2)).unwrap();
            let within = (middle + second / 2).subsec_nanos();
            let of_slot = |index| timing.slot(index, u32::try_from(workers).unwrap());
            let between = of_slot(half - 1).subsec_nanos()..of_slot(half).subsec_nanos();
            assert!(between.contains(&within), "{workers}: {middle:?}");
        }
    }
}
