//! The two clocks of the protocol: the worker's own and the server's.

use core::fmt;
use core::time::Duration;

pub(crate) const NANOS_PER_MICRO: u64 = 1_000;

/// A reading of the worker's own monotonic clock: nanoseconds since an origin
/// that the embedder chooses once per machine.
///
/// The range is about 584 years. The machine never reads a clock; use one that
/// keeps counting while the computer sleeps, or a lease looks alive after a
/// suspend.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Instant(u64);

impl Instant {
    /// The origin of the clock.
    pub const ORIGIN: Self = Self(0);

    /// The reading `nanos` nanoseconds after the origin.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The reading `elapsed` after the origin; saturates after 584 years.
    #[expect(clippy::cast_possible_truncation, reason = "checked against the maximum first")]
    pub const fn from_elapsed(elapsed: Duration) -> Self {
        let nanos = elapsed.as_nanos();
        if nanos > u64::MAX as u128 { Self(u64::MAX) } else { Self(nanos as u64) }
    }

    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time since `earlier`, zero if `earlier` is later.
    pub const fn saturating_duration_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// This reading moved `by` into the future; saturates.
    #[must_use]
    pub const fn saturating_add(self, by: Duration) -> Self {
        Self(self.0.saturating_add(Self::from_elapsed(by).0))
    }
}

/// A time on the server's clock: microseconds since the Unix epoch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ServerTime(u64);

impl ServerTime {
    /// The latest time that a machine accepts, some 73,000 years from the epoch.
    pub const MAX: Self = Self(u64::MAX >> 3);

    /// The time `micros` microseconds after the Unix epoch.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Microseconds since the Unix epoch.
    pub const fn as_micros(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ServerTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06} s", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}
