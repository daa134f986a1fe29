//! A run: what is simulated, and what came out of it.

use std::ops::Range;
use std::time::Duration;

use n_and_i::Layout;
use n_and_i_core::{Mapping, Reason, Timing, TimingError};

use crate::claims::Violation;
use crate::faults::{Fault, Faults};
use crate::plan::{Plan, PlanError, Rebalancing, Schedule};
use crate::process::Machines;
use crate::timeline::Timeline;
use crate::world::World;

/// A group, its faults and how long it is simulated.
///
/// A run alternates between storms, in which the faults happen, and peace, at the end of
/// which the group must own everything; or its membership changes [by plan](Scenario::with_plan).
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) workers: usize,
    pub(crate) faults: Faults,
    pub(crate) timing: Timing,
    pub(crate) intervals: u64,
    pub(crate) storm: u64,
    pub(crate) peace: u64,
    pub(crate) delay: Duration,
    pub(crate) layout: Layout,
    pub(crate) rebalancing: Rebalancing,
    pub(crate) mapping: Mapping,
    pub(crate) schedule: Option<Schedule>,
    pub(crate) may_stay_unsettled: bool,
    pub(crate) timeline: Option<Range<u64>>,
}

impl Scenario {
    /// A group of this many workers at an interval of 5 s and a gap of 0.15, for 1000
    /// intervals; one way to the server takes 0.5 ms on average.
    ///
    /// # Panics
    /// Never: the interval and the gap are good ones.
    pub fn new(workers: usize, faults: Faults) -> Self {
        let timing = Timing::new(Duration::from_secs(5), Timing::DEFAULT_GAP);
        Self {
            workers,
            faults,
            timing: timing.expect("a good interval and gap"),
            intervals: 1000,
            storm: 24,
            peace: 14,
            delay: Duration::from_micros(500),
            layout: Layout::default(),
            rebalancing: Rebalancing::default(),
            mapping: Mapping::Modulo,
            schedule: None,
            may_stay_unsettled: false,
            timeline: None,
        }
    }

    /// With this interval and gap.
    ///
    /// # Errors
    /// If either is out of range.
    pub fn with_timing(mut self, interval: Duration, gap: f64) -> Result<Self, TimingError> {
        self.timing = Timing::new(interval, gap)?;
        Ok(self)
    }

    /// For this many intervals.
    #[must_use]
    pub fn with_intervals(mut self, intervals: u64) -> Self {
        self.intervals = intervals;
        self
    }

    /// With storms and times of peace of this many intervals each.
    #[must_use]
    pub fn with_weather(mut self, storm: u64, peace: u64) -> Self {
        (self.storm, self.peace) = (storm, peace);
        self
    }

    /// With this mean delay of a message, one way.
    #[must_use]
    pub fn with_delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// With a group that is kept in this layout, [`Layout::Counters`] unless it is set. Workers that know only
    /// the counters do not take part in any other.
    #[must_use]
    pub fn with_layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// With workers that do this while membership changes; they stand down unless this is set.
    #[must_use]
    pub fn with_rebalance(mut self, rebalancing: impl Into<Rebalancing>) -> Self {
        self.rebalancing = rebalancing.into();
        self
    }

    /// With shares measured under this mapping of keys, [`Mapping::Modulo`] unless it is set.
    /// The promise is checked under both.
    #[must_use]
    pub fn with_mapping(mut self, mapping: Mapping) -> Self {
        self.mapping = mapping;
        self
    }

    /// With membership that changes by plan once in so many intervals, each time at a random
    /// moment of an interval, instead of storms.
    ///
    /// The group settles for the length of a time of peace, or as long as the [`Plan`] says, and
    /// must then own everything. From there to the end of the run the plan goes on, and the faults
    /// happen all the time, if there are any.
    ///
    /// ```
    /// use n_and_i_core::{Mapping, Rebalance};
    /// use n_and_i_sim::{Faults, Plan, Scenario};
    ///
    /// let scenario = Scenario::new(10, Faults::none()).with_plan(Plan::RollingRestart, 4.0)?;
    /// let served = |rebalance| {
    ///     let scenario = scenario.clone().with_rebalance(rebalance).with_mapping(Mapping::Jump);
    ///     scenario.run(1).served_mean
    /// };
    /// assert!(served(Rebalance::StandDown) < 0.75 && served(Rebalance::KeepServing) > 0.75);
    /// # Ok::<(), n_and_i_sim::PlanError>(())
    /// ```
    ///
    /// # Errors
    /// If `every` is not from 0.1 to 1,000,000.
    pub fn with_plan(mut self, plan: Plan, every: f64) -> Result<Self, PlanError> {
        self.schedule = Some(Schedule::new(plan, every)?);
        Ok(self)
    }

