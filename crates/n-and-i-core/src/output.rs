//! What the machine asks its embedder to do, and what it tells about itself.

use core::fmt;
use core::time::Duration;

use crate::registration::AttemptId;
use crate::share::{Pair, Share};
use crate::time::{Instant, ServerTime};

/// An exclusive lease on a share.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lease {
    /// What is owned.
    pub share: Share,
    /// The stage (interval number) at which the lease was granted; renewals keep it.
    /// A fencing token: of two owners of one task, the later has the greater stage.
    pub stage: u64,
    /// From this instant on the share is not owned any more unless the lease was renewed.
    pub ends: Instant,
    /// Until when work on the share may be finished if the lease is lost without having been
    /// renewed again: nobody else is handed one of its tasks before. Not before `ends`.
    ///
    /// With `K` the stage of the latest renewal, this is `start of (K + 2)` on the server's
    /// clock as the worker knew it when it sent the registration of stage `K`, and at most
    /// `1.5 · (1 - g / 4) · T` after that.
    pub drain_until: Instant,
}

/// What a worker owns changed to this. What it owned before, as far as it is not owned any
/// more, is lost.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Change {
    /// The lease on what is owned from now on, or why nothing is.
    pub owned: Result<Lease, Reason>,
    /// The stage (interval number) of the last registration, none before the first.
    pub stage: Option<u64>,
    /// Until when work on what was just lost may still be finished: the
    /// [`drain_until`](Lease::drain_until) of its lease. None if nothing was lost.
    pub drain_until: Option<Instant>,
}

/// Why a worker owns nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// It has just started: the first pair needs at least three registrations.
    Starting,
    /// The group's membership is changing: two intervals do not agree on a pair or, if the
    /// worker is to [keep serving](crate::Rebalance::KeepServing), have no task in common.
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
    /// restart. If it owned anything, a [`Output::Yield`] follows.
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
    /// The share is owned from now on, and nothing else.
    LeaseGranted(Share),
    /// The share is given back. If a grant follows at once, what both have in common stays owned.
    LeaseReleased(Share),
    /// When the next registration is made.
    RegistrationScheduled {
        /// Counted from now.
        delay: Duration,
        /// When everything held is void unless renewed, counted from now; before the first reply,
        /// when that reply is overdue. None once that has passed.
        expires: Option<Duration>,
    },
}
