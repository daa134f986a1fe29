//! Workers: a process, its clock and its line to the server.

use n_and_i::Layout;
use n_and_i_core::{
    AttemptId, Change, Failure, Instant, Lease, Output, Reason, Rebalance, Reply, ServerTime,
    Timing,
};

use super::{Event, Line, World};
use crate::claims::{Claim, Violation};
use crate::clock::WorkerClock;
use crate::faults::Fault;
use crate::nanos::{from_f64, to_f64};
use crate::plan::Rebalancing;
use crate::process::{Process, Program};

const MILLION: f64 = 1_000_000.0;
/// For how many intervals who was asked to stop may go on.
const GRACE: u64 = 2;

/// A place for a worker: one after another may live in it.
#[derive(Debug)]
pub(crate) struct Worker<P> {
    process: Option<P>,
    clock: WorkerClock,
    pub(super) timing: Timing,
    /// Counts those who lived here.
    pub(super) life: u32,
    /// Whether it only visits: it leaves by itself and is not replaced.
    pub(super) visits: bool,
    /// Whether somebody will start here.
    pub(super) is_awaited: bool,
    /// Whether it was asked to stop, and what comes after it.
    leaving: Option<Leaving>,
    pub(super) started: u64,
    /// Since when it owns nothing, and why.
    idle: Option<(u64, Reason)>,
    owned_before: bool,
    /// By its clock: until when it may go on with what it owns if it should lose that.
    drain_until: Instant,
    pub(super) stalled_until: u64,
    pub(super) unheard_until: u64,
    /// What arrived while the process stood still.
    inbox: Vec<(AttemptId, Result<Reply, Failure>)>,
}

/// What becomes of the place of a worker that was asked to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Leaving {
    /// A new worker takes it some time later.
    ToBeReplaced,
    /// It is left free.
    ForGood,
}

impl<P> Worker<P> {
    pub(super) fn new(timing: Timing, visits: bool) -> Self {
        Self {
            process: None,
            clock: WorkerClock::new(0, 0, 0),
            timing,
            life: 0,
            visits,
            is_awaited: false,
            leaving: None,
            started: 0,
            idle: None,
            owned_before: false,
            drain_until: Instant::ORIGIN,
            stalled_until: 0,
            unheard_until: 0,
            inbox: Vec::new(),
        }
    }

    pub(super) fn is_alive(&self) -> bool {
        self.process.is_some()
    }

    /// Whether nobody is here, nor will be.
    pub(super) fn is_free(&self) -> bool {
        !(self.is_alive() || self.is_awaited || self.visits)
    }

    pub(super) fn leaves_for_good(&self) -> bool {
        self.leaving == Some(Leaving::ForGood)
    }

    /// A new worker comes after it, unless it was asked to stop and leaves the place free.
    pub(super) fn will_be_replaced(&mut self) {
        self.leaving.get_or_insert(Leaving::ToBeReplaced);
    }

    /// Nobody comes after it.
    pub(super) fn leaves_a_free_place(&mut self) {
        self.leaving = Some(Leaving::ForGood);
    }

    /// Whether it can be asked to stop, and was not yet.
    pub(super) fn can_leave(&self, now: u64) -> bool {
        self.is_alive() && !self.visits && self.leaving.is_none() && self.stalled_until <= now
    }
}

impl<P: Process> Worker<P> {
    fn hear(&mut self, now: u64, attempt: AttemptId, result: Result<Reply, Failure>) {
        let now = self.clock.at(now);
        if let Some(process) = &mut self.process {
            process.answer(now, attempt, result);
        }
    }
}

impl<P: Program> World<P> {
    pub(super) fn start(&mut self, number: usize) {
        while self.workers.len() <= number {
            let timing = self.timing_of_a_worker();
            self.workers.push(Worker::new(timing, false));
        }
        self.workers[number].is_awaited = false;
        if self.workers[number].is_alive() {
            return;
        }
        let fastest = (self.scenario.faults.clock_rate * MILLION).min(MILLION / 2.0);
        let fast = from_f64(self.random.unit() * 2.0 * fastest).cast_signed()
            - from_f64(fastest).cast_signed();
        let origin = self.random.between(0, 1 << 50);
        let rebalance = match self.scenario.rebalancing {
            Rebalancing::All(rebalance) => rebalance,
            Rebalancing::Mixed if self.random.chance(0.5) => Rebalance::KeepServing,
            Rebalancing::Mixed => Rebalance::StandDown,
        };
        let now = self.now;
        let worker = &mut self.workers[number];
        worker.clock = WorkerClock::new(now, origin, fast);
        worker.life += 1;
        worker.started = now;
        worker.leaving = None;
        worker.idle = None;
        worker.owned_before = false;
        worker.drain_until = Instant::ORIGIN;
        worker.stalled_until = 0;
        worker.unheard_until = 0;
        worker.inbox.clear();
        let (timing, clock) = (worker.timing, worker.clock);
        worker.process = Some(self.program.start(number, timing, rebalance, clock, now));
        self.note(|| match rebalance {
            Rebalance::StandDown => format!("worker {number} starts"),
            Rebalance::KeepServing => format!("worker {number} starts, to keep serving"),
        });
        self.drain(number);
    }

