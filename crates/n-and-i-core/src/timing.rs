//! Interval and gap: what every deadline is computed from.

use core::error::Error;
use core::fmt;
use core::time::Duration;

use crate::time::{NANOS_PER_MICRO, ServerTime};

const NANOS_PER_MILLI: u64 = 1_000_000;
const PARTS: u32 = 1_000_000;

/// The interval length `T` and the gap `g` of one worker, checked.
///
/// `T` must be the same for every worker of a group (the registry refuses
/// another). `g` is the timing slack as a fraction of `T`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Timing {
    interval_millis: u32,
    gap_parts: u32,
}

impl Timing {
    /// The gap used when nothing else is asked for, as a fraction of the interval.
    pub const DEFAULT_GAP: f64 = 0.15;

    /// The longest interval: about 49 days.
    pub const MAX_INTERVAL: Duration = Duration::from_millis(u32::MAX as u64);

    /// Checks an interval length and a gap.
    ///
    /// The interval is a whole number of milliseconds from 1 ms to
    /// [`Timing::MAX_INTERVAL`]. The gap is a fraction of it with
    /// `0 < gap < 0.5`, kept to the nearest millionth.
    ///
    /// # Errors
    /// Names the field, the value and the bound that it breaks.
    pub fn new(interval: Duration, gap: f64) -> Result<Self, TimingError> {
        if interval.is_zero() || interval > Self::MAX_INTERVAL {
            return Err(TimingError::IntervalOutOfRange { interval });
        }
        if u64::from(interval.subsec_nanos()) % NANOS_PER_MILLI != 0 {
            return Err(TimingError::IntervalNotWholeMillis { interval });
        }
        let interval_millis = u32::try_from(interval.as_millis())
            .map_err(|_| TimingError::IntervalOutOfRange { interval })?;
        // NaN fails both comparisons.
        if !(gap > 0.0 && gap < 0.5) {
            return Err(TimingError::GapOutOfRange { gap });
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 < gap < 0.5, so the product lies between 0 and 500,001"
        )]
        let gap_parts = (gap * f64::from(PARTS) + 0.5) as u32;
        if gap_parts == 0 || gap_parts >= PARTS / 2 {
            return Err(TimingError::GapOutOfRange { gap });
        }
        Ok(Self { interval_millis, gap_parts })
    }

    /// The interval length `T`.
    pub const fn interval(self) -> Duration {
        Duration::from_millis(self.interval_millis as u64)
    }

    /// The gap `g`, a fraction of the interval.
    pub fn gap(self) -> f64 {
        f64::from(self.gap_parts) / f64::from(PARTS)
    }

    /// The gap as a length of time, `g · T`.
    pub const fn gap_length(self) -> Duration {
        Duration::from_nanos(self.gap_nanos())
    }

    /// The number of the interval that `at` lies in: `floor(at / T)`.
    pub const fn interval_at(self, at: ServerTime) -> u64 {
        at.as_micros() / self.interval_micros()
    }

    /// When within an interval the worker with this index registers:
    /// `(g + (index + 0.5) / m · (1 - 2g)) · T` with `m = max(replicas, index + 1)`.
    pub fn slot(self, index: u32, replicas: u32) -> Duration {
        Duration::from_nanos(self.slot_nanos(index, replicas))
    }

    pub(crate) const fn interval_micros(self) -> u64 {
        self.interval_millis as u64 * 1_000
    }

    pub(crate) const fn interval_nanos(self) -> u64 {
        self.interval_millis as u64 * NANOS_PER_MILLI
    }

    pub(crate) const fn gap_nanos(self) -> u64 {
        // A whole number of milliseconds times millionths is whole nanoseconds.
        self.interval_millis as u64 * self.gap_parts as u64
    }

    /// How far a worker's clock may drift from the server's within this span, at most some
    /// intervals: more than `g / 4` of it is taken for a step (rule 9).
    pub(crate) const fn drift_nanos(self, span: u64) -> u64 {
        // A span below 2^53 ns (104 days) times millionths below 2^19 would not fit.
        (span / 4 / PARTS as u64) * self.gap_parts as u64
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the quotient is below the span, which is below one interval"
    )]
    pub(crate) fn slot_nanos(self, index: u32, replicas: u32) -> u64 {
        let gap = self.gap_nanos();
        let span = self.interval_nanos() - 2 * gap;
        let index = u64::from(index);
        let members = u64::from(replicas).max(index + 1);
        let offset = u128::from(span) * u128::from(2 * index + 1) / u128::from(2 * members);
        gap + offset as u64
    }

    /// From `at` to the start of the interval after the one that `at` lies in,
    /// in nanoseconds: more than 0, at most `T`.
    pub(crate) const fn nanos_to_next(self, at: ServerTime) -> u64 {
        let length = self.interval_micros();
        (length - at.as_micros() % length) * NANOS_PER_MICRO
    }
}

