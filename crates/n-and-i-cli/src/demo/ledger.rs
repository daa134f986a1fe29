//! Who owns what: what is shown, and the check that no key has two owners.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use n_and_i::{Lease, Mapping, Reason, Share};

use crate::record::Owned;

/// How the keys of the demo are spread over workers.
pub(crate) const MAPPING: Mapping = Mapping::Jump;

/// What the ledger needs of a lease.
pub(crate) trait Claim {
    fn owned(&self) -> Owned;
    fn is_live(&self) -> bool;
    fn remaining(&self) -> Duration;

    fn share(&self) -> Share {
        self.owned().share
    }

    /// Whether there can be a key, or a task with a number, that belongs to both.
    fn meets(&self, other: &Self) -> bool {
        Mapping::ALL.iter().any(|mapping| self.share().intersects(other.share(), *mapping))
    }
}

impl Claim for Lease {
    fn owned(&self) -> Owned {
        self.into()
    }

    fn is_live(&self) -> bool {
        self.is_live()
    }

    fn remaining(&self) -> Duration {
        self.remaining()
    }
}

/// All workers and what each of them owns, as told so far.
///
/// Workers are handed their changes independently, so that the news that one owns a pair can
/// arrive before the news that another has lost it, long after its lease was over. News of
/// ownership waits until it contradicts nothing that was told.
#[derive(Debug)]
pub(crate) struct Ledger<L> {
    workers: Vec<Worker<L>>,
    waiting: VecDeque<Waiting<L>>,
    patience: Duration,
    events: Vec<Event>,
    changes: u64,
    in_conflict: BTreeSet<(usize, usize)>,
    conflicts: u64,
}

#[derive(Debug)]
struct Worker<L> {
    name: String,
    standing: Standing<L>,
}

/// How it stands with a worker.
#[derive(Debug)]
pub(crate) enum Standing<L> {
    /// It has not been heard of yet.
    Unheard,
    /// It owns nothing.
    Idle(Reason),
    /// It was handed this.
    Holds(L),
    /// It is no more.
    Crashed,
}

/// What a worker was handed.
#[derive(Debug)]
pub(crate) struct News<L> {
    pub(crate) holds: Result<L, Reason>,
    pub(crate) stage: Option<u64>,
}

#[derive(Debug)]
struct Waiting<L> {
    worker: usize,
    news: News<L>,
    since: Duration,
}

/// Something to tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Event {
    pub(crate) elapsed: Duration,
    pub(crate) worker: usize,
    pub(crate) what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    Joins,
    Crashes,
    Owns { owned: Owned, stage: Option<u64> },
    Idles { reason: Reason, stage: Option<u64> },
}

impl<L: Claim> Ledger<L> {
    /// News of ownership is not held back for longer than `patience`.
    pub(crate) fn new(patience: Duration) -> Self {
        Self {
            workers: Vec::new(),
            waiting: VecDeque::new(),
            patience,
            events: Vec::new(),
            changes: 0,
            in_conflict: BTreeSet::new(),
            conflicts: 0,
        }
    }

    /// One more worker, there from the beginning.
    pub(crate) fn enter(&mut self) {
        let name = name(self.workers.len());
        self.workers.push(Worker { name, standing: Standing::Unheard });
    }

    /// One more worker, which is an event. Returns its number.
    pub(crate) fn join(&mut self, elapsed: Duration) -> usize {
        let worker = self.workers.len();
        self.enter();
        self.events.push(Event { elapsed, worker, what: What::Joins });
        worker
    }

    /// The worker is gone; whatever else is heard of it does not count.
    pub(crate) fn crash(&mut self, worker: usize, elapsed: Duration) {
        self.waiting.retain(|waiting| waiting.worker != worker);
        self.workers[worker].standing = Standing::Crashed;
        self.events.push(Event { elapsed, worker, what: What::Crashes });
    }

    /// What a worker was handed.
    pub(crate) fn hear(&mut self, worker: usize, news: News<L>, elapsed: Duration) {
        if !matches!(self.workers[worker].standing, Standing::Crashed) {
            self.changes += 1;
            self.waiting.push_back(Waiting { worker, news, since: elapsed });
        }
    }

