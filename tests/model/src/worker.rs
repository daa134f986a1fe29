//! A worker: a real machine, a clock of its own and what its consumer was handed.

use n_and_i::WorkerId;
use n_and_i_core::{
    AttemptId, Change, Diagnostic, Instant, Lease, Machine, Output, Pair, ServerTime, Share, Timing,
};

use crate::server::Answer;
use crate::setup::{BrokenRule, INTERVAL, Setup};

/// How far apart the workers' clocks are. Nobody may depend on them agreeing.
const CLOCKS_APART: u64 = 7_777_777_777;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Worker {
    pub(crate) machine: Machine,
    /// Tells it from all others, also from those before it at its place.
    pub(crate) id: WorkerId,
    place: usize,
    /// The registration that was asked for and not yet sent.
    pub(crate) outgoing: Option<(AttemptId, Option<ServerTime>)>,
    /// What its consumer was handed last.
    handed: Option<Fence>,
    /// Until when, in true time, it handles nothing.
    pub(crate) stalled_until: Option<u64>,
    /// Whether it handled something at this moment.
    pub(crate) acted: bool,
    /// With rule 2 broken: the pair that the last reply implied, and until when, in true time.
    hasty: Option<(Pair, u64)>,
    /// With the reply anchor: how long the last reply took.
    took: u64,
    sent: u64,
    /// With stale tokens: the token of its first lease.
    first_token: Option<u64>,
}

/// A share that was lost at least in part, and until when, in true time, work on it may still go on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Drain {
    pub(crate) share: Share,
    pub(crate) until: u64,
}

/// A share that was handed out, under this token.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Fence {
    pub(crate) share: Share,
    pub(crate) token: u64,
}

/// What one input led to.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) lost: Option<Drain>,
    /// What was handed out before, if that changed.
    pub(crate) past: Option<Fence>,
    /// The machine has a deadline in the past, or none though it is not stopped.
    pub(crate) silent: bool,
}

impl Worker {
    pub(crate) fn start(setup: &Setup, place: usize, now: u64) -> (Self, Outcome) {
        let mut worker = Self {
            machine: Machine::new(setup.timing(place), local(place, now))
                .with_rebalance(setup.modes[place]),
            id: WorkerId::from_u128(u128::from(now) << 8 | place as u128),
            place,
            outgoing: None,
            handed: None,
            stalled_until: None,
            acted: true,
            hasty: None,
            took: 0,
            sent: now,
            first_token: None,
        };
        let outcome = worker.drain(setup, now, None);
        (worker, outcome)
    }

    pub(crate) fn timing(&self) -> Timing {
        self.machine.timing()
    }

    /// When its machine wants to be woken, in true time.
    pub(crate) fn deadline(&self) -> Option<u64> {
        self.machine.poll_timeout().map(|deadline| self.when(deadline))
    }

    /// What its consumer was handed last.
    pub(crate) fn handed(&self) -> Option<Fence> {
        self.handed
    }

    pub(crate) fn wake(&mut self, setup: &Setup, now: u64) -> Outcome {
        let before = self.machine.lease();
        let stale = u64::from(setup.breaks(BrokenRule::StaleReading));
        self.machine.handle_timeout(local(self.place, now - stale));
        self.drain(setup, now, before)
    }

    pub(crate) fn hear(
        &mut self,
        setup: &Setup,
        now: u64,
        attempt: AttemptId,
        answer: Answer,
    ) -> Outcome {
        let before = self.machine.lease();
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
        self.drain(setup, now, before)
    }

    pub(crate) fn stop(&mut self, setup: &Setup, now: u64) -> Outcome {
        let before = self.machine.lease();
        self.machine.handle_stop(local(self.place, now));
        self.drain(setup, now, before)
    }

    /// What its consumer takes itself to own at this moment, by its own clock.
    pub(crate) fn owns(&self, setup: &Setup, now: u64) -> Option<Share> {
        let lease = self.machine.lease().map(|lease| {
            let longer = match setup.broken {
                Some(BrokenRule::StretchedLease) => INTERVAL,
                Some(BrokenRule::IgnoreLeaseEnd) => u64::MAX / 2,
                Some(BrokenRule::ReplyAnchor) => self.took,
                _ => 0,
            };
            (served(setup, lease.share), self.when(lease.ends) + longer)
        });
        let hasty = || self.hasty.map(|(pair, ends)| (Share::of(pair), ends));
        let (share, ends) = lease.or_else(hasty)?;
        (now < ends).then_some(share)
    }

    /// Does what the machine says, which owned this `before`.
    fn drain(&mut self, setup: &Setup, now: u64, before: Option<Lease>) -> Outcome {
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
                Output::Yield(change) => self.change(setup, change, before, &mut outcome),
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

    /// Its consumer is handed this in place of what was owned `before`.
    fn change(
        &mut self,
        setup: &Setup,
        change: Change,
        before: Option<Lease>,
        outcome: &mut Outcome,
    ) {
        if setup.breaks(BrokenRule::StaleToken) {
            self.first_token = self.first_token.or(self.handed.map(|handed| handed.token));
        }
        let handed = change.owned.ok().map(|lease| {
            self.hasty = None;
            let token = self.first_token.unwrap_or(lease.stage);
            Fence { share: served(setup, lease.share), token }
        });
        outcome.past = std::mem::replace(&mut self.handed, handed);
        // What the lease said before holds as well, should the change say less.
        let until =
            change.drain_until.map(|until| before.map_or(until, |it| until.max(it.drain_until)));
        outcome.lost = outcome.past.zip(until).map(|(past, until)| {
            let longer = u64::from(setup.breaks(BrokenRule::LongDrain)) * INTERVAL / 2;
            Drain { share: past.share, until: self.when(until) + longer }
        });
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

/// What the consumer makes of a share.
fn served(setup: &Setup, share: Share) -> Share {
    match setup.broken {
        Some(BrokenRule::ServeNewest) => Share::of(share.pair()),
        Some(BrokenRule::ServePrevious) => Share::of(share.previous().unwrap_or(share.pair())),
        _ => share,
    }
}

/// What the clock of the worker at this place shows.
fn local(place: usize, now: u64) -> Instant {
    Instant::from_nanos(now + CLOCKS_APART * as_u64(place))
}

pub(crate) fn as_u64(place: usize) -> u64 {
    u64::try_from(place).unwrap_or(u64::MAX)
}
