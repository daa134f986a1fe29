//! The machine: state, inputs, outputs. Each rule is named where it is applied;
//! they are stated and argued for in `docs/protocol.md`.

mod outputs;
mod rules;

use crate::clock::ServerClock;
use crate::outbox::{Kind, Outbox};
use crate::output::{Lease, Output, Reason};
use crate::registration::{AttemptId, Failure, Rejected, Reply, Stamp};
use crate::share::{Pair, Rebalance, Share};
use crate::time::{Instant, ServerTime};
use crate::timing::Timing;

/// A deadline that is not set.
const NEVER: u64 = u64::MAX;

/// One worker's side of the protocol.
///
/// | kind | methods | |
/// |---|---|---|
/// | inputs | [`handle_reply`], [`handle_failure`], [`handle_timeout`], [`handle_stop`] | take the present reading of the worker's clock; readings must not decrease |
/// | outputs | [`poll_output`] | drain until `None` after every input |
/// | deadline | [`poll_timeout`] | when to call `handle_timeout` at the latest |
/// | getters | [`lease`], [`in_flight`], [`timing`], [`is_stopped`] | |
///
/// Inputs may be handled at any time, also before the outputs of earlier ones were drained:
/// a newer change or registration then replaces an older one, and of each kind of report the
/// newest is kept. Calling `handle_timeout` early, late or twice does no harm.
///
/// [`handle_reply`]: Machine::handle_reply
/// [`handle_failure`]: Machine::handle_failure
/// [`handle_timeout`]: Machine::handle_timeout
/// [`handle_stop`]: Machine::handle_stop
/// [`poll_output`]: Machine::poll_output
/// [`poll_timeout`]: Machine::poll_timeout
/// [`lease`]: Machine::lease
/// [`in_flight`]: Machine::in_flight
/// [`timing`]: Machine::timing
/// [`is_stopped`]: Machine::is_stopped
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not the states of one thing")]
pub struct Machine {
    timing: Timing,
    rebalance: Rebalance,
    outbox: Outbox,

    attempts: u64,
    in_flight: bool,
    stopped: bool,
    /// Whether the expiry of what is held was reported already.
    lapsed: bool,
    /// Failures in a row.
    failures: u32,
    /// The group's other interval length, if it refused ours since the last reply; else 0.
    refused_by_millis: u32,
    /// When the registration in flight, or else the latest one, was sent.
    sent: u64,

    /// Whether there ever was a reply.
    replied: bool,
    /// The last reply: interval and index, what it implied, and the stamp. Nothing but the
    /// numbers counts any more when it is not held.
    interval: u64,
    index: u32,
    replicas: u32,
    held: Option<Stamp>,
    implied: Option<Pair>,
    clock: Option<ServerClock>,

    /// What is owned; stage and drain deadline are those of the ownership.
    owned: Option<Share>,
    stage: u64,
    drain_until: u64,
    /// Nothing is owned before.
    own_from: u64,

    register_at: u64,
    lease_end: u64,
    expire_at: u64,
    announced: u64,
}

impl Machine {
    /// A worker that starts now. It wants to register at once and yields that it is idle.
    pub fn new(timing: Timing, start: Instant) -> Self {
        let start = start.as_nanos();
        let mut machine = Self {
            timing,
            rebalance: Rebalance::StandDown,
            outbox: Outbox::new(),
            attempts: 0,
            in_flight: false,
            stopped: false,
            lapsed: false,
            failures: 0,
            refused_by_millis: 0,
            sent: start,
            replied: false,
            interval: 0,
            index: 0,
            replicas: 0,
            held: None,
            implied: None,
            clock: None,
            owned: None,
            stage: 0,
            drain_until: 0,
            own_from: 0,
            register_at: NEVER,
            lease_end: NEVER,
            expire_at: start.saturating_add(timing.interval_nanos() + timing.gap_nanos()),
            announced: NEVER,
        };
        machine.outbox.push(Kind::Yield);
        machine.begin(start);
        machine
    }

    /// With this way of going through a change of membership; [`Rebalance::StandDown`] unless set.
    #[must_use]
    pub const fn with_rebalance(mut self, rebalance: Rebalance) -> Self {
        self.rebalance = rebalance;
        self
    }

    // ---- getters ----

    /// The interval and the gap.
    pub const fn timing(&self) -> Timing {
        self.timing
    }

    /// The lease, if anything is owned. Its ends move with every renewal.
    pub fn lease(&self) -> Option<Lease> {
        Some(Lease {
            share: self.owned?,
            stage: self.stage,
            ends: Instant::from_nanos(self.lease_end),
            drain_until: Instant::from_nanos(self.drain_until),
        })
    }

    /// The registration that is waited for. Any other may be dropped.
    pub fn in_flight(&self) -> Option<AttemptId> {
        self.in_flight.then_some(AttemptId(self.attempts))
    }

    /// Whether the machine was stopped. It stays so.
    pub const fn is_stopped(&self) -> bool {
        self.stopped
    }

