//! The rules, each named where it is applied.

use super::{Machine, NEVER};
use crate::clock::ServerClock;
use crate::outbox::Kind;
use crate::output::Reason;
use crate::registration::{AttemptId, Rejected, Reply};
use crate::share::{Pair, Share};
use crate::time::{Instant, NANOS_PER_MICRO, ServerTime};

impl Machine {
    /// Accepts an answer to the attempt in flight; rule 6: not to one that is over or overdue.
    pub(super) fn admit(&self, now: Instant, attempt: AttemptId) -> Result<u64, Rejected> {
        let now = now.as_nanos().max(self.sent);
        if self.in_flight() == Some(attempt) && now < self.give_up_at() {
            Ok(now)
        } else {
            Err(Rejected::NotInFlight { attempt })
        }
    }

    pub(super) fn begin(&mut self, now: u64) {
        self.attempts += 1;
        self.in_flight = true;
        self.sent = now;
        self.register_at = NEVER;
        self.outbox.push(Kind::Register);
    }

    /// The attempt in flight was answered, possibly before anybody asked what to send.
    pub(super) fn end_attempt(&mut self) {
        self.in_flight = false;
        self.outbox.cancel(Kind::Register);
        self.outbox.cancel(Kind::RegistrationFailed);
    }

    /// Rule 5: expiry is a clock matter.
    pub(super) fn expire_due(&mut self, now: u64) {
        if self.owned.is_some() && now >= self.lease_end {
            // Rule 3's cap comes before a slot that moved back because others joined: then no
            // registration was due yet, and nothing is wrong.
            if self.in_flight || self.failures > 0 || self.register_at < self.lease_end {
                self.report_expiry(now);
                self.lose(Reason::Expired);
            } else {
                self.lose(Reason::Rebalancing);
            }
        }
        if now >= self.expire_at {
            self.report_expiry(now);
            self.forget();
        }
    }

    fn report_expiry(&mut self, now: u64) {
        if let Some(clock) = self.clock
            && self.replied
            && !self.lapsed
        {
            self.lapsed = true;
            self.outbox.expired_interval = self.interval;
            self.outbox.expired_after = now.saturating_sub(clock.sent);
            self.outbox.push(Kind::LeaseExpired);
        }
    }

    /// Rule 9: a server clock that stepped costs everything held and two intervals.
    pub(super) fn synchronize(&mut self, received: u64, at: ServerTime) {
        let clock = ServerClock { sent: self.sent, received, at };
        self.outbox.set_skew(self.clock.map(|before| clock.skew_since(&before)));
        if self.clock.is_none() {
            // A step just before the first reply goes unseen. By then whoever owned anything
            // before it does so no longer, whatever its gap, and has drained.
            self.own_from =
                received.saturating_add(self.no_less_than(3 * self.timing.interval_nanos() / 2));
        }
        let tolerance = self.timing.gap_nanos() / 4;
        if self.clock.is_some_and(|before| clock.stepped_since(&before, tolerance)) {
            self.lose(Reason::ClockStepped);
            self.forget();
            self.own_from =
                self.own_from.max(received.saturating_add(2 * self.timing.interval_nanos()));
            self.outbox.push(Kind::ClockStepped);
        }
        self.clock = Some(clock);
    }

    /// Rule 10: who was refused because the group runs at another interval owns nothing until
    /// every lease of that group is over, also if the registry forgot the group meanwhile.
    /// Such a lease was granted before our registration, for less than 1.5 of their intervals.
    pub(super) fn wait_out_refusal(&mut self, now: u64) {
        if self.refused_by_millis != 0 {
            let theirs = u64::from(self.refused_by_millis) * 1_500_000;
            self.own_from = self.own_from.max(now.saturating_add(self.no_less_than(theirs)));
            self.refused_by_millis = 0;
        }
    }

    /// Rules 1 and 8: both numbers come from one closed interval in one incarnation.
    pub(super) fn pair_implied_by(&self, reply: &Reply) -> Option<Pair> {
        let held = self.held?;
        let follows = self.interval.checked_add(1) == Some(reply.interval);
        if follows && reply.previous_stamp == Some(held) {
            Pair::new(self.index, reply.replicas?)
        } else {
            None
        }
    }

    /// Rules 3 and 4: the next registration, counted from the reply; the end of what is held,
    /// counted from the request.
    pub(super) fn schedule(&mut self, received: u64, at: ServerTime) {
        let gap = self.timing.gap_nanos();
        let until_slot = if self.replicas == 0 {
            self.timing.interval_nanos()
        } else {
            self.timing.nanos_to_next(at) + self.timing.slot_nanos(self.index, self.replicas)
        };
        self.register_at = received.saturating_add(until_slot);
        self.expire_at = self.sent.saturating_add(until_slot + gap);
    }

