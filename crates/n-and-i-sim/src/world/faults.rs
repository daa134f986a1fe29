//! Faults as they happen.

use n_and_i_core::{Failure, Timing};

use super::worker::{Leaving, Worker};
use super::{Event, World};
use crate::faults::Fault;
use crate::nanos::{from_f64, to_f64};
use crate::process::{Process, Program};

/// Faults that strike when somebody registers.
#[derive(Default, Debug)]
pub(crate) struct Ambush {
    leap_and_join: bool,
    /// Who is to be refused.
    loss: Option<usize>,
}

impl<P: Program> World<P> {
    pub(super) fn happen(&mut self, fault: Fault) {
        self.happened[fault.number()] += 1;
        self.note(|| format!("fault: {fault}"));
        let struck = self.strike(fault);
        self.record(|recorder, now| recorder.happened(fault, struck, now));
    }

    /// Returns the worker that was struck, or that came.
    fn strike(&mut self, fault: Fault) -> Option<usize> {
        match fault {
            // Met by messages on their way.
            Fault::SlowMessage | Fault::LostRequest | Fault::LostReply | Fault::Duplicate => None,
            Fault::BlackHole => {
                let until = self.now + self.span(0.1, 3.0);
                let struck = self.some_worker();
                if let Some(number) = struck {
                    self.workers[number].unheard_until = until;
                }
                struck
            }
            Fault::ShortStall => self.stall(0.01, 0.95),
            Fault::LongStall => self.stall(1.0, 4.0),
            Fault::Crash => {
                let struck = self.some_worker();
                if let Some(number) = struck {
                    self.workers[number].will_be_replaced();
                    self.crash(number);
                }
                struck
            }
            Fault::Leave => {
                let struck = self.some_worker();
                if let Some(number) = struck {
                    self.leave(number, self.workers[number].life, Leaving::ToBeReplaced);
                }
                struck
            }
            Fault::Join => Some(self.visit_with_mixed_gap()),
            Fault::OtherInterval => self.visit_with_other_interval(),
            Fault::LostAfterRefusal => {
                let visited = self.workers.iter().any(|worker| worker.is_alive() && worker.visits);
                if visited {
                    return None;
                }
                self.ambush.loss = self.visit_with_other_interval();
                self.ambush.loss
            }
            Fault::LeapAndJoin
            | Fault::Refusal
            | Fault::ServerStop
            | Fault::RestartEmpty
            | Fault::Rollback
            | Fault::ClockStep
            | Fault::SmallStep
            | Fault::LoseOpen
            | Fault::LoseClosed
            | Fault::LoseGuard
            | Fault::Flush => {
                self.strike_server(fault);
                None
            }
        }
    }

    /// What is no fault of any one worker.
    fn strike_server(&mut self, fault: Fault) {
        let open = self.scenario.timing.interval_at(self.server.time(self.now));
        match fault {
            Fault::LeapAndJoin => {
                for _ in 0..self.random.index(12) {
                    let number = self.visit_with_mixed_gap();
                    let life = self.workers[number].life;
                    let soon = self.now + self.span(0.0, 0.05);
                    self.at(soon, Event::End { worker: number, life });
                }
                self.ambush.leap_and_join = true;
            }
            Fault::Refusal => self.server.refuses_until = self.now + self.span(0.05, 2.0),
            Fault::ServerStop => {
                let until = self.now + self.span(0.05, 3.0);
                self.server.stopped_until = self.server.stopped_until.max(until);
                self.at(until, Event::Resume);
            }
            Fault::RestartEmpty => self.server.restart_empty(),
            Fault::Rollback => {
                let writes = self.random.index(self.server.snapshots().max(1)) + 1;
                self.server.roll_back(writes);
            }
            Fault::ClockStep => {
                let by = self.span(0.1, 4.0);
                self.step(by);
            }
            Fault::SmallStep => {
                let tolerance = self.scenario.timing.gap() / 4.0;
                let by = self.span(0.0, tolerance);
                self.step(by);
            }
            Fault::LoseOpen => self.server.store().lose_counter(open),
            Fault::LoseClosed => self.server.store().lose_counter(open.saturating_sub(1)),
            Fault::LoseGuard => self.server.store().lose_guard(),
            Fault::Flush => self.server.store().clear(),
            _ => {}
        }
    }

    /// Whether a message of a worker or to it meets this fault.
    pub(super) fn meets(&mut self, fault: Fault, number: usize) -> bool {
        let met = self.storming && self.random.chance(self.scenario.faults.rate(fault));
        if met {
            self.met(fault, number);
        }
        met
    }

    /// Out of the way of the many messages that meet nothing.
    #[cold]
    fn met(&mut self, fault: Fault, number: usize) {
        self.happened[fault.number()] += 1;
        self.record(|recorder, now| recorder.happened(fault, Some(number), now));
    }

