//! What a run amounted to: shares served, time spent idle, time to the first lease.

use n_and_i_core::{Mapping, Reason};

use crate::claims::Claim;
use crate::nanos::to_f64;
use crate::plan::Planned;

/// Sums over a run, in true time (nanoseconds).
#[derive(Debug)]
pub(crate) struct Account {
    interval: u64,
    /// How shares of the key space are measured.
    mapping: Mapping,
    /// The share of the key space that had an owner, by interval.
    served: Vec<f64>,
    changes: Vec<Change>,
    idle: [u64; REASONS.len()],
    lived: u64,
    first_leases: u64,
    first_lease_waits: u64,
}

/// A planned change of membership.
#[derive(Debug)]
struct Change {
    at: u64,
    what: Planned,
    /// The share of the key space that had an owner from then to the next, by the time that it had.
    served: f64,
}

/// Every reason to be idle, in the order in which they are counted.
const REASONS: [Reason; 5] =
    [Reason::Starting, Reason::Rebalancing, Reason::Expired, Reason::ClockStepped, Reason::Stopped];

impl Account {
    pub(crate) fn new(interval: u64, mapping: Mapping) -> Self {
        Self {
            interval,
            mapping,
            served: Vec::new(),
            changes: Vec::new(),
            idle: [0; REASONS.len()],
            lived: 0,
            first_leases: 0,
            first_lease_waits: 0,
        }
    }

    /// A lease is over.
    pub(crate) fn served(&mut self, claim: &Claim) {
        let share = claim.share.fraction(self.mapping);
        self.served_after_changes(claim, share);
        let share = share / to_f64(self.interval);
        let mut from = claim.from;
        while from < claim.until {
            let number = from / self.interval;
            let until = claim.until.min((number + 1) * self.interval);
            let index = usize::try_from(number).unwrap_or(usize::MAX);
            if self.served.len() <= index {
                self.served.resize(index + 1, 0.0);
            }
            self.served[index] += share * to_f64(until - from);
            from = until;
        }
    }

    fn served_after_changes(&mut self, claim: &Claim, share: f64) {
        let mut until = claim.until;
        for change in self.changes.iter_mut().rev() {
            let from = claim.from.max(change.at);
            change.served += share * to_f64(until.saturating_sub(from));
            until = until.min(from);
            if until == claim.from {
                break;
            }
        }
    }

    /// Membership changes by plan.
    pub(crate) fn changes(&mut self, at: u64, what: Planned) {
        self.changes.push(Change { at, what, served: 0.0 });
    }

    /// What a change of this kind cost until the next change, on average, in intervals. The last
    /// one counts only if it is known how long it mattered: to the end of its time.
    pub(crate) fn lost_per(&self, what: Planned, end: Option<u64>) -> Option<f64> {
        let nexts = self.changes.iter().skip(1).map(|next| next.at).chain(end);
        let followed = self.changes.iter().zip(nexts);
        let mut lost = followed.filter(|(change, _)| change.what == what).map(|(change, next)| {
            (to_f64(next.saturating_sub(change.at)) - change.served) / to_f64(self.interval)
        });
        let first = lost.next()?;
        let (sum, count) = lost.fold((first, 1.0), |(sum, count), lost| (sum + lost, count + 1.0));
        Some(sum / count)
    }

    /// A worker was idle for this long.
    pub(crate) fn idle(&mut self, reason: Reason, span: u64) {
        if let Some(index) = REASONS.iter().position(|known| *known == reason) {
            self.idle[index] += span;
        }
    }

    /// A worker got its first lease this long after its start.
    pub(crate) fn first_lease(&mut self, wait: u64) {
        self.first_leases += 1;
        self.first_lease_waits += wait;
    }

    /// A worker is gone, or the run is over.
    pub(crate) fn lived(&mut self, span: u64) {
        self.lived += span;
    }

    pub(crate) fn worker_intervals(&self) -> u64 {
        self.lived / self.interval
    }