    /// What can be told by now.
    pub(crate) fn settle(&mut self, elapsed: Duration) -> Vec<Event> {
        // What one worker lost makes room for what another gained.
        while let Some(next) = self.next_to_tell(elapsed) {
            let Some(Waiting { worker, news, .. }) = self.waiting.remove(next) else { break };
            let stage = news.stage;
            let (what, standing) = match news.holds {
                Ok(lease) => (What::Owns { owned: lease.owned(), stage }, Standing::Holds(lease)),
                Err(reason) => (What::Idles { reason, stage }, Standing::Idle(reason)),
            };
            self.workers[worker].standing = standing;
            self.events.push(Event { elapsed, worker, what });
        }
        std::mem::take(&mut self.events)
    }

    /// The first news that contradicts nothing; the news of one worker stay in order.
    fn next_to_tell(&self, elapsed: Duration) -> Option<usize> {
        let mut held_back = BTreeSet::new();
        self.waiting.iter().position(|waiting| {
            let can_be_told = !held_back.contains(&waiting.worker)
                && (self.is_free(waiting) || elapsed > waiting.since + self.patience);
            if !can_be_told {
                held_back.insert(waiting.worker);
            }
            can_be_told
        })
    }

    /// Whether no other worker is still taken for the owner of a part of it though its lease
    /// is over. (If that is not over either, it is a conflict, and not to be hidden.)
    fn is_free(&self, waiting: &Waiting<L>) -> bool {
        let Ok(lease) = &waiting.news.holds else { return true };
        self.workers.iter().enumerate().all(|(worker, other)| match &other.standing {
            Standing::Holds(held) if worker != waiting.worker => {
                held.is_live() || !held.meets(lease)
            }
            _ => true,
        })
    }

    /// Looks for keys with two owners, among all keys and tasks there can be.
    pub(crate) fn check(&mut self) {
        let owners: Vec<_> = self.leases().filter(|(_, lease)| lease.is_live()).collect();
        let mut found = BTreeSet::new();
        for (position, (worker, lease)) in owners.iter().enumerate() {
            for (other, held) in &owners[position + 1..] {
                // One of them may have ended since it was asked: only if the first is live
                // after the second they were so together.
                let together = || held.is_live() && lease.is_live();
                if lease.meets(held) && together() {
                    found.insert((*worker, *other));
                }
            }
        }
        self.conflicts += u64::try_from(found.difference(&self.in_conflict).count()).unwrap_or(0);
        self.in_conflict = found;
    }

    /// How often two workers were found to own one key.
    pub(crate) fn conflicts(&self) -> u64 {
        self.conflicts
    }

    /// How many changes workers were handed.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// The share of all keys that have an owner at this moment, 0 to 1.
    pub(crate) fn share(&self) -> f64 {
        let live = self.leases().filter(|(_, lease)| lease.is_live());
        let share: f64 = live.map(|(_, lease)| lease.share().fraction(MAPPING)).sum();
        // An empty sum is -0.0.
        share.min(1.0) + 0.0
    }

    pub(crate) fn name(&self, worker: usize) -> &str {
        &self.workers[worker].name
    }

    /// All workers, by number.
    pub(crate) fn workers(&self) -> impl Iterator<Item = (&str, &Standing<L>)> {
        self.workers.iter().map(|worker| (&*worker.name, &worker.standing))
    }

    fn leases(&self) -> impl Iterator<Item = (usize, &L)> {
        self.workers.iter().enumerate().filter_map(|(number, worker)| match &worker.standing {
            Standing::Holds(lease) => Some((number, lease)),
            _ => None,
        })
    }
}

/// A, B, ... Z, AA, AB, ...
fn name(number: usize) -> String {
    let letter = char::from(b'A' + u8::try_from(number % 26).unwrap_or(0));
    match number / 26 {
        0 => letter.to_string(),
        more => name(more - 1) + &letter.to_string(),
    }
}

#[cfg(test)]
mod tests;
