//! What one run simulates.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use n_and_i::{Mapping, Timing, TimingError};
use n_and_i_sim::{Plan, PlanError, Rebalancing, Scenario};

use crate::simulate::Faulty;

/// Simulated time is summed over the workers in nanoseconds; this much leaves room for what is
/// added to it. 100 years.
const LONGEST: Duration = Duration::from_secs(36_525 * 24 * 60 * 60);
/// How many intervals a worker that a fault brings stays at most: a storm.
const STAY: f64 = 24.0;
/// The greatest difference in speed between a clock and the true time.
const CLOCK_RATE: f64 = 0.01;
/// How many intervals a group has to settle before its membership changes by plan: a time of
/// peace.
pub(super) const SETTLING: f64 = 14.0;
/// How many intervals lie between two planned changes unless it is said.
const EVERY: f64 = 4.0;

/// What happens to the group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Course {
    /// Storms, in which the faults happen, and peace take turns.
    Storms,
    /// Membership changes by plan, and the faults happen all the time.
    Planned(Plan),
}

impl Course {
    /// Every course.
    pub(crate) const ALL: [Self; 3] =
        [Self::Storms, Self::Planned(Plan::RollingRestart), Self::Planned(Plan::JoinAndLeave)];

    /// Its name as an argument.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Storms => "storms",
            Self::Planned(plan) => plan.as_str(),
        }
    }
}

