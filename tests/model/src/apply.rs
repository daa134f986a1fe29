//! What each action does to a state.

use n_and_i::WorkerId;
use n_and_i_core::{AttemptId, Failure, ServerTime, Stamp, Timing};

use crate::action::{Action, Fate, ServerFault};
use crate::server::Answer;
use crate::setup::{BrokenRule, NANOS_PER_MILLI, Setup};
use crate::worker::{Worker, as_u64};
use crate::world::{Content, Message, World};

impl World {
    /// # Panics
    /// If the action was not offered in this state.
    pub(crate) fn apply(&mut self, setup: &Setup, action: Action) {
        self.budget -= u8::from(is_fault(action));
        let now = self.now;
        match action {
            Action::Wait => self.wait(setup),
            Action::Start(place) => {
                self.starts -= 1;
                self.changed = now;
                let (worker, outcome) = Worker::start(setup, place, now);
                self.workers[place] = Some(worker);
                self.note(place, &outcome);
            }
            Action::Crash(place) => {
                self.changed = now;
                // Its work in flight is gone with it.
                self.drains.retain(|(owner, _)| *owner != Some(place));
                self.bury(place);
            }
            Action::Leave(place) => {
                self.changed = now;
                let outcome = self.worker(place).stop(setup, now);
                self.note(place, &outcome);
                let (timing, id) = (self.worker(place).timing(), self.worker(place).id);
                self.server.release(now, timing, id);
                self.bury(place);
            }
            Action::Wake(place) => {
                let outcome = self.worker(place).wake(setup, now);
                self.note(place, &outcome);
            }
            Action::Hear(place) => self.hear(setup, place),
            Action::Stall(place, millis) => {
                self.worker(place).stalled_until = Some(now + millis * NANOS_PER_MILLI);
            }
            Action::Send(place, fate) => self.send(setup, place, fate),
            Action::Execute(message, millis) => {
                let request = self.messages.remove(message);
                let Content::Request { place, id, timing, not_after } = request.content else {
                    unreachable!("only requests are executed");
                };
                let answer = self.execute(setup, (place, id), request.attempt, timing, not_after);
                if let Some(worker) = request.worker {
                    self.answer(worker, request.attempt, answer, millis);
                }
            }
            Action::Server(fault) => self.suffer(setup, fault),
        }
        self.normalize(setup);
    }

    fn worker(&mut self, place: usize) -> &mut Worker {
        self.workers[place].as_mut().expect("the action was offered, so somebody is there")
    }

    fn wait(&mut self, setup: &Setup) {
        self.now = self.next_event(setup).unwrap_or(self.now);
        for worker in self.workers.iter_mut().flatten() {
            worker.acted = false;
            worker.stalled_until = worker.stalled_until.filter(|until| *until > self.now);
        }
    }

    fn bury(&mut self, place: usize) {
        self.disown(place);
        self.workers[place] = None;
        // Its requests are executed all the same; their answers reach nobody.
        self.messages.retain(|message| {
            message.worker != Some(place) || matches!(message.content, Content::Request { .. })
        });
        for message in &mut self.messages {
            message.worker = message.worker.filter(|worker| *worker != place);
        }
    }

    fn hear(&mut self, setup: &Setup, place: usize) {
        let Some(first) = self.answer_for(place) else { return };
        let message = self.messages.remove(first);
        if let Content::Answer(answer) = message.content {
            let now = self.now;
            let outcome = self.worker(place).hear(setup, now, message.attempt, answer);
            self.note(place, &outcome);
        }
    }

    fn send(&mut self, setup: &Setup, place: usize, fate: Fate) {
        let (timing, id) = (self.worker(place).timing(), self.worker(place).id);
        let Some((attempt, not_after)) = self.worker(place).outgoing.take() else { return };
        let request = |world: &Self, worker, millis: u64| Message {
            arrives: world.now + millis * NANOS_PER_MILLI,
            worker,
            attempt,
            content: Content::Request { place, id, timing, not_after },
        };
        match fate {
            Fate::Lost => return,
            Fate::Refused => {
                return self.answer(place, attempt, Err(Failure::NotExecuted), 0);
            }
            Fate::LostUnknown => return self.answer(place, attempt, Err(setup.unknown()), 0),
            Fate::RequestLate(millis) => {
                return self.post(request(self, Some(place), millis));
            }
            Fate::Twice(millis) => self.post(request(self, None, millis)),
            _ => {}
        }
        let answer = self.execute(setup, (place, id), attempt, timing, not_after);
        match fate {
            Fate::ReplyLost => {}
            Fate::ReplyUnknown => self.answer(place, attempt, Err(setup.unknown()), 0),
            Fate::ReplyLate(millis) => self.answer(place, attempt, answer, millis),
            _ => self.answer(place, attempt, answer, 0),
        }
    }

    fn execute(
        &mut self,
        setup: &Setup,
        (place, id): (usize, WorkerId),
        attempt: AttemptId,
        timing: Timing,
        not_after: Option<ServerTime>,
    ) -> Answer {
        // Unique for ever, and the same whatever happened before: no worker makes two
        // attempts at once, and a late one has another number than the one after it.
        let unique = [self.now, as_u64(place), attempt.get()].map(u128::from);
        let stamp = Stamp::from_u128(unique[0] << 32 | unique[1] << 16 | unique[2]);
        let answer = self.server.register(self.now, timing, id, stamp, not_after);
        if !setup.breaks(BrokenRule::ConstantStamp) {
            return answer;
        }
        let constant = Stamp::from_u128(0);
        answer.map(|mut reply| {
            reply.stamp = constant;
            reply.previous_stamp = Some(constant);
            reply
        })
    }

    fn answer(&mut self, place: usize, attempt: AttemptId, answer: Answer, millis: u64) {
        self.post(Message {
            arrives: self.now + millis * NANOS_PER_MILLI,
            worker: Some(place),
            attempt,
            content: Content::Answer(answer),
        });
    }

    fn suffer(&mut self, setup: &Setup, fault: ServerFault) {
        self.server.suffer(fault, self.now, !setup.breaks(BrokenRule::SameServer));
        if matches!(fault, ServerFault::Step(..0)) {
            self.fences = None;
        }
    }
}

/// Whether the action is paid for from the budget of faults.
fn is_fault(action: Action) -> bool {
    match action {
        Action::Send(_, fate) => fate != Fate::Prompt,
        Action::Execute(_, millis) => millis > 0,
        Action::Crash(_) | Action::Leave(_) | Action::Stall(..) | Action::Server(_) => true,
        Action::Wait | Action::Start(_) | Action::Wake(_) | Action::Hear(_) => false,
    }
}
