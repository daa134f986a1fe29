//! The event loop: true time, and everything that happens in it.

mod faults;
mod membership;
mod worker;

use std::fmt::Write as _;

use n_and_i::{Layout, WorkerId};
use n_and_i_core::{AttemptId, Failure, Reply, ServerTime};

use crate::account::Account;
use crate::agenda::{Agenda, Due};
use crate::claims::{Claims, Violation};
use crate::faults::Fault;
use crate::nanos::{from_f64, to_f64};
use crate::plan::Planned;
use crate::process::{Process, Program};
use crate::random::Random;
use crate::scenario::{Outcome, Scenario};
use crate::server::Server;
use crate::timeline::Recorder;
use faults::Ambush;
use worker::{Leaving, Worker};

/// How many intervals the first settling takes, which shares served do not count.
const SETTLING: u64 = 5;

/// What happens at one moment, wake-ups of workers aside.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A request reaches the server.
    Request(Line, Option<ServerTime>),
    /// A worker that left in order gives its index back.
    Release {
        worker: usize,
        life: u32,
    },
    /// An answer reaches the worker.
    Answer(Line, Result<Reply, Failure>),
    /// A worker begins at this place.
    Start {
        worker: usize,
    },
    /// The worker at this place leaves. `life` tells it from the one before it.
    End {
        worker: usize,
        life: u32,
    },
    /// A kind of fault happens, in the storm of this number.
    Fault(Fault, u64),
    /// The server goes on, unless it was stopped again meanwhile.
    Resume,
    /// A worker that knows only the counters registers.
    Foreign,
    /// The storm begins, or ends.
    Storm,
    Peace,
    /// The time of peace is over: everything must be owned.
    Inspect,
    /// Membership changes by plan.
    Planned,
}

/// What a message belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(super) worker: usize,
    /// Tells the worker from the one before it at its place.
    pub(super) life: u32,
    pub(super) attempt: AttemptId,
}

pub(crate) struct World<P: Program> {
    pub(super) program: P,
    pub(super) scenario: Scenario,
    seed: u64,
    pub(super) now: u64,
    pub(super) agenda: Agenda<Event>,
    pub(super) random: Random,
    pub(super) server: Server,
    pub(super) workers: Vec<Worker<P::Process>>,
    pub(super) claims: Claims,
    pub(super) storming: bool,
    /// What waits for the right moment.
    pub(super) ambush: Ambush,
    storms: u64,
    peaces: u64,
    /// How often membership changed by plan.
    changes: u64,
    unsettled: u64,
    violation: Option<Violation>,
    pub(super) happened: Vec<u64>,
    pub(super) account: Account,
    trace: Option<String>,
    recorder: Option<Recorder>,
}

impl<P: Program> World<P> {
    pub(crate) fn new(program: P, scenario: &Scenario, seed: u64, trace: bool) -> Self {
        let mut random = Random::new(seed);
        let phase = i64::try_from(random.between(0, 1 << 40)).unwrap_or(0);
        let keep_snapshots = scenario.faults.rate(Fault::Rollback) > 0.0;
        let mut world = Self {
            program,
            scenario: scenario.clone(),
            seed,
            now: 0,
            agenda: Agenda::new(),
            random,
            server: Server::new(scenario.layout, phase, keep_snapshots),
            workers: Vec::new(),
            claims: Claims::default(),
            storming: false,
            ambush: Ambush::default(),
            storms: 0,
            peaces: 0,
            changes: 0,
            unsettled: 0,
            violation: None,
            happened: vec![0; Fault::ALL.len()],
            account: Account::new(interval_of(scenario), scenario.mapping),
            trace: trace.then(String::new),
            recorder: None,
        };
        world.recorder = scenario
            .timeline
            .clone()
            .map(|intervals| Recorder::new(intervals, world.interval(), world.server.ahead()));
        for worker in 0..scenario.workers {
            let start = world.random.between(0, world.interval());
            world.at(start, Event::Start { worker });
        }
        for _ in 0..scenario.faults.foreign {
            let phase = world.random.between(0, world.interval());
            world.at(phase, Event::Foreign);
        }
        let first = world.first_peace();
        world.at(first, Event::Inspect);
        world
    }

