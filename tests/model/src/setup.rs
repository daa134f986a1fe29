//! What is checked: the group, its faults, how long, and which rule is broken on purpose.

use std::time::Duration;

use n_and_i::Layout;
use n_and_i_core::{Failure, Rebalance, Timing};

/// The length of the interval, in milliseconds.
pub(crate) const INTERVAL_MILLIS: u64 = 1_000;
pub(crate) const NANOS_PER_MILLI: u64 = 1_000_000;
pub(crate) const INTERVAL: u64 = INTERVAL_MILLIS * NANOS_PER_MILLI;
/// How many intervals the group has run in peace before the faults begin.
pub(crate) const SETTLING: u64 = 5;

/// One kind of fault.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// A request does not reach the server. The worker is told nothing, or that its fate is
    /// unknown, or that it certainly was not counted.
    LostRequest,
    /// A request is counted and its answer lost. The worker is told nothing, or that its fate is
    /// unknown.
    LostReply,
    /// A request is counted at once and its answer arrives later.
    LateReply,
    /// A request reaches the server later, where its time limit may have passed.
    LateRequest,
    /// A request is executed twice, the second time later.
    Duplicate,
    /// A worker vanishes.
    Crash,
    /// A worker is stopped in order.
    Leave,
    /// A worker handles nothing for a while, then everything with the later time.
    Stall,
    /// The server's clock steps.
    ClockStep,
    /// The server loses the counter of the open interval.
    LoseOpen,
    /// The server loses the counter of the interval before.
    LoseClosed,
    /// The server loses the guard.
    LoseGuard,
    /// Another server takes over that has not seen the latest writes.
    RollBack,
}

impl Fault {
    /// Every kind.
    pub const ALL: [Self; 13] = [
        Self::LostRequest,
        Self::LostReply,
        Self::LateReply,
        Self::LateRequest,
        Self::Duplicate,
        Self::Crash,
        Self::Leave,
        Self::Stall,
        Self::ClockStep,
        Self::LoseOpen,
        Self::LoseClosed,
        Self::LoseGuard,
        Self::RollBack,
    ];
}

/// A rule that the model leaves out, to show that the check notices. The machine itself is never
/// changed: what it is told is, or what is made of what it says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BrokenRule {
    /// Every reply carries the same stamp, so a counter created anew is not noticed (rule 8).
    ConstantStamp,
    /// A server that takes over keeps the name of the one before (rule 8).
    SameServer,
    /// A reply that implies another pair than the one before is acted upon at once (rule 2).
    ActOnDisagreement,
    /// Of the two pairs that a share belongs to, only the newer one is asked (rule 2).
    ServeNewest,
    /// Of the two pairs that a share belongs to, only the older one is asked (rule 2).
    ServePrevious,
    /// A worker's token stays that of its first lease.
    StaleToken,
    /// A lease is used until the worker hears that it is over (rule 5).
    IgnoreLeaseEnd,
    /// A lease is used for an interval longer than it says, past the cap of `(1 + g) · T` (rule 3).
    StretchedLease,
    /// A lease is counted from when the reply arrived (rule 3).
    ReplyAnchor,
    /// Work on a lost share goes on for half an interval after its drain deadline.
    LongDrain,
    /// The worker is told a time just before its deadline when it wakes up at it.
    StaleReading,
}

/// A configuration of the model.
#[derive(Clone, Debug)]
pub struct Setup {
    /// What it is called in reports.
    pub name: &'static str,
    /// The gap of each worker, and so how many there are.
    pub gaps: Vec<f64>,
    /// How the group is kept.
    pub layout: Layout,
    /// What each worker does while membership changes, at least as many as there are gaps.
    pub modes: Vec<Rebalance>,
    /// How many of them are running and settled at the start; the others may start later.
    pub running: usize,
    /// How many workers may start, or start again.
    pub starts: u8,
    /// At the multiples of how many milliseconds they start.
    pub starts_every: u64,
    /// How many faults happen at most.
    pub budget: u8,
    /// Which kinds of them.
    pub faults: Vec<Fault>,
    /// How long delays and stalls take, in milliseconds.
    pub delays: Vec<u64>,
    /// By how much the server's clock steps, in milliseconds.
    pub steps: Vec<i64>,
    /// How many of the latest writes are lost at most when another server takes over.
    pub lost_writes: usize,
    /// For how many intervals faults and starts happen.
    pub intervals: u64,
    /// How many more intervals are watched after those.
    pub aftermath: u64,
    /// The rule that is broken on purpose.
    pub broken: Option<BrokenRule>,
}

