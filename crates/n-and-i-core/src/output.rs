//! What the machine asks its embedder to do, and what it tells about itself.

use core::fmt;
use core::num::NonZeroU32;
use core::time::Duration;

use crate::registration::AttemptId;
use crate::time::{Instant, ServerTime};

/// A share of the task space: index `i` of `n`, with `i < n`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    i: u32,
    n: NonZeroU32,
}

impl Pair {
    /// The pair `(i, n)`, or none unless `i < n`.
    pub const fn new(i: u32, n: u32) -> Option<Self> {
        match NonZeroU32::new(n) {
            Some(count) if i < n => Some(Self { i, n: count }),
            _ => None,
        }
    }

    /// The index of this worker, from 0 to `n - 1`.
    pub const fn i(self) -> u32 {
        self.i
    }

    /// How many workers share the task space, at least 1.
    pub const fn n(self) -> u32 {
        self.n.get()
    }

    /// Whether the task with this number belongs to the share: `task_id % n == i`.
    pub const fn owns(self, task_id: u64) -> bool {
        task_id % self.n.get() as u64 == self.i as u64
    }

    /// Whether some task belongs to both shares: by the Chinese remainder theorem, if the
    /// indices agree modulo the greatest common divisor of the counts.
    pub const fn intersects(self, other: Self) -> bool {
        let (mut divisor, mut rest) = (self.n(), other.n());
        while rest != 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        self.i % divisor == other.i % divisor
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.i, self.n)
    }
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pair({self})")
    }
}

/// An exclusive lease on a pair.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lease {
    /// What is owned.
    pub pair: Pair,
    /// The stage (interval number) at which the lease was granted; renewals keep it.
    /// A fencing token: of two owners of one task, the later has the greater stage.
    pub stage: u64,
    /// From this instant on the pair is not owned any more unless the lease was renewed.
    pub ends: Instant,
}

/// What a worker owns changed to this.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Change {
    /// The worker owns a pair.
    Owned(Lease),
    /// The worker owns nothing.
    Idle(Idle),
}

/// The worker owns nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Idle {
    /// Why.
    pub reason: Reason,
    /// The stage (interval number) of the last registration, none before the first.
    pub stage: Option<u64>,
    /// Until when work on the pair just lost may still be finished: nobody else is handed
    /// one of its tasks before. None if nothing was lost.
    ///
    /// With `K` the last stage at which the pair was owned, this is `start of (K + 2)` on the
    /// server's clock as the worker knew it when it sent the registration of stage `K`, and at
    /// most `1.5 · T` after that.
    pub drain_until: Option<Instant>,
}

/// Why a worker owns nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// It has just started: the first pair needs at least three registrations.
    Starting,
    /// The group's membership is changing: two intervals do not agree on a pair.
    Rebalancing,
    /// The lease ran out before it was renewed: a registration failed, hung or came too late.
    Expired,
    /// The server's clock stepped; nothing is owned until leases granted before are over.
    ClockStepped,
    /// The worker was asked to stop.
    Stopped,
}

impl Reason {
    /// The reason in lower-case words joined by `-`, for logs and machine-readable output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Rebalancing => "rebalancing",
            Self::Expired => "expired",
            Self::ClockStepped => "clock-stepped",
            Self::Stopped => "stopped",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing for the embedder to do.
///
/// One input produces at most one of each kind (reports aside), always in this order:
/// expire, reports, yield, register, schedule at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Output {
    /// Everything that earlier registrations gave is void: the worker stands as after a
    /// restart. If it owned a pair, a [`Output::Yield`] follows.
    Expire,
    /// A diagnostic, to log or to drop.
    Report(Diagnostic),
    /// What the worker owns changed. A newer change replaces one not yet acted on.
    Yield(Change),
    /// Send a registration now, and abandon any earlier one.
    Register {
        /// To be named with the answer.
        attempt: AttemptId,
        /// The registry must refuse the registration after this time on its own clock.
        /// None as long as the worker does not know the server's time.
        not_after: Option<ServerTime>,
    },
    /// Call `handle_timeout` at this instant. Replaces any earlier one; the same as
    /// `poll_timeout` says.
    ScheduleAt(Instant),
}

/// Something worth logging. Plain data: the machine knows no logger.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Diagnostic {
    /// The server's clock stepped: it moved more or less than the local clock allows.
    ClockStepped {
        /// By how much it ran ahead of the local clock since its time was last learned, in
        /// microseconds, the transport's delays included; negative for a step back.
        by: i64,
    },
    /// What the last registration gave ran out before the next one succeeded.
    LeaseExpired {
        /// The interval of the last registration.
        interval: u64,
        /// How long ago the request was sent that the registry last answered.
        after: Duration,
    },
    /// A registration was counted.
    RegistrationCompleted {
        /// The interval that counted it.
        interval: u64,
        /// Its index there.
        index: u32,
        /// The closing count of the interval before, if known.
        replicas: Option<u32>,
        /// How far the server's clock ran ahead of the local one since its time was last
        /// learned, in microseconds, the transport's delays included. None the first time.
        skew: Option<i64>,
    },
    /// A registration failed or was given up.
    RegistrationFailed {
        /// Whether it was given up after an interval without an answer.
        gave_up: bool,
        /// How many in a row failed, this one included.
        attempt: u32,
        /// When the next one is made, counted from now.
        delay: Duration,
    },
    /// This reply and the one before imply the same pair.
    PairAgreed(Pair),
    /// This reply implies another pair than the one before.
    PairDisagreed {
        /// What this reply implies.
        pair: Pair,
        /// What the one before implied.
        previous: Option<Pair>,
    },
    /// This reply implies no pair.
    NoPairImplied {
        /// What the one before implied.
        previous: Option<Pair>,
    },
    /// The pair is owned from now on.
    LeaseGranted(Pair),
    /// The pair is not owned any more.
    LeaseReleased(Pair),
    /// When the next registration is made.
    RegistrationScheduled {
        /// Counted from now.
        delay: Duration,
        /// When everything held is void unless renewed, counted from now; before the first reply,
        /// when that reply is overdue. None once that has passed.
        expires: Option<Duration>,
    },
}