    pub(crate) fn run(mut self) -> Outcome {
        let end = self.scenario.intervals * self.interval();
        while let Some((time, due)) = self.agenda.next(end) {
            self.now = time;
            self.program.at(time);
            match due {
                Due::Wake(worker) => self.wake(worker),
                Due::Event(event) => self.handle(event),
            }
            if self.violation.is_some() {
                break;
            }
        }
        if self.violation.is_none() {
            // The last event may be long past, and the interval that it was in is not over with it.
            self.now = end;
        }
        for worker in 0..self.workers.len() {
            self.settle_account(worker);
        }
        // Whole intervals; a plan may begin within one.
        let begin = self.first_peace().div_ceil(self.interval());
        let skipped = self.scenario.schedule.map_or(SETTLING, |_| begin);
        let (served_mean, served_min) = self.account.share(self.now, skipped);
        let happened = self.happened.iter().zip(Fault::ALL).filter(|(count, _)| **count > 0);
        let done = self.scenario.schedule.is_some_and(|it| it.change(self.changes).is_none());
        // After the last change of a plan nothing else is to come.
        let rest = (done && self.violation.is_none()).then_some(self.now);
        let timeline = self.recorder.map(|it| it.finish(self.now, self.scenario.mapping));
        Outcome {
            seed: self.seed,
            violation: self.violation,
            intervals: to_f64(self.now) / to_f64(interval_of(&self.scenario)),
            peaces: self.peaces,
            unsettled: self.unsettled,
            worker_intervals: self.account.worker_intervals(),
            registrations: self.server.counted,
            faults: happened.map(|(count, fault)| (*fault, *count)).collect(),
            served_mean,
            served_min,
            changes: self.changes,
            lost_per_restart: self.account.lost_per(Planned::Restart, rest),
            lost_per_join: self.account.lost_per(Planned::Join, rest),
            lost_per_leave: self.account.lost_per(Planned::Leave, rest),
            lost_per_crash: self.account.lost_per(Planned::Crash, rest),
            first_lease: self.account.first_lease_wait(),
            idle: self.account.idle_by_reason(),
            trace: self.trace.unwrap_or_default(),
            timeline,
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Request(line, not_after) => self.arrive(line, not_after),
            Event::Release { worker, life } => self.released(worker, life),
            Event::Answer(line, result) => self.answered(line, result),
            Event::Start { worker } => self.start(worker),
            Event::End { worker, life } => self.leave(worker, life, Leaving::ForGood),
            Event::Fault(fault, storm) => {
                if self.storming && storm == self.storms {
                    self.happen(fault);
                    self.plan(fault);
                }
            }
            Event::Resume => {
                if self.now >= self.server.stopped_until {
                    for event in std::mem::take(&mut self.server.unread) {
                        self.handle(event);
                    }
                }
            }
            Event::Foreign => {
                let timing = self.scenario.timing;
                self.server.increment(self.now, timing);
                let next = self.now + self.interval();
                self.at(next, Event::Foreign);
            }
            Event::Storm => {
                self.storming = true;
                self.storms += 1;
                self.note(|| "a storm begins".into());
                for fault in self.scenario.faults.clone().kinds() {
                    self.plan(fault);
                }
                if self.scenario.schedule.is_none() {
                    let end = self.now + self.scenario.storm * self.interval();
                    self.at(end, Event::Peace);
                }
            }
            Event::Peace => {
                self.storming = false;
                self.note(|| "peace begins".into());
                self.calm_down();
                let end = self.now + self.scenario.peace * self.interval();
                self.at(end, Event::Inspect);
            }
            Event::Inspect => {
                self.inspect();
                let now = self.now;
                self.at(now, Event::Storm);
                self.plan_change();
            }
            Event::Planned => {
                self.change_membership();
                self.plan_change();
            }
        }
    }

    /// When the next fault of this kind happens, if it is not one of messages.
    fn plan(&mut self, fault: Fault) {
        if fault.is_of_messages() {
            return;
        }
        let mean = to_f64(self.interval()) / self.scenario.faults.rate(fault);
        let time = self.now + from_f64(self.random.exponential(mean));
        self.at(time, Event::Fault(fault, self.storms));
    }