    /// Owns this share from now on, which may be the one it owns already.
    pub(super) fn own(&mut self, share: Share, at: ServerTime, lease_end: u64) {
        match self.owned {
            // The same, or the same two pairs the other way round.
            Some(owned) if share.covers(owned) && owned.covers(share) => {}
            owned => {
                if let Some(owned) = owned {
                    self.release(owned, !share.covers(owned));
                }
                self.owned = Some(share);
                self.stage = self.interval;
                self.outbox.push(Kind::LeaseGranted);
                self.outbox.push(Kind::Yield);
            }
        }
        let to_stage_after_next = self.timing.nanos_to_next(at) + self.timing.interval_nanos();
        self.drain_until = self.sent.saturating_add(to_stage_after_next.min(self.longest_drain()));
        self.lease_end = lease_end;
    }

    pub(super) fn lose(&mut self, reason: Reason) {
        if let Some(owned) = self.owned.take() {
            self.lease_end = NEVER;
            self.outbox.reason = reason;
            self.release(owned, true);
            self.outbox.push(Kind::Yield);
        }
    }

    /// Gives back what is owned. What the consumer was told of last is lost with the first
    /// change that loses anything, also if it does not hear of that one before the next.
    fn release(&mut self, owned: Share, loses: bool) {
        if !self.outbox.is_pending(Kind::Yield) {
            self.outbox.drain_until = 0;
        }
        if loses && self.outbox.drain_until == 0 {
            self.outbox.drain_until = self.drain_until;
        }
        self.outbox.released = Some(owned);
        self.outbox.push(Kind::LeaseReleased);
    }

    pub(super) fn forget(&mut self) {
        self.lose(Reason::Expired);
        self.held = None;
        self.expire_at = NEVER;
        self.outbox.push(Kind::Expire);
    }

    /// Rule 7: `T/8 · 2^(attempt - 1)`, at most `T`.
    pub(super) fn back_off(&mut self, now: u64) {
        let length = self.timing.interval_nanos();
        let doublings = self.failures.saturating_sub(1).min(3);
        self.register_at = now.saturating_add((length / 8) << doublings);
    }

    /// Rule 7: after an unknown outcome, the slot in the next interval. An interval later
    /// than the request as long as the server's time or the group's size is unknown.
    pub(super) fn slot_in_next_interval(&self, now: u64) -> u64 {
        let length = self.timing.interval_nanos();
        match self.clock {
            Some(clock) if self.replicas != 0 => {
                // In the interval after the latest that it may be now; at its slot by the earliest
                // that it may be then.
                let latest = clock.latest_at(now);
                let ahead = (latest.as_micros() - clock.at.as_micros()) * NANOS_PER_MICRO;
                let slot = self.timing.slot_nanos(self.index, self.replicas);
                let until_slot = ahead + self.timing.nanos_to_next(latest) + slot;
                clock.received.saturating_add(until_slot)
            }
            _ => now.saturating_add(length),
        }
    }

    /// Rule 3: `(1 + g) · T` in plain local time, and no longer than work may be finished.
    pub(super) fn longest_lease(&self) -> u64 {
        let plain = self.timing.interval_nanos() + self.timing.gap_nanos();
        plain.min(self.longest_drain())
    }

    /// Less than `1.5 · T` for whoever waits [`no_less_than`](Self::no_less_than) that.
    fn longest_drain(&self) -> u64 {
        let span = 3 * self.timing.interval_nanos() / 2;
        span - self.timing.drift_nanos(span)
    }

    /// A span of the server's clock that has passed for sure when this much of the local one has.
    fn no_less_than(&self, span: u64) -> u64 {
        span + self.timing.drift_nanos(span)
    }

    pub(super) fn give_up_at(&self) -> u64 {
        self.sent.saturating_add(self.timing.interval_nanos())
    }

    pub(super) fn timeout(&self) -> u64 {
        if self.stopped {
            return NEVER;
        }
        let next = if self.in_flight { self.give_up_at() } else { self.register_at };
        next.min(self.expire_at).min(self.lease_end)
    }

    pub(super) fn report_schedule(&mut self, now: u64) {
        self.outbox.reported_at = now;
        self.outbox.push(Kind::RegistrationScheduled);
    }
}