    pub(super) fn timing_of_a_worker(&mut self) -> Timing {
        let timing = self.scenario.timing;
        if !self.scenario.faults.mixed_gaps {
            return timing;
        }
        // From a fifth of the configured gap to three times it, in equal shares by ratio.
        let gap = (timing.gap() / 5.0 * 15_f64.powf(self.random.unit())).min(0.45);
        Timing::new(timing.interval(), gap).unwrap_or(timing)
    }

    pub(super) fn wake(&mut self, number: usize) {
        let worker = &mut self.workers[number];
        if worker.stalled_until > self.now {
            self.agenda.wake_at(number, worker.stalled_until);
            return;
        }
        // Like the driver: what has arrived first, judged by the time it now is.
        let inbox = std::mem::take(&mut worker.inbox);
        let heard = !inbox.is_empty();
        for (attempt, result) in inbox {
            worker.hear(self.now, attempt, result);
        }
        self.tick(number, heard);
    }

    pub(super) fn answered(&mut self, line: Line, result: Result<Reply, Failure>) {
        let number = line.worker;
        let worker = &mut self.workers[number];
        if worker.life != line.life || !worker.is_alive() || worker.unheard_until > self.now {
            return;
        }
        if worker.stalled_until > self.now {
            worker.inbox.push((line.attempt, result));
            self.agenda.wake_by(number, worker.stalled_until);
            return;
        }
        worker.hear(self.now, line.attempt, result);
        self.tick(number, true);
    }

    /// Handles what is due, and does what the process says if it `heard` or did anything.
    fn tick(&mut self, number: usize, heard: bool) {
        let worker = &mut self.workers[number];
        let now = worker.clock.at(self.now);
        let Some(process) = &mut worker.process else { return };
        match process.deadline() {
            Some(deadline) if deadline <= now => process.run(now),
            // Woken for a deadline that has moved since, with nothing to say.
            Some(deadline) if !heard => {
                self.agenda.wake_at(number, worker.clock.when(deadline));
                return;
            }
            _ => {}
        }
        self.drain(number);
    }

    /// Does what the process says.
    fn drain(&mut self, number: usize) {
        while let Some(output) =
            self.workers[number].process.as_mut().and_then(Process::poll_output)
        {
            match output {
                Output::Register { attempt, not_after } => {
                    self.send(number, attempt, not_after);
                }
                Output::Yield(change) => self.changed(number, change),
                Output::Report(report) => self.note(|| format!("worker {number}: {report:?}")),
                _ => {}
            }
        }
        if !P::Process::IS_OBSERVED {
            let notes = self.workers[number].process.as_mut().map(Process::take_notes);
            for text in notes.into_iter().flatten() {
                self.note(|| format!("worker {number}: {text}"));
            }
        }
        let worker = &mut self.workers[number];
        let Some(process) = &mut worker.process else { return };
        if self.scenario.layout == Layout::Slots && process.takes_leave() {
            self.send_leave(number);
        }
        let worker = &mut self.workers[number];
        let Some(process) = &worker.process else { return };
        if process.has_panicked() {
            self.violate(Violation::Panicked { worker: number });
            return;
        }
        if process.is_done() {
            self.bury(number);
            return;
        }
        let clock = worker.clock;
        let (lease, deadline) = (process.lease(), process.deadline());
        if let Some(lease) = lease {
            worker.drain_until = lease.drain_until;
            let violation = self.claims.extend(number, self.now, clock.when(lease.ends));
            if let Some(violation) = violation {
                self.violate(violation);
            }
        }
        match deadline {
            Some(deadline) if deadline <= clock.at(self.now) => {
                self.violate(Violation::Deadline { worker: number });
            }
            Some(deadline) => self.agenda.wake_at(number, clock.when(deadline)),
            None => self.violate(Violation::Silent { worker: number }),
        }
    }

