//! What one run simulates.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use n_and_i::{Layout, Mapping, Timing, TimingError};
use n_and_i_sim::{Plan, PlanError, Rebalancing, Scenario};

use crate::simulate::show::WORKERS;
use crate::simulate::{Faulty, Show};

/// Simulated time is summed over the workers in nanoseconds; this much leaves room for what is
/// added to it. 100 years.
const LONGEST: Duration = Duration::from_secs(36_525 * 24 * 60 * 60);
/// How many intervals a worker that a fault brings stays at most: a storm.
const STAY: f64 = 24.0;
/// The greatest difference in speed between a clock and the true time.
const CLOCK_RATE: f64 = 0.01;
/// How many intervals a group has to settle before its membership changes by plan: a time of
/// peace.
const SETTLING: f64 = 14.0;
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
    pub(crate) const ALL: [Self; 4] = [
        Self::Storms,
        Self::Planned(Plan::RollingRestart),
        Self::Planned(Plan::JoinAndLeave),
        Self::Planned(Plan::JoinAndCrash),
    ];

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
    pub(crate) layout: Layout,
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
    /// Workers that know only the counters, in another layout.
    ForeignInLayout { foreign: u32, layout: Layout },
    /// A distance between planned changes where nothing is planned.
    EveryWithoutPlan(f64),
    /// The distance between planned changes is out of range.
    Every(PlanError),
    /// The run ends before the first planned change.
    TooShort { intervals: u64, every: f64 },
    /// The run ends before the second of two planned changes.
    NoCrash { intervals: u64, every: f64 },
    /// More workers than can be drawn.
    Crowd(usize),
    /// What is to be drawn is not in the run.
    Beyond { show: Show, intervals: u64 },
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
            Self::ForeignInLayout { foreign, layout } => write!(
                f,
                "foreign is {foreign}, but workers that know only the counters cannot take part \
                 with --layout {layout}: must be 0, or come with --layout {}",
                Layout::Counters
            ),
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
            Self::NoCrash { intervals, every } => write!(
                f,
                "intervals is {intervals}, must be more than {}: one worker joins after {every}, \
                 and one crashes {every} later",
                2.0 * every + 1.0
            ),
            Self::Crowd(workers) => {
                write!(f, "workers is {workers}, must be at most {WORKERS} with --svg")
            }
            Self::Beyond { show, intervals } => {
                write!(f, "show is {show}, must end by {intervals}, where the run ends")
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
        let Self { workers, intervals, interval, layout, .. } = *self;
        if faults.foreign > 0 && layout != Layout::Counters {
            return Err(SettingsError::ForeignInLayout { foreign: faults.foreign, layout });
        }
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
        let scenario = scenario.with_layout(layout);
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
                let least = f64::from(u32::try_from(intervals).unwrap_or(u32::MAX));
                match plan {
                    Plan::JoinAndCrash if least <= 2.0 * every + 1.0 => {
                        Err(SettingsError::NoCrash { intervals, every })
                    }
                    Plan::JoinAndCrash => Ok(scenario),
                    _ if least <= SETTLING + every => {
                        Err(SettingsError::TooShort { intervals, every })
                    }
                    _ => Ok(scenario),
                }
            }
            (_, None) => Ok(scenario),
        }
    }

    /// How many intervals lie between two planned changes; none if nothing is planned, unless
    /// it was said nevertheless.
    pub(crate) fn every(&self) -> Option<f64> {
        let usual = match self.course {
            Course::Storms => None,
            // After one third and after two.
            Course::Planned(Plan::JoinAndCrash) => {
                u32::try_from(self.intervals / 3).ok().map(f64::from)
            }
            Course::Planned(_) => Some(EVERY),
        };
        self.every.or(usual)
    }

    /// After how many intervals shares that had an owner count, if membership changes by plan.
    pub(crate) fn settling(&self) -> f64 {
        match (self.course, self.every()) {
            (Course::Planned(Plan::JoinAndCrash), Some(every)) => every.ceil(),
            _ => SETTLING,
        }
    }

    /// What is drawn of the run.
    pub(crate) fn shown(&self, show: Option<Show>) -> Result<Show, SettingsError> {
        let intervals = self.intervals;
        if self.workers > WORKERS {
            return Err(SettingsError::Crowd(self.workers));
        }
        match show {
            None => Ok(Show::usual(intervals)),
            Some(show) if show.intervals().end <= intervals => Ok(show),
            Some(show) => Err(SettingsError::Beyond { show, intervals }),
        }
    }

    /// The kinds of change that are planned.
    pub(crate) fn changes(&self) -> &'static [&'static str] {
        match self.course {
            Course::Planned(Plan::RollingRestart) => &["restart"],
            Course::Planned(Plan::JoinAndLeave) => &["join", "leave"],
            Course::Planned(Plan::JoinAndCrash) => &["join", "crash"],
            Course::Storms | Course::Planned(_) => &[],
        }
    }

    /// The options besides the usual ones that are not as usual, without their dashes.
    pub(crate) fn options(&self) -> Vec<String> {
        let Self { layout, rebalancing, mapping, course, .. } = *self;
        let mut options = self.faults.options();
        options.extend(
            [
                (layout != Layout::default()).then(|| format!("layout {layout}")),
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
mod tests;
