//! A run: what is simulated, and what came out of it.

use std::time::Duration;

use n_and_i_core::{Reason, Timing, TimingError};

use crate::claims::Violation;
use crate::faults::{Fault, Faults};
use crate::process::Machines;
use crate::world::World;

/// A group, its faults and how long it is simulated.
///
/// A run alternates between storms, in which the faults happen, and peace, at the end of
/// which the group must own everything.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) workers: usize,
    pub(crate) faults: Faults,
    pub(crate) timing: Timing,
    pub(crate) intervals: u64,
    pub(crate) storm: u64,
    pub(crate) peace: u64,
    pub(crate) delay: Duration,
    pub(crate) may_stay_unsettled: bool,
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
            may_stay_unsettled: false,
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

    /// With a run that goes on if the group did not own everything at the end of a peace, which
    /// is then counted in [`Outcome::unsettled`]: for settings that may not suit each other, as
    /// delays longer than the gap.
    #[must_use]
    pub fn allow_unsettled(mut self) -> Self {
        self.may_stay_unsettled = true;
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
    /// The share of the key space that had an owner, on average, once the group had settled.
    pub served_mean: f64,
    /// The least share that had an owner in any one interval, once the group had settled.
    pub served_min: f64,
    /// How long a worker waited for its first lease, in intervals, on average.
    pub first_lease: Option<f64>,
    /// Worker-intervals spent owning nothing, by reason.
    pub idle: Vec<(Reason, f64)>,
    /// What happened, line by line, if asked for.
    pub trace: String,
}
