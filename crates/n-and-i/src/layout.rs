//! How a group is kept in the registry.

use std::fmt;

use n_and_i_core::{ServerTime, Timing};

/// How many intervals keys are kept, counted from the latest registration.
const KEPT_INTERVALS: u64 = 3;
const MICROS_PER_MILLI: u64 = 1_000;

/// What a group's data look like. All workers of a group use the same; who has another
/// is refused. Byte by byte in `docs/layouts.md`, with what speaks for each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Layout {
    /// A plain counter for each interval, which workers of other implementations can use too.
    /// A worker's index is the order of its registration.
    #[default]
    Counters,
    /// One key for the group, in which workers keep their indices from interval to interval.
    /// One that asks again is not counted again.
    Slots,
}

impl Layout {
    /// Both.
    pub const ALL: &'static [Self] = &[Self::Counters, Self::Slots];

    /// The layout in one lower-case word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counters => "counters",
            Self::Slots => "slots",
        }
    }

    /// The layout with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|layout| layout.as_str() == name)
    }
}

/// Why a script did not count a registration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Refusal {
    /// The request's time limit had passed.
    TooLate,
    /// The group runs at this interval, in milliseconds.
    Interval(u64),
    /// The worker has left the group. Only with [`Layout::Slots`].
    Gone,
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The interval length as scripts have it.
pub(crate) fn interval_millis(timing: Timing) -> u64 {
    // At most 2^32 - 1 by construction.
    u64::try_from(timing.interval().as_millis()).unwrap_or(u64::MAX)
}

/// When a key expires that was written at this time.
pub(crate) fn kept_until(at: ServerTime, timing: Timing) -> ServerTime {
    let kept = KEPT_INTERVALS * interval_millis(timing) * MICROS_PER_MILLI;
    ServerTime::from_micros(at.as_micros().saturating_add(kept))
}
