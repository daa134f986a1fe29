//! A worker: a real machine, a clock of its own and what its consumer was handed.

use n_and_i_core::{
    AttemptId, Change, Diagnostic, Instant, Machine, Output, Pair, ServerTime, Timing,
};

use crate::server::Answer;
use crate::setup::{BrokenRule, INTERVAL, Setup};

/// How far apart the workers' clocks are. Nobody may depend on them agreeing.
const CLOCKS_APART: u64 = 7_777_777_777;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Worker {
    pub(crate) machine: Machine,
    place: usize,
    /// The registration that was asked for and not yet sent.
    pub(crate) outgoing: Option<(AttemptId, Option<ServerTime>)>,
    /// What its consumer was handed last.
    handed: Option<Pair>,
    /// Until when, in true time, it handles nothing.
    pub(crate) stalled_until: Option<u64>,
    /// Whether it handled something at this moment.
    pub(crate) acted: bool,
    /// With rule 2 broken: the pair that the last reply implied, and until when, in true time.
    hasty: Option<(Pair, u64)>,
    /// With the reply anchor: how long the last reply took.
    took: u64,
    sent: u64,
}

/// A pair that was lost, and until when, in true time, work on it may still go on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Drain {
    pub(crate) pair: Pair,
    pub(crate) until: u64,
}

/// What one input led to.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) lost: Option<Drain>,
    /// The machine has a deadline in the past, or none though it is not stopped.
    pub(crate) silent: bool,
}

impl Worker {
    pub(crate) fn start(setup: &Setup, place: usize, now: u64) -> (Self, Outcome) {
        let mut worker = Self {
            machine: Machine::new(setup.timing(place), local(place, now)),
            place,
            outgoing: None,
            handed: None,
            stalled_until: None,
            acted: true,
            hasty: None,
            took: 0,
            sent: now,
        };
        let outcome = worker.drain(setup, now);
        (worker, outcome)
    }

    pub(crate) fn timing(&self) -> Timing {
        self.machine.timing()
    }

    /// When its machine wants to be woken, in true time.
    pub(crate) fn deadline(&self) -> Option<u64> {
        self.machine.poll_timeout().map(|deadline| self.when(deadline))
    }

    pub(crate) fn wake(&mut self, setup: &Setup, now: u64) -> Outcome {
        let stale = u64::from(setup.breaks(BrokenRule::StaleReading));
        self.machine.handle_timeout(local(self.place, now - stale));
        self.drain(setup, now)
    }

    pub(crate) fn hear(
        &mut self,
        setup: &Setup,
        now: u64,
        attempt: AttemptId,
        answer: Answer,
    ) -> Outcome {
        let reading = local(self.place, now);
        let accepted = match answer {
            Ok(reply) => self.machine.handle_reply(reading, attempt, reply),
            Err(failure) => self.machine.handle_failure(reading, attempt, failure),
        };
        // What was refused changed nothing: a deadline that is due is still to be handled.
        if accepted.is_err() {
            return Outcome::default();
        }
        if setup.breaks(BrokenRule::ReplyAnchor) {
            self.took = now - self.sent;
        }
        self.drain(setup, now)
    }

    pub(crate) fn stop(&mut self, setup: &Setup, now: u64) -> Outcome {
        self.machine.handle_stop(local(self.place, now));
        self.drain(setup, now)
    }

    /// What its consumer takes itself to own at this moment, by its own clock.
    pub(crate) fn owns(&self, setup: &Setup, now: u64) -> Option<Pair> {
        let lease = self.machine.lease().map(|lease| {
            let longer = match setup.broken {
                Some(BrokenRule::StretchedLease) => INTERVAL,
                Some(BrokenRule::IgnoreLeaseEnd) => u64::MAX / 2,
                Some(BrokenRule::ReplyAnchor) => self.took,
                _ => 0,
            };
            (lease.pair, self.when(lease.ends) + longer)
        });
        let (pair, ends) = lease.or(self.hasty)?;
        (now < ends).then_some(pair)
    }

    /// Does what the machine says.
    fn drain(&mut self, setup: &Setup, now: u64) -> Outcome {
        self.acted = true;
        let mut outcome = Outcome::default();
        while let Some(output) = self.machine.poll_output() {
            match output {
                Output::Register { attempt, not_after } => {
                    self.outgoing = Some((attempt, not_after));
                    if setup.breaks(BrokenRule::ReplyAnchor) {
                        self.sent = now;
                    }
                }
                Output::Yield(Change::Owned(lease)) => {
                    self.handed = Some(lease.pair);
                    self.hasty = None;
                }
                Output::Yield(Change::Idle(idle)) => {
                    let lost = self.handed.take().zip(idle.drain_until);
                    outcome.lost = lost.map(|(pair, until)| {
                        let longer = u64::from(setup.breaks(BrokenRule::LongDrain));
                        let longer = longer * INTERVAL / 2;
                        Drain { pair, until: self.when(until) + longer }
                    });
                }
                Output::Expire => self.hasty = None,
                Output::Report(report) => self.act_hastily(setup, report),
                _ => {}
            }
        }
        outcome.silent = match self.deadline() {
            Some(deadline) => deadline <= now,
            None => !self.machine.is_stopped(),
        };
        outcome
    }

    fn act_hastily(&mut self, setup: &Setup, report: Diagnostic) {
        if !setup.breaks(BrokenRule::ActOnDisagreement) {
            return;
        }
        match report {
            Diagnostic::PairDisagreed { pair, .. } => {
                self.hasty = self.deadline().map(|deadline| (pair, deadline));
            }
            Diagnostic::NoPairImplied { .. } => self.hasty = None,
            _ => {}
        }
    }

    /// The true time at which its clock shows this.
    fn when(&self, reading: Instant) -> u64 {
        reading.as_nanos() - CLOCKS_APART * as_u64(self.place)
    }
}

/// What the clock of the worker at this place shows.
fn local(place: usize, now: u64) -> Instant {
    Instant::from_nanos(now + CLOCKS_APART * as_u64(place))
}

pub(crate) fn as_u64(place: usize) -> u64 {
    u64::try_from(place).unwrap_or(u64::MAX)
}
