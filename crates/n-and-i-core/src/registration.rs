//! What goes to the registry and what comes back.

use core::error::Error;
use core::fmt;
use core::time::Duration;

use crate::time::ServerTime;
use crate::timing::Timing;

/// One registration attempt of a machine, counted from 1. Every answer names the
/// attempt that it belongs to, so an answer to an abandoned one is recognized.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AttemptId(pub(crate) u64);

impl AttemptId {
    /// The attempt with this number, as when it comes back from where an answer was waited for.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The attempt's number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Tells one incarnation of an interval's counter from every other, for ever.
///
/// A random 128-bit value that a worker proposes with its request and that the
/// registry adopts when it creates a counter or finds one created anew.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp([u8; 16]);

impl Stamp {
    /// The stamp with this value.
    pub const fn from_u128(value: u128) -> Self {
        Self(value.to_be_bytes())
    }

    /// The stamp's value.
    pub const fn as_u128(self) -> u128 {
        u128::from_be_bytes(self.0)
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.as_u128())
    }
}

impl fmt::Debug for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stamp({self})")
    }
}

/// The registry's answer to one registration that was counted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Reply {
    /// The open interval `N` that counted this registration: `floor(at / T)`.
    pub interval: u64,
    /// This registration's position in `N`, from 0.
    pub index: u32,
    /// The closing count of `N - 1`, if known.
    pub replicas: Option<u32>,
    /// The server's time when it counted.
    pub at: ServerTime,
    /// The stamp of `N`.
    pub stamp: Stamp,
    /// The stamp of `N - 1`, if that interval was counted in one piece and is known to be final.
    pub previous_stamp: Option<Stamp>,
}

impl Reply {
    /// Whether this can be an answer in a group with this timing.
    ///
    /// # Errors
    /// Names the part that cannot be.
    pub fn check(&self, timing: Timing) -> Result<(), InvalidReply> {
        if self.at > ServerTime::MAX {
            return Err(InvalidReply::TimeOutOfRange { at: self.at });
        }
        let expected = timing.interval_at(self.at);
        if self.interval != expected {
            return Err(InvalidReply::WrongInterval { interval: self.interval, expected });
        }
        if self.index == u32::MAX {
            return Err(InvalidReply::IndexOutOfRange);
        }
        Ok(())
    }
}

/// Why a reply makes no sense.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum InvalidReply {
    /// The interval number does not belong to the server time beside it.
    WrongInterval {
        /// The interval number in the reply.
        interval: u64,
        /// The interval number that belongs to the server time in the reply.
        expected: u64,
    },
    /// The server time is beyond [`ServerTime::MAX`].
    TimeOutOfRange {
        /// The server time in the reply.
        at: ServerTime,
    },
    /// The index is the largest 32-bit number; indices must stay below it.
    IndexOutOfRange,
}

impl fmt::Display for InvalidReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongInterval { interval, expected } => {
                write!(f, "reply names interval {interval}, its server time lies in {expected}")
            }
            Self::TimeOutOfRange { at } => {
                write!(f, "reply names server time {at}, must be at most {}", ServerTime::MAX)
            }
            Self::IndexOutOfRange => {
                write!(f, "reply names index {}, must be less", u32::MAX)
            }
        }
    }
}

impl Error for InvalidReply {}

/// What is known about a registration that gave no reply.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Failure {
    /// It certainly was not counted and never will be. It is tried again after a back-off.
    NotExecuted,
    /// It may have been counted, but the registry counts a worker that asks again only once and
    /// gives it the same answer. It is tried again after a back-off.
    Repeatable,
    /// It may have been counted, or may still be. Trying again in the same interval could
    /// count the worker twice, so the machine waits for its slot in the next one.
    Unknown,
    /// The registry refused it because the not-after time of the request had passed there.
    /// Not counted. Since the worker was still waiting, the server's clock runs ahead of
    /// what the worker expected.
    TooLate {
        /// The server's time when it refused.
        at: ServerTime,
    },
    /// The group runs at another interval length. Not counted.
    IntervalMismatch {
        /// The interval length of the group.
        group: Duration,
    },
}

/// Why an input was refused. **The machine did not change.**
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Rejected {
    /// The answer belongs to an attempt that is over: answered, abandoned or given up.
    /// Ignore it.
    NotInFlight {
        /// The attempt that was named.
        attempt: AttemptId,
    },
    /// The reply makes no sense. The attempt is still in flight; report it with
    /// `handle_failure` and [`Failure::Unknown`], since it was probably counted.
    InvalidReply(InvalidReply),
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInFlight { attempt } => {
                write!(f, "registration attempt {} is not in flight", attempt.get())
            }
            Self::InvalidReply(_) => f.write_str("registration reply makes no sense"),
        }
    }
}

impl Error for Rejected {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::InvalidReply(invalid) => Some(invalid),
            Self::NotInFlight { .. } => None,
        }
    }
}
