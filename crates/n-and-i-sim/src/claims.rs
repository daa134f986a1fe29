//! The promise, checked at every event.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use n_and_i_core::{Mapping, Share};

/// How many past leases are remembered, for their drain windows and stages.
const REMEMBERED: usize = 512;

/// What one worker owns or owned, in true time (nanoseconds).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The worker, by its place.
    pub worker: usize,
    /// Tells the worker from those who had the place before it.
    pub life: u32,
    /// What it owns.
    pub share: Share,
    /// The stage at which it was granted.
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

impl Claim {
    /// The fencing token: the stage in milliseconds.
    pub fn token(&self) -> u64 {
        let millis = u64::try_from(self.interval.as_millis()).unwrap_or(u64::MAX);
        self.stage.saturating_mul(millis)
    }

    fn is_of_same_worker(&self, other: &Self) -> bool {
        (self.worker, self.life) == (other.worker, other.life)
    }

    /// Whether some task belongs to both, however tasks are mapped.
    fn intersects(&self, other: &Self) -> bool {
        Mapping::ALL.into_iter().any(|mapping| self.share.intersects(other.share, mapping))
    }
}

/// How the promise was broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Violation {
    /// Two workers owned one task.
    TwoOwners(Claim, Claim),
    /// A task was handed out before the drain deadline of who had it before.
    DrainWindow(Claim, Claim),
    /// The later owner of a task did not have the greater fencing token.
    Token(Claim, Claim),
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
            Self::Token(a, b) => write!(f, "the fencing token does not rise: {a} and {b}"),
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
            self.share,
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
    /// The tokens of claims from before are not compared.
    tokens_from: u64,
}

impl Claims {
    /// A worker was granted something at `claim.from`, in place of what it had, if anything.
    /// Any violation is returned.
    pub(crate) fn grant(&mut self, claim: Claim) -> Option<Violation> {
        let violation = self.check(&claim);
        if self.present.len() <= claim.worker {
            self.present.resize(claim.worker + 1, None);
        }
        self.present[claim.worker] = Some(claim);
        violation
    }

    fn check(&self, new: &Claim) -> Option<Violation> {
        let token = new.token();
        for old in self.present.iter().flatten().chain(&self.past) {
            let conflict = if old.until > new.from {
                Violation::TwoOwners
            } else if old.drain_until > new.from {
                Violation::DrainWindow
            } else if old.from >= self.tokens_from && old.token() >= token {
                Violation::Token
            } else {
                continue;
            };
            if !old.is_of_same_worker(new) && old.intersects(new) {
                return Some(conflict(*old, *new));
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

    /// The server's clock goes back at `now`: later tokens may be smaller, those of answers on
    /// their way included.
    pub(crate) fn ignore_tokens_until(&mut self, time: u64) {
        self.tokens_from = self.tokens_from.max(time);
    }

    /// What is owned at `now`.
    pub(crate) fn live(&self, now: u64) -> impl Iterator<Item = &Claim> {
        self.present.iter().flatten().filter(move |claim| claim.until > now)
    }
}

#[cfg(test)]
mod tests {
    use n_and_i_core::Pair;

    use super::*;

    fn share(i: u32, n: u32) -> Share {
        Share::of(Pair::new(i, n).unwrap())
    }

    fn common(pair: (u32, u32), previous: (u32, u32)) -> Share {
        let pairs = [pair, previous].map(|(i, n)| Pair::new(i, n).unwrap());
        Share::common(pairs[0], pairs[1]).unwrap()
    }

    fn claim(worker: usize, share: Share, stage: u64, from: u64) -> Claim {
        let interval = Duration::from_secs(5);
        Claim { worker, life: 1, share, stage, interval, from, until: from + 100, drain_until: 0 }
    }

    /// What a second claim leads to after one on `1 of 3` that was granted at 0, lasted to 100 and
    /// may be drained to 150.
    fn second(second: Claim) -> Option<Violation> {
        let mut claims = Claims::default();
        assert_eq!(claims.grant(claim(0, share(1, 3), 7, 0)), None);
        claims.end(0, 100, 150);
        claims.grant(second)
    }

    #[test]
    fn what_is_held_drained_or_fenced_off_is_not_granted() {
        let same = share(1, 3);
        assert!(matches!(second(claim(1, same, 8, 99)), Some(Violation::TwoOwners(..))));
        assert!(matches!(second(claim(1, same, 8, 149)), Some(Violation::DrainWindow(..))));
        assert!(matches!(second(claim(1, same, 7, 150)), Some(Violation::Token(..))));
        assert_eq!(second(claim(1, same, 8, 150)), None);
        // It may go on itself; who has its place after it may not.
        assert_eq!(second(claim(0, same, 7, 100)), None);
        let successor = Claim { life: 2, ..claim(0, same, 8, 149) };
        assert!(matches!(second(successor), Some(Violation::DrainWindow(..))));
    }

    #[test]
    fn one_mapping_is_enough_for_a_conflict() {
        for (other, conflicts) in [
            (share(2, 3), false),
            (share(2, 4), true),  // Modulo: task 10.
            (share(0, 2), true),  // Modulo: task 4.
            (share(3, 6), true),  // Jump: 3 was added when there were more than three.
            (share(0, 6), false), // Neither: 0 modulo 3 is not 1, and nothing jumps back.
            (common((1, 4), (1, 3)), true),
            (common((1, 4), (2, 3)), false),
        ] {
            assert_eq!(second(claim(1, other, 8, 149)).is_some(), conflicts, "{other}");
        }
    }

    #[test]
    fn a_token_counts_from_one_interval_length_to_another() {
        let other = |stage, millis| {
            let interval = Duration::from_millis(millis);
            Claim { interval, ..claim(1, share(1, 3), stage, 200) }
        };
        // Stage 7 at 5 s is 35 s.
        assert!(matches!(second(other(8, 4_000)), Some(Violation::Token(..))));
        assert_eq!(second(other(9, 4_000)), None);
        assert_eq!(second(other(4, 9_000)), None);
    }

    #[test]
    fn what_a_change_loses_is_drained_though_something_is_kept() {
        let mut claims = Claims::default();
        assert_eq!(claims.grant(claim(0, share(1, 3), 7, 0)), None);
        claims.end(0, 50, 140);
        assert_eq!(claims.grant(claim(0, common((1, 4), (1, 3)), 8, 50)), None);
        // Of 1 of 3, what belongs to 3 of 4 was lost.
        let early = claims.grant(claim(1, share(3, 4), 9, 139));
        assert!(matches!(early, Some(Violation::DrainWindow(..))));
        assert_eq!(claims.grant(claim(1, share(3, 4), 9, 140)), None);
    }

    #[test]
    fn tokens_from_before_a_clock_was_set_back_are_not_compared() {
        let mut claims = Claims::default();
        assert_eq!(claims.grant(claim(0, share(1, 3), 7, 0)), None);
        claims.end(0, 100, 0);
        claims.ignore_tokens_until(1);
        assert_eq!(claims.grant(claim(1, share(1, 3), 3, 100)), None);
    }
}