    /// Ends what still goes on of the storm: who is gone is replaced, who stands still goes on.
    pub(super) fn calm_down(&mut self) {
        let now = self.now;
        self.ambush = Ambush::default();
        self.server.refuses_until = 0;
        self.server.stopped_until = 0;
        self.at(now, Event::Resume);
        for number in 0..self.workers.len() {
            let worker = &mut self.workers[number];
            worker.unheard_until = 0;
            let stalled = worker.stalled_until > now;
            worker.stalled_until = 0;
            match (worker.is_alive(), worker.visits) {
                (true, true) => self.crash(number),
                (true, false) if stalled => self.agenda.wake_by(number, now),
                (true, false) | (false, true) => {}
                (false, false) => self.start(number),
            }
        }
    }

    /// A span of time between two multiples of the interval, in nanoseconds.
    fn span(&mut self, least: f64, most: f64) -> u64 {
        let interval = to_f64(self.interval());
        from_f64(interval * (least + (most - least) * self.random.unit()))
    }

    fn step(&mut self, nanos: u64) {
        let micros = (nanos / 1_000).cast_signed();
        let forward = self.random.chance(0.5);
        self.step_clock(if forward { micros } else { -micros });
        if !forward {
            // An answer from before the step arrives within an interval, or too late.
            let soon = self.now + 2 * self.interval();
            self.claims.ignore_tokens_until(soon);
        }
    }

    fn step_clock(&mut self, micros: i64) {
        self.server.step(micros);
        let ahead = self.server.ahead();
        self.record(|recorder, now| recorder.stepped(now, ahead));
    }

    /// The server has just answered a worker.
    pub(super) fn ambush(&mut self, number: usize, failure: Option<Failure>) {
        if self.ambush.loss == Some(number) {
            self.ambush.loss = None;
            if matches!(failure, Some(Failure::IntervalMismatch { .. })) {
                self.note(|| "everything is lost".into());
                self.server.store().clear();
            }
        }
        // What is owned is not always known. It is more likely that somebody owns something.
        let owns = |world: &Self| {
            !P::Process::IS_OBSERVED
                || world.claims.live(world.now).any(|claim| claim.worker == number)
        };
        if self.ambush.leap_and_join && failure.is_none() && owns(self) {
            self.ambush.leap_and_join = false;
            let leap = self.span(0.1, 2.5) / 1_000;
            self.step_clock(leap.cast_signed());
            let until = self.now + self.span(0.5, 3.0);
            match self.random.index(3) {
                0 => self.workers[number].unheard_until = until,
                1 => self.workers.iter_mut().for_each(|worker| worker.unheard_until = until),
                _ => {}
            }
            self.note(|| format!("the server's clock leaps ahead by {leap} µs"));
            self.visit_with_mixed_gap();
        }
    }

    fn stall(&mut self, least: f64, most: f64) -> Option<usize> {
        let until = self.now + self.span(least, most);
        let struck = self.some_worker();
        if let Some(number) = struck {
            let worker = &mut self.workers[number];
            worker.stalled_until = worker.stalled_until.max(until);
            let seconds = to_f64(worker.stalled_until) / 1e9;
            self.note(|| format!("worker {number} stalls until {seconds:.6}"));
        }
        struck
    }

    /// A live worker that stays.
    fn some_worker(&mut self) -> Option<usize> {
        let alive = |worker: &&Worker<P::Process>| worker.is_alive() && !worker.visits;
        let count = self.workers.iter().filter(alive).count();
        if count == 0 {
            return None;
        }
        let chosen = self.random.index(count);
        let mut numbers = (0..self.workers.len()).filter(|&number| alive(&&self.workers[number]));
        numbers.nth(chosen)
    }

    pub(super) fn replace(&mut self, number: usize) {
        let worker = &mut self.workers[number];
        if !worker.visits && !worker.leaves_for_good() {
            worker.is_awaited = true;
            let time = self.now + self.span(0.0, 3.0);
            self.at(time, Event::Start { worker: number });
        }
    }

    /// Someone joins for some intervals.
    fn visit(&mut self, timing: Timing) -> usize {
        let free = |worker: &Worker<P::Process>| worker.visits && !worker.is_alive();
        let number = self.workers.iter().position(free).unwrap_or(self.workers.len());
        if number == self.workers.len() {
            self.workers.push(Worker::new(timing, true));
        }
        self.workers[number].timing = timing;
        self.start(number);
        let life = self.workers[number].life;
        let time = self.now + self.span(2.0, 12.0);
        self.at(time, Event::End { worker: number, life });
        number
    }

    fn visit_with_mixed_gap(&mut self) -> usize {
        let timing = self.timing_of_a_worker();
        self.visit(timing)
    }

    fn visit_with_other_interval(&mut self) -> Option<usize> {
        let timing = self.scenario.timing;
        let interval = timing.interval().mul_f64(0.3 + 0.9 * self.random.unit());
        let millis = u64::try_from(interval.as_millis()).unwrap_or(1).max(1);
        let interval = std::time::Duration::from_millis(millis);
        let timing = Timing::new(interval, timing.gap()).ok()?;
        Some(self.visit(timing))
    }
}
