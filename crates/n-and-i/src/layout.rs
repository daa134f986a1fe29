//! How a group is kept in the registry.

use std::fmt;

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