/// Why an interval or a gap was refused. Nothing was created.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum TimingError {
    /// The interval is zero or longer than [`Timing::MAX_INTERVAL`].
    IntervalOutOfRange {
        /// The interval that was asked for.
        interval: Duration,
    },
    /// The interval is not a whole number of milliseconds.
    IntervalNotWholeMillis {
        /// The interval that was asked for.
        interval: Duration,
    },
    /// The gap is not a number between 0 and 0.5, both excluded.
    GapOutOfRange {
        /// The gap that was asked for.
        gap: f64,
    },
}

impl fmt::Display for TimingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IntervalOutOfRange { interval } => write!(
                f,
                "interval is {interval:?}, must be from 1ms to {:?}",
                Timing::MAX_INTERVAL
            ),
            Self::IntervalNotWholeMillis { interval } => {
                write!(f, "interval is {interval:?}, must be a whole number of milliseconds")
            }
            Self::GapOutOfRange { gap } => {
                write!(f, "gap is {gap}, must be greater than 0 and less than 0.5 (such as 0.15)")
            }
        }
    }
}

impl Error for TimingError {}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn slots_spread_over_the_middle_in_index_order() {
        let timing = Timing::new(Duration::from_secs(10), 0.1).unwrap();
        assert_eq!(timing.slot(0, 1), Duration::from_secs(5));
        assert_eq!(timing.slot(0, 4), Duration::from_secs(2));
        assert_eq!(timing.slot(3, 4), Duration::from_secs(8));
        // An index beyond the last known count widens the spread.
        assert_eq!(timing.slot(3, 2), timing.slot(3, 4));
        assert!(timing.slot(u32::MAX, u32::MAX) < Duration::from_secs(9));
    }

    #[test]
    fn bad_values_are_named() {
        let second = Duration::from_secs(1);
        for gap in [0.0, 0.5, -0.1, 1e-9, 0.499_999_9, f64::NAN, f64::INFINITY] {
            let error = Timing::new(second, gap).unwrap_err();
            assert!(matches!(error, TimingError::GapOutOfRange { .. }), "{gap}");
            assert!(error.to_string().contains(&gap.to_string()), "{error}");
        }
        for interval in [Duration::ZERO, Timing::MAX_INTERVAL + Duration::from_millis(1)] {
            let error = Timing::new(interval, 0.15).unwrap_err();
            assert_eq!(error, TimingError::IntervalOutOfRange { interval });
        }
        let interval = Duration::from_micros(1_500);
        let error = Timing::new(interval, 0.15).unwrap_err();
        assert_eq!(error, TimingError::IntervalNotWholeMillis { interval });
        assert_eq!(error.to_string(), "interval is 1.5ms, must be a whole number of milliseconds");
    }

    #[test]
    fn the_gap_is_kept_exactly_to_a_millionth() {
        let timing = Timing::new(Duration::from_secs(30), 0.15).unwrap();
        assert_eq!(timing.gap_length(), Duration::from_millis(4_500));
        assert!((timing.gap() - 0.15).abs() < f64::EPSILON);
        let at = ServerTime::from_micros(59_999_999);
        assert_eq!(timing.interval_at(at), 1);
        assert_eq!(timing.nanos_to_next(at), 1_000);
    }
}