    /// With a run that goes on if the group did not own everything at the end of a peace, which
    /// is then counted in [`Outcome::unsettled`]: for settings that may not suit each other, as
    /// delays longer than the gap.
    #[must_use]
    pub fn allow_unsettled(mut self) -> Self {
        self.may_stay_unsettled = true;
        self
    }

    /// With a [`Timeline`] of these intervals, counted from 0, in the outcome. What happens is the
    /// same, and nothing is kept of the rest of the run. A [rehearsal](Self::rehearse) has none.
    ///
    /// ```
    /// use n_and_i_core::Reason;
    /// use n_and_i_sim::{Faults, Scenario, State};
    ///
    /// let outcome = Scenario::new(3, Faults::none()).with_intervals(10).with_timeline(0..10).run(1);
    /// let timeline = outcome.timeline.expect("it was asked for");
    /// let of_one: Vec<_> = timeline.spans.iter().filter(|span| span.worker == 1).collect();
    /// assert_eq!(of_one[0].state, State::Idle(Reason::Starting));
    /// // To the end of the 10th interval of 5 s, in nanoseconds.
    /// assert_eq!(of_one.last().map(|span| span.until), Some(50_000_000_000));
    /// assert_eq!(timeline.served.last().map(|(_, share)| *share), Some(1.0));
    /// ```
    #[must_use]
    pub fn with_timeline(mut self, intervals: Range<u64>) -> Self {
        self.timeline = Some(intervals);
        self
    }

    /// How many workers there are.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// What goes wrong.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// The interval and the gap.
    pub fn timing(&self) -> Timing {
        self.timing
    }

    /// How many intervals are simulated.
    pub fn intervals(&self) -> u64 {
        self.intervals
    }

    /// The mean delay of a message, one way.
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// How the group is kept in the registry.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// What the workers do while membership changes.
    pub fn rebalancing(&self) -> Rebalancing {
        self.rebalancing
    }

    /// The mapping of keys under which shares are measured.
    pub fn mapping(&self) -> Mapping {
        self.mapping
    }

    /// How membership changes, if by plan, and once in how many intervals.
    pub fn plan(&self) -> Option<(Plan, f64)> {
        self.schedule.map(|schedule| (schedule.plan, schedule.every))
    }

    /// Runs it. The same seed gives the same outcome.
    pub fn run(&self, seed: u64) -> Outcome {
        World::new(Machines, self, seed, false).run()
    }

    /// Runs it and keeps a readable trace of what happened, up to the first violation.
    pub fn trace(&self, seed: u64) -> Outcome {
        World::new(Machines, self, seed, true).run()
    }
}

/// What came out of a run.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The seed of the run.
    pub seed: u64,
    /// The first violation of the promise, at which the run ended.
    pub violation: Option<Violation>,
    /// How long the run was, in intervals: as long as asked for unless a violation ended it.
    pub intervals: f64,
    /// How many times of peace came to their end, the first settling included.
    pub peaces: u64,
    /// At the end of how many of them the group did not own everything: see
    /// [`Scenario::allow_unsettled`].
    pub unsettled: u64,
    /// How many intervals were simulated, summed over the live workers.
    pub worker_intervals: u64,
    /// How many registrations were counted.
    pub registrations: u64,
    /// How often each kind of fault happened.
    pub faults: Vec<(Fault, u64)>,
    /// The share of the key space that had an owner, on average, once the group had settled:
    /// from five intervals on, or from where the plan begins.
    pub served_mean: f64,
    /// The least share that had an owner in any one interval of that time.
    pub served_min: f64,
    /// How often membership changed by plan.
    pub changes: u64,
    /// What a planned restart cost from then to the next, on average, in intervals of the whole
    /// group: the integral of the share that had no owner. None unless there were such.
    pub lost_per_restart: Option<f64>,
    /// The same for a worker that joined by plan.
    pub lost_per_join: Option<f64>,
    /// The same for a worker that left by plan.
    pub lost_per_leave: Option<f64>,
    /// The same for a worker that crashed by plan. Of [`Plan::JoinAndCrash`] it is what was lost to
    /// the end of the run.
    pub lost_per_crash: Option<f64>,
    /// How long a worker waited for its first lease, in intervals, on average.
    pub first_lease: Option<f64>,
    /// Worker-intervals spent owning nothing, by reason.
    pub idle: Vec<(Reason, f64)>,
    /// What happened, line by line, if asked for.
    pub trace: String,
    /// What happened over time, if asked for: see [`Scenario::with_timeline`].
    pub timeline: Option<Timeline>,
}
