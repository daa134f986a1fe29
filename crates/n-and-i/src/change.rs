//! What a consumer gets.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use n_and_i_core::{Instant, Pair, Reason};

use crate::clock::Clock;

/// What this worker owns changed.
///
/// Whatever it owned before is over: stop taking work, finish or release what is in flight
/// by the [drain deadline](Change::drain_deadline), then go on with [what it owns now](Change::lease).
#[derive(Clone, Debug)]
pub struct Change {
    pub(crate) now_owned: Result<Lease, Reason>,
    pub(crate) stage: Option<u64>,
    pub(crate) drain_until: Option<Instant>,
    pub(crate) clock: ClockHandle,
}

impl Change {
    /// The lease on what is owned from now on, or why nothing is.
    ///
    /// # Errors
    /// The reason, which is no failure.
    pub fn owned(&self) -> Result<&Lease, Reason> {
        self.now_owned.as_ref().map_err(|&reason| reason)
    }

    /// The pair that is owned from now on; none if nothing is.
    pub fn pair(&self) -> Option<Pair> {
        self.lease().map(Lease::pair)
    }

    /// The lease on the pair that is owned from now on; none if nothing is.
    pub fn lease(&self) -> Option<&Lease> {
        self.owned().ok()
    }

    /// Why nothing is owned; none if something is.
    pub fn reason(&self) -> Option<Reason> {
        self.owned().err()
    }

    /// The number of the interval in which the worker last registered; none before it has.
    ///
    /// With a lease it is the stage at which the lease was granted: a fencing token. Of two
    /// owners of one task, the later has the greater one.
    pub fn stage(&self) -> Option<u64> {
        self.stage
    }

    /// Until when work on the pair just lost may still be finished, on the clock of the
    /// [`Runtime`](crate::Runtime): nobody else is handed one of its tasks before. None if
    /// nothing was lost.
    ///
    /// With `K` the last stage at which the pair was owned, this is `start of (K + 2)` of the
    /// server's time as the worker knew it when it sent the registration of stage `K`, and at
    /// most `1.5 · T` after that.
    pub fn drain_deadline(&self) -> Option<Instant> {
        self.drain_until
    }

    /// How much time is left until the [drain deadline](Change::drain_deadline): zero if it
    /// has passed or nothing was lost.
    pub fn drain_remaining(&self) -> Duration {
        self.drain_until.map_or(Duration::ZERO, |deadline| {
            deadline.saturating_duration_since(self.clock.0.now())
        })
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.now_owned {
            Ok(lease) => write!(f, "{}", lease.pair()),
            Err(reason) => write!(f, "idle ({reason})"),
        }
    }
}

/// An exclusive lease on a pair. Cheap to clone; any thread may ask it.
#[derive(Clone, Debug)]
pub struct Lease {
    pair: Pair,
    stage: u64,
    term: Arc<Term>,
}

impl Lease {
    pub(crate) fn new(pair: Pair, stage: u64, ends: Instant, clock: ClockHandle) -> Self {
        let ends = AtomicU64::new(ends.as_nanos());
        Self { pair, stage, term: Arc::new(Term { ends, clock }) }
    }

    /// What is leased.
    pub fn pair(&self) -> Pair {
        self.pair
    }

    /// Whether the task belongs to the leased share: `task_id % n == i`. Says nothing about
    /// whether the lease is still live.
    pub fn owns(&self, task_id: u64) -> bool {
        self.pair.owns(task_id)
    }

    /// The fencing token: the stage at which the lease was granted.
    pub fn stage(&self) -> u64 {
        self.stage
    }

    /// Whether the lease is held at this moment: a clock read and a comparison.
    ///
    /// False from the lease's end on. That holds from the first moment after a suspended
    /// computer or a stopped process runs again, before any loop had a chance to.
    pub fn is_live(&self) -> bool {
        self.term.clock.0.now() < self.ends()
    }

    /// When the lease ends unless it is renewed meanwhile, on the clock of the
    /// [`Runtime`](crate::Runtime); its origin once the lease is over.
    pub fn ends(&self) -> Instant {
        Instant::from_nanos(self.term.ends.load(Ordering::Acquire))
    }

    /// How long the lease lasts unless it is renewed meanwhile; zero once it is over.
    pub fn remaining(&self) -> Duration {
        self.ends().saturating_duration_since(self.term.clock.0.now())
    }

    /// Unless it was revoked.
    pub(crate) fn renew(&self, ends: Instant) {
        let renewed = |old: u64| (old != REVOKED).then_some(ends.as_nanos());
        // Refused: it stays revoked.
        let _ = self.term.ends.fetch_update(Ordering::AcqRel, Ordering::Acquire, renewed);
    }

    pub(crate) fn revoke(&self) {
        self.term.ends.store(REVOKED, Ordering::Release);
    }
}

/// The end of a lease that was revoked: the origin of every clock.
const REVOKED: u64 = 0;

#[derive(Debug)]
struct Term {
    ends: AtomicU64,
    clock: ClockHandle,
}

#[derive(Clone)]
pub(crate) struct ClockHandle(pub(crate) Arc<dyn Clock>);

impl fmt::Debug for ClockHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({:?})", self.0.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock that stands at 100, and a lease until 150.
    fn lease() -> Lease {
        let clock = ClockHandle(Arc::new(|| Instant::from_nanos(100)));
        Lease::new(Pair::new(1, 3).unwrap(), 7, Instant::from_nanos(150), clock)
    }

    #[test]
    fn a_lease_owns_the_tasks_of_its_pair() {
        let lease = lease();
        assert_eq!((lease.pair(), lease.stage()), (Pair::new(1, 3).unwrap(), 7));
        let owned: Vec<_> = (0..8).filter(|&task| lease.owns(task)).collect();
        assert_eq!(owned, [1, 4, 7]);
    }

    #[test]
    fn a_lease_is_renewed_for_all_its_clones() {
        let lease = lease();
        let clone = lease.clone();
        assert_eq!(clone.remaining(), Duration::from_nanos(50));
        for (ends, is_live, remaining) in [(300, true, 200), (101, true, 1), (100, false, 0)] {
            lease.renew(Instant::from_nanos(ends));
            assert_eq!((clone.ends().as_nanos(), clone.is_live()), (ends, is_live));
            assert_eq!(clone.remaining(), Duration::from_nanos(remaining));
        }
    }

    #[test]
    fn a_lease_that_was_revoked_is_not_renewed() {
        let lease = lease();
        let clone = lease.clone();
        lease.revoke();
        lease.renew(Instant::from_nanos(300));
        assert_eq!((clone.ends(), clone.remaining()), (Instant::ORIGIN, Duration::ZERO));
        assert!(!clone.is_live());
    }
}
