//! What one run simulates.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use n_and_i::{Timing, TimingError};
use n_and_i_sim::Scenario;

use crate::simulate::Faulty;

/// Simulated time is summed over the workers in nanoseconds; this much leaves room for those who
/// join and for what is added to it.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// What one run simulates, as it was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) workers: usize,
    pub(crate) intervals: u64,
    pub(crate) interval: Duration,
    pub(crate) gap: f64,
    pub(crate) delay: Duration,
    pub(crate) faults: Faulty,
    pub(crate) seed: u64,
}

/// Why the settings cannot be simulated.
#[derive(Debug)]
pub(crate) enum SettingsError {
    /// The interval or the gap is out of range.
    Timing(TimingError),
    /// The delay is too long to be added to the time.
    Delay(Duration),
    /// The time of all workers amounts to more than can be counted.
    Length { workers: usize, intervals: u64, interval: Duration },
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timing(error) => error.fmt(f),
            Self::Delay(delay) => {
                write!(f, "delay is {delay:?}, must be at most {:?}", Timing::MAX_INTERVAL)
            }
            Self::Length { workers, intervals, interval } => write!(
                f,
                "workers times intervals times interval is {workers} * {intervals} * {interval:?}, \
                 must be at most 100 years"
            ),
        }
    }
}

impl Error for SettingsError {}

impl Settings {
    pub(crate) fn scenario(&self) -> Result<Scenario, SettingsError> {
        let scenario = Scenario::new(self.workers, self.faults.faults().clone());
        let scenario = scenario.with_timing(self.interval, self.gap);
        let scenario = scenario.map_err(SettingsError::Timing)?;
        if self.delay > Timing::MAX_INTERVAL {
            return Err(SettingsError::Delay(self.delay));
        }
        let Self { workers, intervals, interval, .. } = *self;
        let workers_128 = u128::try_from(workers).unwrap_or(u128::MAX);
        let length = interval.as_nanos() * u128::from(intervals) * workers_128;
        if length > LONGEST.as_nanos() {
            return Err(SettingsError::Length { workers, intervals, interval });
        }
        Ok(scenario.with_delay(self.delay).with_intervals(self.intervals))
    }
}

/// The command that simulates the same.
impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "n-and-i simulate --workers {} --intervals {} --interval {} --gap {} --delay {} \
             --faults {} --seed {}",
            self.workers,
            self.intervals,
            duration(self.interval),
            self.gap,
            duration(self.delay),
            self.faults,
            self.seed
        )
    }
}

/// A duration in one word that can be read back.
pub(super) fn duration(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    for (unit, length) in [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)] {
        if nanos.is_multiple_of(length) {
            return format!("{}{unit}", nanos / length);
        }
    }
    format!("{nanos}ns")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_back() {
        for (text, expected) in [
            ("0s", "0s"),
            ("5s", "5s"),
            ("1m 30s", "90s"),
            ("1s 500ms", "1500ms"),
            ("500us", "500us"),
            ("1500ns", "1500ns"),
        ] {
            let length = humantime::parse_duration(text).unwrap();
            assert_eq!(duration(length), expected);
            assert_eq!(humantime::parse_duration(expected).unwrap(), length);
        }
    }

    #[test]
    fn what_can_be_counted_can_be_simulated() {
        let settings = Settings {
            workers: 10_000,
            intervals: 1000,
            interval: Duration::from_secs(5),
            gap: 0.15,
            delay: Duration::ZERO,
            faults: "all".parse().unwrap(),
            seed: 1,
        };
        assert!(settings.scenario().is_ok());
        let too_long = Settings { interval: Duration::from_secs(3600), ..settings.clone() };
        assert!(matches!(too_long.scenario(), Err(SettingsError::Length { .. })));
        let days = Duration::from_secs(50 * 24 * 60 * 60);
        let too_slow = Settings { delay: days, ..settings.clone() };
        assert!(matches!(too_slow.scenario(), Err(SettingsError::Delay(delay)) if delay == days));
        let too_wide = Settings { gap: 0.5, ..settings };
        assert!(matches!(too_wide.scenario(), Err(SettingsError::Timing(_))));
    }
}