    fn send(&mut self, number: usize, attempt: AttemptId, not_after: Option<ServerTime>) {
        let worker = &self.workers[number];
        let (life, unheard) = (worker.life, worker.unheard_until > self.now);
        if unheard || self.meets(Fault::LostRequest, number) {
            return;
        }
        let request = Event::Request(Line { worker: number, life, attempt }, not_after);
        let time = self.now + self.delay(number);
        self.at(time, request);
        if self.meets(Fault::Duplicate, number) {
            let later = time + from_f64(1.5 * to_f64(self.interval()) * self.random.unit());
            self.at(later, request);
        }
    }

    fn send_leave(&mut self, number: usize) {
        let worker = &self.workers[number];
        let (life, unheard) = (worker.life, worker.unheard_until > self.now);
        if !(unheard || self.meets(Fault::LostRequest, number)) {
            let time = self.now + self.delay(number);
            self.at(time, Event::Release { worker: number, life });
        }
    }

    fn changed(&mut self, number: usize, change: Change) {
        let worker = &self.workers[number];
        let clock = worker.clock;
        // What the lease said before holds as well, should the change say less.
        let drain_until =
            change.drain_until.map_or(0, |until| clock.when(until.max(worker.drain_until)));
        self.end_claim(number, drain_until);
        self.end_idle(number);
        match change.owned {
            Ok(lease) => self.granted(number, lease),
            Err(reason) => {
                self.note(|| format!("worker {number} is idle: {reason}"));
                self.workers[number].idle = Some((self.now, reason));
            }
        }
    }

    fn granted(&mut self, number: usize, lease: Lease) {
        let worker = &mut self.workers[number];
        let claim = Claim {
            worker: number,
            life: worker.life,
            share: lease.share,
            stage: lease.stage,
            interval: worker.timing.interval(),
            from: self.now,
            until: worker.clock.when(lease.ends),
            drain_until: 0,
        };
        if !std::mem::replace(&mut worker.owned_before, true) {
            self.account.first_lease(self.now - worker.started);
        }
        self.note(|| format!("owns: {claim}"));
        if let Some(violation) = self.claims.grant(claim) {
            self.violate(violation);
        }
    }

    fn end_idle(&mut self, number: usize) {
        if let Some((since, reason)) = self.workers[number].idle.take() {
            self.account.idle(reason, self.now - since);
            let who = (number, self.workers[number].life);
            self.record(|recorder, now| recorder.idled(who, reason, since..now));
        }
    }

    /// Is asked to stop. If it has not come to its end after the grace, it vanishes.
    pub(super) fn leave(&mut self, number: usize, life: u32, leaving: Leaving) {
        let worker = &mut self.workers[number];
        // Within the grace it may have crashed.
        if worker.life != life || !worker.is_alive() {
            return;
        }
        if worker.leaving.is_some() {
            self.crash(number);
            return;
        }
        if worker.stalled_until > self.now {
            return;
        }
        let now = worker.clock.at(self.now);
        if let Some(process) = &mut worker.process {
            worker.leaving = Some(leaving);
            process.stop(now);
            self.drain(number);
            let end = self.now + GRACE * self.interval();
            if self.workers[number].is_alive() {
                self.at(end, Event::End { worker: number, life });
            }
        }
    }

    /// Vanishes.
    pub(super) fn crash(&mut self, number: usize) {
        self.end_claim(number, 0);
        self.bury(number);
    }

    fn bury(&mut self, number: usize) {
        self.settle_account(number);
        if self.workers[number].leaving.is_some() {
            self.replace(number);
        }
        self.workers[number].process = None;
        self.agenda.never_wake(number);
        self.note(|| format!("worker {number} is gone"));
    }

    fn end_claim(&mut self, number: usize, drain_until: u64) {
        if let Some(claim) = self.claims.end(number, self.now, drain_until) {
            self.account.served(&claim);
            self.record(|recorder, now| recorder.owned(&claim, now));
        }
    }

    /// Counts the time it lived, and what it owns to this moment.
    pub(super) fn settle_account(&mut self, number: usize) {
        if self.workers[number].is_alive() {
            self.account.lived(self.now - self.workers[number].started);
            self.end_idle(number);
            self.end_claim(number, 0);
        }
    }
}