    /// Mean and minimum of the share served, by whole intervals after the first `skipped`.
    pub(crate) fn share(&self, end: u64, skipped: u64) -> (f64, f64) {
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        let whole = usize::try_from(end / self.interval).unwrap_or(usize::MAX);
        let share = |index| self.served.get(index).map_or(0.0, |share: &f64| share.min(1.0));
        let shares = (skipped..whole).map(share);
        let count = to_f64(u64::try_from(whole.saturating_sub(skipped)).unwrap_or(u64::MAX));
        if count == 0.0 {
            return (0.0, 0.0);
        }
        (shares.clone().sum::<f64>() / count, shares.fold(1.0, f64::min))
    }

    /// How long a worker waited for its first lease, in intervals, on average.
    pub(crate) fn first_lease_wait(&self) -> Option<f64> {
        let count = to_f64(self.first_leases);
        (count > 0.0).then(|| to_f64(self.first_lease_waits) / count / to_f64(self.interval))
    }

    /// Worker-intervals spent idle, by reason; only reasons that occurred.
    pub(crate) fn idle_by_reason(&self) -> Vec<(Reason, f64)> {
        let sums = REASONS.iter().zip(self.idle).filter(|(_, span)| *span > 0);
        sums.map(|(reason, span)| (*reason, to_f64(span) / to_f64(self.interval))).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use n_and_i_core::{Pair, Share};

    use super::*;

    fn claim(share: Share, from: u64, until: u64) -> Claim {
        let interval = Duration::from_nanos(100);
        Claim { worker: 0, life: 1, share, stage: 1, interval, from, until, drain_until: 0 }
    }

    fn half() -> Share {
        Share::of(Pair::new(0, 2).unwrap())
    }

    fn is_close(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < 1e-9)
    }

    #[test]
    fn shares_are_summed_by_interval() {
        let mut account = Account::new(100, Mapping::Modulo);
        account.served(&claim(half(), 150, 300));
        account.served(&claim(half(), 200, 400));
        let close = |(mean, least): (f64, f64), expected: (f64, f64)| {
            assert!((mean - expected.0).abs() < 1e-9 && (least - expected.1).abs() < 1e-9);
        };
        // 0, then a quarter, all, a half.
        close(account.share(400, 0), (1.75 / 4.0, 0.0));
        close(account.share(499, 2), (0.75, 0.5));
        close(account.share(100, 1), (0.0, 0.0));
    }
    #[test]
    fn a_share_is_measured_under_one_mapping() {
        let pairs = [(2, 3), (0, 2)].map(|(i, n)| Pair::new(i, n).unwrap());
        let both = Share::common(pairs[0], pairs[1]).unwrap();
        let again = Share::common(Pair::new(0, 3).unwrap(), pairs[1]).unwrap();
        for (mapping, shares) in [(Mapping::Modulo, [6.0, 6.0]), (Mapping::Jump, [6.0, 3.0])] {
            for (share, one_in) in [both, again].into_iter().zip(shares) {
                let mut account = Account::new(100, mapping);
                account.served(&claim(share, 0, 100));
                assert!(
                    is_close(Some(account.share(100, 0).0), 1.0 / one_in),
                    "{mapping}, {share}"
                );
            }
        }
    }

    #[test]
    fn what_a_change_costs_is_counted_to_the_next() {
        let mut account = Account::new(100, Mapping::Modulo);
        account.changes(100, Planned::Join);
        assert_eq!(account.lost_per(Planned::Join, None), None);
        assert!(is_close(account.lost_per(Planned::Join, Some(150)), 0.5));
        account.served(&claim(half(), 50, 150));
        account.changes(300, Planned::Leave);
        // Begins before the first and ends after the second.
        account.served(&claim(half(), 0, 350));
        account.changes(400, Planned::Join);
        account.changes(500, Planned::Leave);
        account.served(&claim(half(), 450, 450));
        assert!(is_close(account.lost_per(Planned::Leave, None), 0.75));
        assert!(is_close(
            account.lost_per(Planned::Join, None),
            f64::midpoint(2.0 - 0.25 - 1.0, 1.0)
        ));
        assert_eq!(account.lost_per(Planned::Restart, None), None);
    }
}