impl Setup {
    /// Three settled workers with the gap of 0.2, watched for five intervals, with this many
    /// faults of these kinds.
    pub fn new(name: &'static str, budget: u8, faults: &[Fault]) -> Self {
        Self {
            name,
            gaps: vec![0.2; 3],
            layout: Layout::Counters,
            modes: vec![Rebalance::StandDown; 3],
            running: 3,
            starts: 1,
            starts_every: 50,
            budget,
            faults: faults.to_vec(),
            delays: vec![200, 300, 450, 1_000, 1_200, 1_250],
            steps: vec![-1_000, -300, -50, 50, 300, 1_000],
            lost_writes: 3,
            intervals: 3,
            aftermath: 2,
            broken: None,
        }
    }

    /// With workers that do this while membership changes, each its own.
    #[must_use]
    pub fn in_modes(mut self, modes: [Rebalance; 3]) -> Self {
        self.modes = modes.to_vec();
        self
    }

    /// With a group that is kept like this.
    #[must_use]
    pub fn in_layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// With this rule broken.
    #[must_use]
    pub fn breaking(mut self, rule: BrokenRule) -> Self {
        self.broken = Some(rule);
        self
    }

    pub(crate) fn breaks(&self, rule: BrokenRule) -> bool {
        self.broken == Some(rule)
    }

    /// What a worker is told of a registration whose fate is unknown.
    pub(crate) fn unknown(&self) -> Failure {
        match self.layout {
            Layout::Slots => Failure::Repeatable,
            _ => Failure::Unknown,
        }
    }

    /// Whether nothing happens but that workers come and go.
    pub(crate) fn only_membership_changes(&self) -> bool {
        self.faults.iter().all(|fault| matches!(fault, Fault::Crash | Fault::Leave))
    }

    /// Whether any worker is to keep serving.
    pub(crate) fn keeps_serving(&self) -> bool {
        self.modes[..self.gaps.len()].contains(&Rebalance::KeepServing)
    }

    /// The mode of all workers, in a word.
    pub(crate) fn mode(&self) -> &'static str {
        let modes = &self.modes[..self.gaps.len()];
        if modes.iter().all(|mode| *mode == modes[0]) { modes[0].as_str() } else { "mixed" }
    }

    /// Whether one place is as good as another.
    pub(crate) fn has_equal_places(&self) -> bool {
        let first = (self.gaps[0].to_bits(), self.modes[0]);
        self.gaps.iter().zip(&self.modes).all(|(gap, mode)| (gap.to_bits(), *mode) == first)
    }

    /// The time between moments at which workers may start, in nanoseconds.
    pub(crate) fn tick(&self) -> u64 {
        self.starts_every * NANOS_PER_MILLI
    }

    /// # Panics
    /// If the gap is not a valid one.
    pub(crate) fn timing(&self, worker: usize) -> Timing {
        Timing::new(Duration::from_millis(INTERVAL_MILLIS), self.gaps[worker])
            .expect("the gap is between 0 and 0.5")
    }

    /// Until when, in true time, faults and starts happen.
    pub(crate) fn faults_end(&self) -> u64 {
        (SETTLING + self.intervals) * INTERVAL
    }

    /// When the model ends, in true time.
    pub(crate) fn end(&self) -> u64 {
        self.faults_end() + self.aftermath * INTERVAL
    }
}