    // ---- inputs ----

    /// The registry answered a registration.
    ///
    /// `now` is read after the answer arrived. The time at which the request was sent is
    /// taken to be that of the input which asked for it.
    ///
    /// # Errors
    /// If the attempt is not in flight or the reply makes no sense. The machine is unchanged.
    pub fn handle_reply(
        &mut self,
        now: Instant,
        attempt: AttemptId,
        reply: Reply,
    ) -> Result<(), Rejected> {
        let now = self.admit(now, attempt)?;
        reply.check(self.timing).map_err(Rejected::InvalidReply)?;
        self.expire_due(now);
        self.end_attempt();
        self.failures = 0;
        self.lapsed = false;
        self.synchronize(now, reply.at);
        self.wait_out_refusal(now);

        let previous = self.implied.filter(|_| self.held.is_some());
        let pair = self.pair_implied_by(&reply);
        self.replied = true;
        self.interval = reply.interval;
        self.index = reply.index;
        self.replicas = reply.replicas.unwrap_or(0);
        self.held = Some(reply.stamp);
        self.schedule(now, reply.at);

        // Rule 2: two intervals must agree, or what both give is owned.
        let cap = self.sent.saturating_add(self.longest_lease());
        let lease_end = self.expire_at.min(cap);
        let both = pair.zip(previous).filter(|_| now >= self.own_from);
        match both.and_then(|(pair, previous)| self.rebalance.share(pair, previous)) {
            Some(share) => self.own(share, reply.at, lease_end),
            None => self.lose(Reason::Rebalancing),
        }
        self.implied = pair;

        self.outbox.previous = previous;
        self.outbox.push(Kind::RegistrationCompleted);
        self.outbox.push(Kind::Agreement);
        self.report_schedule(now);
        self.expire_due(now);
        Ok(())
    }

    /// A registration failed.
    ///
    /// # Errors
    /// If the attempt is not in flight. The machine is unchanged.
    pub fn handle_failure(
        &mut self,
        now: Instant,
        attempt: AttemptId,
        failure: Failure,
    ) -> Result<(), Rejected> {
        let now = self.admit(now, attempt)?;
        self.expire_due(now);
        self.end_attempt();
        self.failures = self.failures.saturating_add(1);
        match failure {
            Failure::Unknown => self.register_at = self.slot_in_next_interval(now),
            Failure::NotExecuted | Failure::Repeatable => self.back_off(now),
            Failure::TooLate { at } => {
                if at <= ServerTime::MAX {
                    self.synchronize(now, at);
                }
                self.back_off(now);
            }
            Failure::IntervalMismatch { group } => {
                let millis = u32::try_from(group.as_millis()).unwrap_or(u32::MAX);
                self.refused_by_millis = self.refused_by_millis.max(millis);
                self.back_off(now);
            }
        }
        self.outbox.gave_up = false;
        self.outbox.push(Kind::RegistrationFailed);
        self.report_schedule(now);
        Ok(())
    }

    /// Time passed. Does whatever is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.stopped {
            return;
        }
        let now = now.as_nanos();
        self.expire_due(now);
        if self.in_flight && now >= self.give_up_at() {
            // Rule 6: a registration that hangs is given up after one interval.
            self.failures = self.failures.saturating_add(1);
            self.outbox.gave_up = true;
            self.outbox.reported_at = now;
            self.outbox.push(Kind::RegistrationFailed);
            self.begin(now);
        } else if !self.in_flight && now >= self.register_at {
            self.begin(now);
        }
    }

    /// Stop for good: if anything is owned, it is given up with a last idle change. Nothing
    /// happens after that.
    pub fn handle_stop(&mut self, now: Instant) {
        if self.stopped {
            return;
        }
        self.expire_due(now.as_nanos());
        self.lose(Reason::Stopped);
        self.stopped = true;
        self.in_flight = false;
        self.held = None;
        self.register_at = NEVER;
        self.expire_at = NEVER;
        self.outbox.cancel(Kind::Register);
    }

    // ---- outputs ----

    /// The next thing to do, until `None`.
    #[must_use = "an output that is dropped is not done"]
    pub fn poll_output(&mut self) -> Option<Output> {
        while let Some(kind) = self.outbox.pop() {
            let output = self.output(kind);
            if output.is_some() {
                return output;
            }
        }
        let timeout = self.timeout();
        if timeout == self.announced {
            return None;
        }
        self.announced = timeout;
        (timeout != NEVER).then(|| Output::ScheduleAt(Instant::from_nanos(timeout)))
    }

    /// When to call [`Machine::handle_timeout`] at the latest; none once stopped.
    ///
    /// After an input at `t` this is later than `t`.
    #[must_use = "without a call at this time nothing happens"]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let timeout = self.timeout();
        (timeout != NEVER).then(|| Instant::from_nanos(timeout))
    }
}

const _: () = assert!(size_of::<Machine>() <= 256, "the machine outgrew its budget");
