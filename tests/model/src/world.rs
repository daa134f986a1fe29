//! A state of the model.

use n_and_i::WorkerId;
use n_and_i_core::{AttemptId, ServerTime, Timing};

use crate::server::{Answer, Server};
use crate::setup::{Fault, Setup};
use crate::worker::{Drain, Fence, Outcome, Worker};

/// A group at one moment.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct World {
    /// True time in nanoseconds, which nobody in it knows.
    pub(crate) now: u64,
    pub(crate) server: Server,
    pub(crate) workers: Vec<Option<Worker>>,
    /// On their way, the one that arrives first at the front.
    pub(crate) messages: Vec<Message>,
    /// Shares that were lost and are still worked on, by the place of who lost them; of those who
    /// have left, without a place.
    pub(crate) drains: Vec<(Option<usize>, Drain)>,
    /// What was handed out and is not any more, in some fixed order, by the place of who had it; of
    /// those who are gone, without a place. None once the server's clock was set back.
    pub(crate) fences: Option<Vec<(Option<usize>, Fence)>>,
    pub(crate) budget: u8,
    pub(crate) starts: u8,
    /// When somebody came or went last.
    pub(crate) changed: u64,
    /// Who was found without a deadline, or with one in the past.
    pub(crate) silent: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Message {
    /// In true time.
    pub(crate) arrives: u64,
    /// Whose registration it belongs to, unless that worker is gone or the answer will be lost.
    pub(crate) worker: Option<usize>,
    pub(crate) attempt: AttemptId,
    pub(crate) content: Content,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Content {
    /// The place is part of the stamp that it proposes.
    Request {
        place: usize,
        id: WorkerId,
        timing: Timing,
        not_after: Option<ServerTime>,
    },
    Answer(Answer),
}

impl World {
    pub(crate) fn empty(setup: &Setup) -> Self {
        Self {
            now: 0,
            server: Server::new(setup.layout),
            workers: vec![None; setup.gaps.len()],
            messages: Vec::new(),
            drains: Vec::new(),
            fences: Some(Vec::new()),
            budget: 0,
            starts: 0,
            changed: 0,
            silent: None,
        }
    }

    pub(crate) fn post(&mut self, message: Message) {
        let place = self.messages.partition_point(|other| other.arrives <= message.arrives);
        self.messages.insert(place, message);
    }

    /// Takes note of what an input to the worker at this place led to.
    pub(crate) fn note(&mut self, place: usize, outcome: &Outcome) {
        if let Some(drain) = outcome.lost.filter(|drain| drain.until > self.now) {
            self.drains.push((Some(place), drain));
        }
        if let Some(past) = outcome.past {
            self.fence(Some(place), past);
        }
        if outcome.silent {
            self.silent = Some(place);
        }
    }

    fn fence(&mut self, owner: Option<usize>, past: Fence) {
        let Some(fences) = &mut self.fences else { return };
        let key = |(owner, fence): &(Option<usize>, Fence)| {
            (*owner, fence.share.pair(), fence.share.previous())
        };
        match fences.binary_search_by_key(&key(&(owner, past)), key) {
            Ok(found) => fences[found].1.token = fences[found].1.token.max(past.token),
            Err(place) => fences.insert(place, (owner, past)),
        }
    }

    /// Whoever starts at this place is another worker.
    pub(crate) fn disown(&mut self, place: usize) {
        let handed = self.workers[place].as_ref().and_then(Worker::handed);
        let fences = self.fences.as_mut().map(std::mem::take).unwrap_or_default();
        for (owner, fence) in fences.into_iter().chain(handed.map(|fence| (Some(place), fence))) {
            self.fence(owner.filter(|owner| *owner != place), fence);
        }
        for (owner, _) in &mut self.drains {
            *owner = owner.filter(|owner| *owner != place);
        }
    }

    /// The first answer that has arrived for the worker at this place.
    pub(crate) fn answer_for(&self, place: usize) -> Option<usize> {
        self.messages.iter().position(|message| {
            message.worker == Some(place)
                && message.arrives <= self.now
                && matches!(message.content, Content::Answer(_))
        })
    }

    /// Requests that have arrived, by their places in the list of messages.
    pub(crate) fn arrived_requests(&self) -> impl Iterator<Item = usize> {
        let arrived = self.messages.iter().enumerate();
        arrived.filter_map(|(place, message)| {
            let due = message.arrives <= self.now;
            (due && matches!(message.content, Content::Request { .. })).then_some(place)
        })
    }

    /// Whether the worker's deadline is due.
    pub(crate) fn is_due(&self, worker: &Worker) -> bool {
        worker.deadline().is_some_and(|deadline| deadline <= self.now)
    }

    /// When the next thing happens.
    pub(crate) fn next_event(&self, setup: &Setup) -> Option<u64> {
        let wakes = self
            .workers
            .iter()
            .flatten()
            .filter_map(|worker| worker.stalled_until.or_else(|| worker.deadline()));
        let arrivals = self.messages.iter().map(|message| {
            let stall = message.worker.filter(|_| matches!(message.content, Content::Answer(_)));
            let stall = stall.and_then(|place| self.workers[place].as_ref()?.stalled_until);
            message.arrives.max(stall.unwrap_or(0))
        });
        let starts = (self.starts > 0 && self.workers.iter().any(Option::is_none))
            .then(|| (self.now / setup.tick() + 1) * setup.tick());
        wakes.chain(arrivals).chain(starts).min()
    }

    /// Forgets what cannot matter any more, so that histories that come to the same are one state.
    pub(crate) fn normalize(&mut self, setup: &Setup) {
        let now = self.now;
        self.drains.retain(|(_, drain)| drain.until > now);
        if now >= setup.faults_end() {
            (self.budget, self.starts) = (0, 0);
        }
        let mut writes = setup.lost_writes;
        if self.budget == 0 {
            if self.workers.iter().all(Option::is_some) {
                self.starts = 0;
            }
            for worker in self.workers.iter_mut().flatten() {
                worker.acted = false;
            }
            writes = 0;
        }
        if !setup.faults.contains(&Fault::RollBack) {
            writes = 0;
        }
        self.server.forget_before(writes);
    }
}