/// What one run simulates, as it was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) workers: usize,
    pub(crate) intervals: u64,
    pub(crate) interval: Duration,
    pub(crate) gap: f64,
    pub(crate) delay: Duration,
    pub(crate) faults: Faulty,
    pub(crate) rebalancing: Rebalancing,
    pub(crate) mapping: Mapping,
    pub(crate) course: Course,
    /// How many intervals lie between two planned changes, if it was said.
    pub(crate) every: Option<f64>,
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
    /// A distance between planned changes where nothing is planned.
    EveryWithoutPlan(f64),
    /// The distance between planned changes is out of range.
    Every(PlanError),
    /// The run ends before the first planned change.
    TooShort { intervals: u64, every: f64 },
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
            Self::EveryWithoutPlan(every) => {
                let planned = Course::ALL.iter().filter(|course| **course != Course::Storms);
                let planned: Vec<_> = planned.map(|course| course.name()).collect();
                write!(
                    f,
                    "every is {every}, but with storms nothing is planned: must come with \
                     --scenario {}",
                    planned.join(" or ")
                )
            }
            Self::Every(error) => error.fmt(f),
            Self::TooShort { intervals, every } => write!(
                f,
                "intervals is {intervals}, must be more than {}: the group settles for {SETTLING}, \
                 and the first change comes {every} later",
                SETTLING + every
            ),
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
        let scenario = self.planned(scenario)?;
        let planned = f64::from(u8::from(self.course != Course::Storms));
        let kinds = faults.kinds().filter(|kind| !kind.is_of_messages());
        let joining: f64 = kinds.map(|kind| faults.rate(kind) * STAY).sum();
        let most = LONGEST.div_f64(1.0 + (joining + planned) / group);
        if interval.as_secs_f64() * to_f64(intervals) * group > most.as_secs_f64() {
            return Err(SettingsError::Length { workers, intervals, interval, most });
        }
        let scenario = scenario.with_delay(self.delay).with_intervals(intervals);
        let scenario = scenario.with_rebalance(self.rebalancing).with_mapping(self.mapping);
        // What does not settle is measured, not a reason to stop.
        Ok(scenario.allow_unsettled())
    }

    /// With the changes of membership that are planned, if any.
    fn planned(&self, scenario: Scenario) -> Result<Scenario, SettingsError> {
        match (self.course, self.every()) {
            (Course::Storms, Some(every)) => Err(SettingsError::EveryWithoutPlan(every)),
            (Course::Planned(plan), Some(every)) => {
                let scenario = scenario.with_plan(plan, every).map_err(SettingsError::Every)?;
                let intervals = self.intervals;
                if f64::from(u32::try_from(intervals).unwrap_or(u32::MAX)) <= SETTLING + every {
                    return Err(SettingsError::TooShort { intervals, every });
                }
                Ok(scenario)
            }
            (_, None) => Ok(scenario),
        }
    }

    /// How many intervals lie between two planned changes; none if nothing is planned, unless
    /// it was said nevertheless.
    pub(crate) fn every(&self) -> Option<f64> {
        self.every.or((self.course != Course::Storms).then_some(EVERY))
    }

    /// The kinds of change that are planned.
    pub(crate) fn changes(&self) -> &'static [&'static str] {
        match self.course {
            Course::Planned(Plan::RollingRestart) => &["restart"],
            Course::Planned(Plan::JoinAndLeave) => &["join", "leave"],
            Course::Storms | Course::Planned(_) => &[],
        }
    }

    /// The options besides the usual ones that are not as usual, without their dashes.
    pub(crate) fn options(&self) -> Vec<String> {
        let Self { rebalancing, mapping, course, .. } = *self;
        let mut options = self.faults.options();
        options.extend(
            [
                (rebalancing != Rebalancing::default()).then(|| format!("rebalance {rebalancing}")),
                (mapping != Mapping::Modulo).then(|| format!("mapping {mapping}")),
                (course != Course::Storms).then(|| format!("scenario {}", course.name())),
                self.every().map(|every| format!("every {every}")),
            ]
            .into_iter()
            .flatten(),
        );
        options
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
        for option in self.options() {
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
            rebalancing: Rebalancing::default(),
            mapping: Mapping::Modulo,
            course: Course::Storms,
            every: None,
            seed: 1,
        }
    }

    fn planned(plan: Plan, every: Option<f64>) -> Settings {
        let course = Course::Planned(plan);
        Settings { workers: 10, course, every, ..settings("none".parse().unwrap()) }
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
    fn planned_changes_need_a_plan_and_time() {
        let error = |settings: &Settings| settings.scenario().unwrap_err().to_string();
        for plan in Plan::ALL {
            assert_eq!(planned(plan, None).scenario().unwrap().plan(), Some((plan, 4.0)));
            assert_eq!(planned(plan, Some(0.5)).scenario().unwrap().plan(), Some((plan, 0.5)));
            for wrong in [0.0, -1.0, 0.09, 1e7, f64::NAN, f64::INFINITY] {
                let expected = format!("every is {wrong}, must be from 0.1 to 1000000 (intervals)");
                assert_eq!(error(&planned(plan, Some(wrong))), expected);
            }
            let short = |intervals, every| Settings { intervals, ..planned(plan, every) };
            assert!(short(19, None).scenario().is_ok());
            let expected = "intervals is 18, must be more than 18: the group settles for 14, and \
                            the first change comes 4 later";
            assert_eq!(error(&short(18, None)), expected);
            assert!(
                error(&short(10, Some(20.5)))
                    .starts_with("intervals is 10, must be more than 34.5")
            );
        }
        let storms = Settings { every: Some(4.0), ..settings("none".parse().unwrap()) };
        let expected = "every is 4, but with storms nothing is planned: must come with \
                        --scenario rolling-restart or join-and-leave";
        assert_eq!(error(&storms), expected);
    }

    #[test]
    fn what_was_asked_for_reaches_the_scenario() {
        let settings = Settings {
            rebalancing: Rebalancing::Mixed,
            mapping: Mapping::Jump,
            ..planned(Plan::JoinAndLeave, Some(2.5))
        };
        let scenario = settings.scenario().unwrap();
        assert_eq!(scenario.rebalancing(), Rebalancing::Mixed);
        assert_eq!(scenario.mapping(), Mapping::Jump);
        assert_eq!(scenario.plan(), Some((Plan::JoinAndLeave, 2.5)));
    }

    #[test]
    fn the_command_names_what_is_not_as_usual() {
        let usual = settings("all,crash=0.1".parse().unwrap()).to_string();
        assert!(usual.ends_with(" --delay 0s --faults all,crash=0.1 --seed 1"), "{usual}");
        let faulty = Faulty::in_group("crash".parse().unwrap(), Some(0.002), true, 2);
        let command = settings(faulty).to_string();
        let options = " --faults crash --clock-rate 0.002 --mixed-gaps --foreign 2 --seed 1";
        assert!(command.ends_with(options), "{command}");
        let planned = Settings {
            rebalancing: Rebalancing::Mixed,
            mapping: Mapping::Jump,
            ..planned(Plan::RollingRestart, None)
        };
        let options = " --faults none --rebalance mixed --mapping jump --scenario rolling-restart \
                       --every 4 --seed 1";
        assert!(planned.to_string().ends_with(options), "{planned}");
    }
}
