//! How the workers of a scenario rebalance, and how its membership changes by plan.

use std::fmt;

use n_and_i_core::Rebalance;

/// What the workers of a group do while its membership changes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rebalancing {
    /// All the same.
    All(Rebalance),
    /// Each worker that starts picks one of both ways at random.
    Mixed,
}

impl Rebalancing {
    /// Every way.
    pub const ALL: [Self; 3] =
        [Self::All(Rebalance::StandDown), Self::All(Rebalance::KeepServing), Self::Mixed];

    /// Its name in lower-case words joined by `-`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::All(rebalance) => rebalance.as_str(),
            Self::Mixed => "mixed",
        }
    }
}

impl Default for Rebalancing {
    fn default() -> Self {
        Self::All(Rebalance::default())
    }
}

impl From<Rebalance> for Rebalancing {
    fn from(rebalance: Rebalance) -> Self {
        Self::All(rebalance)
    }
}

impl fmt::Display for Rebalancing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Changes of membership that are planned.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Plan {
    /// One worker after another, in turn, is asked to stop, and a new one joins at the same time.
    RollingRestart,
    /// By turns one more worker joins, and one of them, any, is asked to stop.
    JoinAndLeave,
    /// One more worker joins, later one in the middle crashes, and nothing else happens.
    ///
    /// The distance between changes is also how long the group has to itself before the first:
    /// with a third of the run, the changes come after one third and after two, as in the demo.
    /// Six intervals are enough for a group to settle.
    JoinAndCrash,
}

impl Plan {
    /// Every plan.
    pub const ALL: [Self; 3] = [Self::RollingRestart, Self::JoinAndLeave, Self::JoinAndCrash];

    /// Its name in lower-case words joined by `-`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RollingRestart => "rolling-restart",
            Self::JoinAndLeave => "join-and-leave",
            Self::JoinAndCrash => "join-and-crash",
        }
    }

    /// How many changes there are, if not one after another to the end of the run.
    pub const fn changes(self) -> Option<u64> {
        match self {
            Self::RollingRestart | Self::JoinAndLeave => None,
            Self::JoinAndCrash => Some(2),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One kind of planned change of membership.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Planned {
    /// One worker is asked to stop, and a new one joins at the same time.
    Restart,
    /// One more worker joins.
    Join,
    /// One worker is asked to stop.
    Leave,
    /// One worker vanishes, and nobody takes its place.
    Crash,
}

/// The least and the greatest distance between two changes, in intervals.
const EVERY: std::ops::RangeInclusive<f64> = 0.1..=1e6;

/// The distance between planned changes is out of range, or no number.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
#[error("every is {every}, must be from {} to {} (intervals)", EVERY.start(), EVERY.end())]
pub struct PlanError {
    /// The distance that was asked for, in intervals.
    pub every: f64,
}

/// A plan and the distance between its changes, checked.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Schedule {
    pub(crate) plan: Plan,
    /// In intervals.
    pub(crate) every: f64,
}

impl Schedule {
    pub(crate) fn new(plan: Plan, every: f64) -> Result<Self, PlanError> {
        // No number is in no range.
        if EVERY.contains(&every) { Ok(Self { plan, every }) } else { Err(PlanError { every }) }
    }

    /// The change of this number, from 0; none after the last.
    pub(crate) fn change(self, number: u64) -> Option<Planned> {
        if self.plan.changes().is_some_and(|count| number >= count) {
            return None;
        }
        let first = number.is_multiple_of(2);
        Some(match self.plan {
            Plan::RollingRestart => Planned::Restart,
            Plan::JoinAndLeave | Plan::JoinAndCrash if first => Planned::Join,
            Plan::JoinAndLeave => Planned::Leave,
            Plan::JoinAndCrash => Planned::Crash,
        })
    }

    /// After how many intervals the plan begins, in a group that has `peace` intervals to settle
    /// unless the plan says otherwise.
    pub(crate) fn begin(self, peace: f64) -> f64 {
        if self.plan == Plan::JoinAndCrash { self.every } else { peace }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_out_of_range_is_named() {
        for every in [0.1, 1.0, 4.5, 1e6] {
            let schedule = Schedule::new(Plan::RollingRestart, every);
            assert_eq!(schedule, Ok(Schedule { plan: Plan::RollingRestart, every }));
        }
        for every in [0.0, -1.0, 0.099, 1_000_001.0, f64::NAN, f64::INFINITY] {
            let error = Schedule::new(Plan::JoinAndLeave, every).unwrap_err().to_string();
            let expected = format!("every is {every}, must be from 0.1 to 1000000 (intervals)");
            assert_eq!(error, expected);
        }
    }
}
