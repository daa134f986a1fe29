//! What a run amounted to: shares served, time spent idle, time to the first lease.

use n_and_i_core::Reason;

use crate::claims::Claim;
use crate::nanos::to_f64;

/// Sums over a run, in true time (nanoseconds).
#[derive(Debug)]
pub(crate) struct Account {
    interval: u64,
    /// The share of the key space that had an owner, by interval.
    served: Vec<f64>,
    idle: [u64; REASONS.len()],
    lived: u64,
    first_leases: u64,
    first_lease_waits: u64,
}

/// Every reason to be idle, in the order in which they are counted.
const REASONS: [Reason; 5] =
    [Reason::Starting, Reason::Rebalancing, Reason::Expired, Reason::ClockStepped, Reason::Stopped];

impl Account {
    pub(crate) fn new(interval: u64) -> Self {
        Self {
            interval,
            served: Vec::new(),
            idle: [0; REASONS.len()],
            lived: 0,
            first_leases: 0,
            first_lease_waits: 0,
        }
    }

    /// A lease is over.
    pub(crate) fn served(&mut self, claim: &Claim) {
        let share = 1.0 / f64::from(claim.pair.n()) / to_f64(self.interval);
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
    pub(crate) fn share(&self, end: u64, skipped: usize) -> (f64, f64) {
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

    use n_and_i_core::Pair;

    use super::*;

    #[test]
    fn shares_are_summed_by_interval() {
        let mut account = Account::new(100);
        let mut claim = Claim {
            worker: 0,
            pair: Pair::new(0, 2).unwrap(),
            stage: 1,
            interval: Duration::from_nanos(100),
            from: 150,
            until: 300,
            drain_until: 0,
        };
        account.served(&claim);
        (claim.from, claim.until) = (200, 400);
        account.served(&claim);
        let close = |(mean, least): (f64, f64), expected: (f64, f64)| {
            assert!((mean - expected.0).abs() < 1e-9 && (least - expected.1).abs() < 1e-9);
        };
        // 0, then a quarter, all, a half.
        close(account.share(400, 0), (1.75 / 4.0, 0.0));
        close(account.share(499, 2), (0.75, 0.5));
        close(account.share(100, 1), (0.0, 0.0));
    }
}
