//! What one run simulates.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use n_and_i::{Timing, TimingError};
use n_and_i_sim::Scenario;

use crate::simulate::Faulty;

/// Simulated time is summed over the workers in nanoseconds; this much leaves room for what is
/// added to it. 100 years.
const LONGEST: Duration = Duration::from_secs(36_525 * 24 * 60 * 60);
/// How many intervals a worker that a fault brings stays at most: a storm.
const STAY: f64 = 24.0;
/// The greatest difference in speed between a clock and the true time.
const CLOCK_RATE: f64 = 0.01;

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
    /// Clocks are to differ by too much, or by no number.
    ClockRate(f64),
    /// The time of all workers and those who join may amount to more than can be counted.
    Length { workers: usize, intervals: u64, interval: Duration, most: Duration },
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timing(error) => error.fmt(f),
            Self::Delay(delay) => {
                write!(f, "delay is {delay:?}, must be at most {:?}", Timing::MAX_INTERVAL)
            }
            Self::ClockRate(rate) => {
                write!(f, "clock-rate is {rate}, must be from 0 to {CLOCK_RATE} (one per cent)")
            }
            Self::Length { workers, intervals, interval, most } => write!(
                f,
                "workers times intervals times interval is {workers} * {intervals} * {interval:?}, \
                 must be at most {} days with these faults",
                most.as_secs() / (24 * 60 * 60)
            ),
        }
    }
}

impl Error for SettingsError {}

impl Settings {
    pub(crate) fn scenario(&self) -> Result<Scenario, SettingsError> {
        let faults = self.faults.faults();
        let scenario = Scenario::new(self.workers, faults.clone());
        let scenario = scenario.with_timing(self.interval, self.gap);
        let scenario = scenario.map_err(SettingsError::Timing)?;
        if self.delay > Timing::MAX_INTERVAL {
            return Err(SettingsError::Delay(self.delay));
        }
        if !(0.0..=CLOCK_RATE).contains(&faults.clock_rate) {
            return Err(SettingsError::ClockRate(faults.clock_rate));
        }
        let Self { workers, intervals, interval, .. } = *self;
        let to_f64 = |count: u64| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let group = to_f64(workers.try_into().unwrap_or(u64::MAX));
        let kinds = faults.kinds().filter(|kind| !kind.is_of_messages());
        let joining: f64 = kinds.map(|kind| faults.rate(kind) * STAY).sum();
        let most = LONGEST.div_f64(1.0 + joining / group);
        if interval.as_secs_f64() * to_f64(intervals) * group > most.as_secs_f64() {
            return Err(SettingsError::Length { workers, intervals, interval, most });
        }
        // What does not settle is measured, not a reason to stop.
        Ok(scenario.with_delay(self.delay).with_intervals(intervals).allow_unsettled())
    }
}

/// The command that simulates the same.
impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "n-and-i simulate --workers {} --intervals {} --interval {} --gap {} --delay {} \
             --faults {}",
            self.workers,
            self.intervals,
            duration(self.interval),
            self.gap,
            duration(self.delay),
            self.faults,
        )?;
        for option in self.faults.options() {
            write!(f, " --{option}")?;
        }
        write!(f, " --seed {}", self.seed)
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

    fn settings(faults: Faulty) -> Settings {
        Settings {
            workers: 10_000,
            intervals: 1000,
            interval: Duration::from_secs(5),
            gap: 0.15,
            delay: Duration::ZERO,
            faults,
            seed: 1,
        }
    }

    #[test]
    fn what_can_be_counted_can_be_simulated() {
        let settings = settings("all".parse().unwrap());
        assert!(settings.scenario().is_ok());
        let too_long = Settings { interval: Duration::from_secs(3600), ..settings.clone() };
        let error = too_long.scenario().unwrap_err().to_string();
        assert!(error.contains("10000 * 1000 * 3600s, must be at most 36"), "{error}");
        let days = Duration::from_secs(50 * 24 * 60 * 60);
        let too_slow = Settings { delay: days, ..settings.clone() };
        assert!(matches!(too_slow.scenario(), Err(SettingsError::Delay(delay)) if delay == days));
        let too_wide = Settings { gap: 0.5, ..settings };
        assert!(matches!(too_wide.scenario(), Err(SettingsError::Timing(_))));
    }

    #[test]
    fn those_who_join_are_counted_too() {
        let month = Duration::from_secs(30 * 24 * 60 * 60);
        let alone = Settings {
            workers: 1,
            interval: month,
            intervals: 12 * 100,
            ..settings("lost-reply".parse().unwrap())
        };
        assert!(alone.scenario().is_ok());
        let crowded = Settings { faults: "join=100".parse().unwrap(), ..alone };
        let error = crowded.scenario().unwrap_err().to_string();
        let expected = "is 1 * 1200 * 2592000s, must be at most 15 days with these faults";
        assert!(error.contains(expected), "{error}");
        let days = Duration::from_secs(36 * 60 * 60);
        assert!(Settings { intervals: 10, interval: days, ..crowded }.scenario().is_ok());
    }

    #[test]
    fn clocks_may_differ_by_one_per_cent() {
        let at = |rate| {
            settings(Faulty::in_group("none".parse().unwrap(), Some(rate), false, 0)).scenario()
        };
        for good in [0.0, 0.001, 0.01] {
            assert!(at(good).is_ok(), "{good}");
        }
        for wrong in [-0.001, 0.011, f64::NAN, f64::INFINITY] {
            let error = at(wrong).unwrap_err().to_string();
            let expected = format!("clock-rate is {wrong}, must be from 0 to 0.01 (one per cent)");
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn the_command_names_what_is_not_as_usual() {
        let usual = settings("all,crash=0.1".parse().unwrap()).to_string();
        assert!(usual.ends_with(" --delay 0s --faults all,crash=0.1 --seed 1"), "{usual}");
        let faulty = Faulty::in_group("crash".parse().unwrap(), Some(0.002), true, 2);
        let command = settings(faulty).to_string();
        let options = " --faults crash --clock-rate 0.002 --mixed-gaps --foreign 2 --seed 1";
        assert!(command.ends_with(options), "{command}");
    }
}