    /// A request is at the server.
    fn arrive(&mut self, line: Line, not_after: Option<ServerTime>) {
        if self.now < self.server.stopped_until {
            self.server.unread.push(Event::Request(line, not_after));
            return;
        }
        let result = if self.now < self.server.refuses_until {
            Err(Failure::NotExecuted)
        } else {
            let timing = self.workers[line.worker].timing;
            let at = self.server.time(self.now);
            let id = id_of(line.worker, line.life);
            self.server.register(self.now, timing, id, not_after).map_err(|refusal| match refusal {
                n_and_i::counters::Refusal::TooLate => Failure::TooLate { at },
                n_and_i::counters::Refusal::Gone => Failure::NotExecuted,
                n_and_i::counters::Refusal::Interval(millis) => {
                    Failure::IntervalMismatch { group: std::time::Duration::from_millis(millis) }
                }
            })
        };
        self.note(|| format!("worker {}: server answers {result:?}", line.worker));
        if result.is_ok() {
            self.record(|recorder, now| recorder.registered(line.worker, now));
        }
        self.ambush(line.worker, result.err());
        // If it is lost, the client learns that the connection broke.
        let lost = self.meets(Fault::LostReply, line.worker);
        let unknown = match self.scenario.layout {
            Layout::Slots => Failure::Repeatable,
            _ => Failure::Unknown,
        };
        let result = if lost { Err(unknown) } else { result };
        let time = self.now + self.delay(line.worker);
        self.at(time, Event::Answer(line, result));
    }

    /// A worker's last message is at the server.
    fn released(&mut self, worker: usize, life: u32) {
        if self.now < self.server.stopped_until {
            self.server.unread.push(Event::Release { worker, life });
        } else if self.now >= self.server.refuses_until {
            self.note(|| format!("worker {worker} gives its index back"));
            let timing = self.workers[worker].timing;
            self.server.release(self.now, timing, id_of(worker, life));
        }
    }

    /// How long one message of a worker or to it takes.
    pub(super) fn delay(&mut self, number: usize) -> u64 {
        let mean = to_f64(u64::try_from(self.scenario.delay.as_nanos()).unwrap_or(u64::MAX));
        let usual = from_f64(mean / 2.0 + self.random.exponential(mean / 2.0));
        if self.meets(Fault::SlowMessage, number) {
            // From a tenth of the gap to beyond an interval, in equal shares by order of magnitude.
            let longest = to_f64(self.interval()) * 1.2;
            usual + from_f64(longest * (-4.5 * self.random.unit()).exp())
        } else {
            usual
        }
    }

    fn inspect(&mut self) {
        if self.scenario.faults.foreign > 0 || !P::Process::IS_OBSERVED {
            return;
        }
        self.peaces += 1;
        let workers = self.workers.iter().filter(|worker| worker.is_alive()).count();
        let mut owned: Vec<_> = self.claims.live(self.now).map(|claim| claim.share).collect();
        owned.sort_unstable_by_key(|share| share.pair().i());
        let whole = owned.iter().zip(0..).all(|(share, i)| share.pair().i() == i);
        let agreed =
            owned.iter().all(|share| share.is_settled() && share.pair().n() as usize == workers);
        if !(whole && agreed && owned.len() == workers) {
            self.unsettled += 1;
            self.note(|| {
                format!("not settled: {} of {workers} workers own something", owned.len())
            });
            if !self.scenario.may_stay_unsettled {
                self.violate(Violation::NotSettled { owned: owned.len(), workers });
            }
        }
    }

    pub(super) fn violate(&mut self, violation: Violation) {
        self.note(|| format!("VIOLATION: {violation}"));
        self.violation.get_or_insert(violation);
    }

    pub(super) fn at(&mut self, time: u64, event: Event) {
        self.agenda.plan(time, event);
    }

    pub(super) fn interval(&self) -> u64 {
        interval_of(&self.scenario)
    }

    /// When the first time of peace ends, or the plan begins.
    fn first_peace(&self) -> u64 {
        let (peace, interval) = (self.scenario.peace, self.interval());
        match self.scenario.schedule {
            Some(schedule) => from_f64(schedule.begin(to_f64(peace)) * to_f64(interval)),
            None => peace * interval,
        }
    }

    /// For the timeline, if there is to be one.
    pub(super) fn record(&mut self, what: impl FnOnce(&mut Recorder, u64)) {
        if let Some(recorder) = &mut self.recorder {
            what(recorder, self.now);
        }
    }

    pub(super) fn note(&mut self, text: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            let (seconds, micros) = (self.now / 1_000_000_000, self.now / 1_000 % 1_000_000);
            // Writing to a string cannot fail.
            let _ = writeln!(trace, "{seconds:>7}.{micros:06} {}", text());
        }
    }
}

fn id_of(worker: usize, life: u32) -> WorkerId {
    WorkerId::from_u128(u128::from(life) << 64 | worker as u128)
}

fn interval_of(scenario: &Scenario) -> u64 {
    u64::try_from(scenario.timing.interval().as_nanos()).unwrap_or(u64::MAX)
}
