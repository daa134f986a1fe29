//! The promise, checked at every event.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use n_and_i_core::Pair;

/// How many past leases are remembered, for their drain windows and stages.
const REMEMBERED: usize = 512;

/// What one worker owns or owned, in true time (nanoseconds).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The worker.
    pub worker: usize,
    /// What it owns.
    pub pair: Pair,
    /// The fencing token.
    pub stage: u64,
    /// The interval length in which stages are counted.
    pub interval: Duration,
    /// When it was granted.
    pub from: u64,
    /// When it ends or ended.
    pub until: u64,
    /// Until when its consumer was told that it may finish its work; 0 if it was not told.
    pub drain_until: u64,
}

/// How the promise was broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Violation {
    /// Two workers owned one task.
    TwoOwners(Claim, Claim),
    /// A task was handed out before the drain deadline of who had it before.
    DrainWindow(Claim, Claim),
    /// The later owner of a task did not have the greater stage.
    Stage(Claim, Claim),
    /// A worker waits for nothing.
    Silent {
        /// The worker.
        worker: usize,
    },
    /// A deadline that was handled is still due, or one was passed over.
    Deadline {
        /// The worker.
        worker: usize,
    },
    /// The code of a consumer panicked.
    Panicked {
        /// The worker.
        worker: usize,
    },
    /// A group that had been left in peace did not own everything.
    NotSettled {
        /// What each live worker owns.
        owned: usize,
        /// How many workers there are.
        workers: usize,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TwoOwners(a, b) => write!(f, "two owners of one task: {a} and {b}"),
            Self::DrainWindow(a, b) => write!(f, "handed out within the drain window: {a} and {b}"),
            Self::Stage(a, b) => write!(f, "the stage does not rise: {a} and {b}"),
            Self::Silent { worker } => write!(f, "worker {worker} waits for nothing"),
            Self::Deadline { worker } => write!(f, "worker {worker} has a deadline in the past"),
            Self::Panicked { worker } => write!(f, "the consumer of worker {worker} panicked"),
            Self::NotSettled { owned, workers } => {
                write!(f, "not settled in peace: {owned} of {workers} workers own something")
            }
        }
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |nanos: u64| Duration::from_nanos(nanos).as_secs_f64();
        write!(
            f,
            "worker {} with {} at stage {} from {:.4} s to {:.4} s",
            self.worker,
            self.pair,
            self.stage,
            seconds(self.from),
            seconds(self.until)
        )?;
        if self.drain_until != 0 {
            write!(f, ", drained by {:.4} s", seconds(self.drain_until))?;
        }
        Ok(())
    }
}

/// All claims of a group: at most one present one per worker, and the latest past ones.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    present: Vec<Option<Claim>>,
    past: VecDeque<Claim>,
    /// The stages of claims from before are not compared.
    stages_from: u64,
}

impl Claims {
    /// A worker was granted something at `claim.from`. Any violation is returned.
    pub(crate) fn grant(&mut self, claim: Claim) -> Option<Violation> {
        self.end(claim.worker, claim.from, 0);
        let violation = self.check(&claim);
        if self.present.len() <= claim.worker {
            self.present.resize(claim.worker + 1, None);
        }
        self.present[claim.worker] = Some(claim);
        violation
    }

    fn check(&self, new: &Claim) -> Option<Violation> {
        let others = self.present.iter().flatten().chain(&self.past);
        let others = others.filter(|old| old.worker != new.worker && old.pair.intersects(new.pair));
        for old in others {
            if old.until > new.from {
                return Some(Violation::TwoOwners(*old, *new));
            }
            if old.drain_until > new.from {
                return Some(Violation::DrainWindow(*old, *new));
            }
            let comparable = old.from >= self.stages_from && old.interval == new.interval;
            if comparable && old.stage >= new.stage {
                return Some(Violation::Stage(*old, *new));
            }
        }
        None
    }

    /// The worker's lease lasts until then, as of `now`. If it had ended before, that is as good
    /// as a new grant.
    pub(crate) fn extend(&mut self, worker: usize, now: u64, until: u64) -> Option<Violation> {
        let claim = self.present.get_mut(worker)?.as_mut()?;
        let lapsed = claim.until <= now && until > now;
        claim.until = until;
        let renewed = Claim { from: now, ..*claim };
        if lapsed { self.check(&renewed) } else { None }
    }

    /// The worker's lease is over at `now`, or was before. Returns the claim.
    pub(crate) fn end(&mut self, worker: usize, now: u64, drain_until: u64) -> Option<Claim> {
        let mut claim = self.present.get_mut(worker)?.take()?;
        claim.until = claim.until.min(now);
        claim.drain_until = drain_until;
        if self.past.len() == REMEMBERED {
            self.past.pop_front();
        }
        self.past.push_back(claim);
        Some(claim)
    }

    /// The server's clock goes back at `now`: later stages may be smaller, those of answers on
    /// their way included.
    pub(crate) fn ignore_stages_until(&mut self, time: u64) {
        self.stages_from = self.stages_from.max(time);
    }

    /// What is owned at `now`.
    pub(crate) fn live(&self, now: u64) -> impl Iterator<Item = &Claim> {
        self.present.iter().flatten().filter(move |claim| claim.until > now)
    }
}
