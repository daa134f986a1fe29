//! An embedder that runs a machine against random inputs and watches it.

use std::time::Duration;

use n_and_i_core::{
    AttemptId, Change, Diagnostic, Instant, Lease, Machine, Output, Rebalance, Rejected, Reply,
    ServerTime, Stamp, Timing,
};

use crate::inputs::{Answer, Input, Nonsense, PreviousStamp, Step, Wait};

/// The server's time, in microseconds, at the origin of the worker's clock.
const SERVER_ORIGIN: u64 = 1_700_000_000_000_000;

/// When outputs are drained, and with it what can be checked.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Draining {
    /// After each input.
    Always,
    /// When the test says so.
    Sometimes,
    Never,
    /// After each input, but where deadlines saturate nothing more than the absence of panics
    /// is promised.
    Unchecked,
}

#[derive(Clone, Debug)]
pub(crate) struct Embedder {
    pub(crate) machine: Machine,
    pub(crate) now: Instant,
    /// When the latest registration was asked for.
    pub(crate) sent: Instant,
    pub(crate) not_after: Option<ServerTime>,
    /// Every change that was yielded.
    pub(crate) changes: Vec<Change>,
    /// How often everything held was declared void.
    pub(crate) expiries: usize,
    /// Every reply that was accepted.
    pub(crate) answered: Vec<Reply>,
    /// How often it was reported that a lease, or what could have become one, ran out.
    pub(crate) lapses: usize,
    draining: Draining,
    /// The lease after the latest input.
    lease: Option<Lease>,
    attempts: Vec<AttemptId>,
    scheduled: Option<Instant>,
    server_step: i64,
}

impl Embedder {
    pub(crate) fn new(group: (Timing, Rebalance), start: Instant, draining: Draining) -> Self {
        let machine = Machine::new(group.0, start).with_rebalance(group.1);
        let mut embedder = Self {
            machine,
            now: start,
            sent: start,
            not_after: None,
            changes: Vec::new(),
            expiries: 0,
            answered: Vec::new(),
            lapses: 0,
            draining,
            lease: None,
            attempts: Vec::new(),
            scheduled: None,
            server_step: 0,
        };
        embedder.settle();
        embedder
    }

    // ---- inputs ----

    pub(crate) fn take(&mut self, step: Step) {
        let mut now = self.after(step.wait);
        if !matches!(step.wait, Wait::Back(_)) {
            now = now.max(self.now);
        }
        if self.draining == Draining::Always {
            self.check_spurious_timeouts(now);
        }
        self.server_step += step.server_jump * self.thousandth_micros();
        match step.input {
            Input::Timeout => self.handle_timeout(now),
            Input::Reply(answer) => {
                let (attempt, reply) = self.reply(now, answer);
                let before = self.machine.clone();
                let result = self.machine.handle_reply(now, attempt, reply);
                self.judge(now, attempt, &before, result);
                if result.is_ok() {
                    self.answered.push(reply);
                    self.check_lease(before.lease());
                }
            }
            Input::Failure(failure) => {
                let attempt = self.latest_attempt();
                let before = self.machine.clone();
                let result = self.machine.handle_failure(now, attempt, failure);
                self.judge(now, attempt, &before, result);
            }
            Input::Stop => {
                let before = self.machine.clone();
                self.machine.handle_stop(now);
                if before.is_stopped() {
                    assert_eq!(self.machine, before, "stopped already");
                }
                assert!(self.machine.is_stopped());
                assert_eq!(self.machine.poll_timeout(), None);
                self.handled(now);
            }
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        let before = self.machine.clone();
        self.machine.handle_timeout(now);
        if before.is_stopped() || before.poll_timeout().is_some_and(|deadline| now < deadline) {
            assert_eq!(self.machine, before, "a wake-up at {now:?} for nothing");
        }
        self.handled(now);
    }

    /// Handles every deadline up to this time when it is due.
    pub(crate) fn sleep_until(&mut self, until: Instant) {
        while let Some(deadline) = self.machine.poll_timeout()
            && deadline <= until
        {
            self.handle_timeout(deadline);
        }
        self.now = self.now.max(until);
    }

    /// Handles every deadline until a registration is in flight, if ever one will be.
    pub(crate) fn sleep_until_in_flight(&mut self) {
        // The registration that is overdue, the end of a lease, that of what is held and the
        // next registration: there are no more deadlines on the way.
        for _ in 0..5 {
            match self.machine.poll_timeout() {
                Some(deadline) if deadline <= self.now || self.machine.in_flight().is_none() => {
                    self.handle_timeout(deadline.max(self.now));
                }
                _ => return,
            }
        }
        panic!("does not register");
    }

    pub(crate) fn drain(&mut self) {
        let mut rank = 0;
        let mut drained = 0;
        while let Some(output) = self.machine.poll_output() {
            drained += 1;
            assert!(drained <= MOST_OUTPUTS, "more outputs than kinds of them");
            let next = rank_of(output);
            assert!(next > rank || next == rank && rank == REPORT, "out of order: {output:?}");
            rank = next;
            match output {
                Output::Expire => self.expiries += 1,
                Output::Report(Diagnostic::LeaseExpired { .. }) => self.lapses += 1,
                Output::Yield(change) => self.changed(change),
                Output::Register { attempt, not_after } => {
                    if self.draining == Draining::Always {
                        assert_eq!(self.machine.in_flight(), Some(attempt));
                    }
                    self.not_after = not_after;
                }
                Output::ScheduleAt(deadline) => self.scheduled = Some(deadline),
                _ => {}
            }
        }
    }

    // ---- what came of it ----

    /// Whether the consumer, going by the changes it was handed, owns something.
    pub(crate) fn owns(&self) -> bool {
        self.changes.last().is_some_and(|change| change.owned.is_ok())
    }

    /// When the embedder, going by what it was told, wakes the machine again.
    pub(crate) fn scheduled(&self) -> Option<Instant> {
        self.scheduled.filter(|_| !self.machine.is_stopped())
    }

    pub(crate) fn server_time(&self) -> ServerTime {
        self.server_time_at(self.now)
    }

    pub(crate) fn server_time_at(&self, local: Instant) -> ServerTime {
        let unstepped = SERVER_ORIGIN + local.as_nanos() / 1_000;
        ServerTime::from_micros(unstepped.saturating_add_signed(self.server_step))
    }

    /// The time after this wait.
    pub(crate) fn after(&mut self, wait: Wait) -> Instant {
        let interval = self.machine.timing().interval();
        match wait {
            Wait::Nothing => self.now,
            Wait::Back(nanos) => Instant::from_nanos(self.now.as_nanos().saturating_sub(nanos)),
            Wait::Nanos(nanos) => Instant::from_nanos(self.now.as_nanos().saturating_add(nanos)),
            Wait::Thousandths(parts) => self.now.saturating_add(interval * parts / 1_000),
            Wait::Deadline(nanos) => self.machine.poll_timeout().map_or(self.now, |deadline| {
                Instant::from_nanos(deadline.as_nanos().saturating_add_signed(nanos))
            }),
            Wait::Request(parts, nanos) => {
                self.sleep_until_in_flight();
                self.sent.saturating_add(interval * parts / 1_000 + Duration::from_nanos(nanos))
            }
        }
    }

    fn reply(&self, now: Instant, answer: Answer) -> (AttemptId, Reply) {
        let attempt = self.attempts[self.attempts.len().saturating_sub(1 + answer.attempts_ago)];
        let round_trip = now.saturating_duration_since(self.sent).as_nanos();
        let outward = u64::try_from(round_trip * u128::from(answer.counted) / 1_000);
        let counted = self.sent.as_nanos().saturating_add(outward.unwrap_or(u64::MAX));
        let mut at = self.server_time_at(Instant::from_nanos(counted));
        if let Nonsense::At(other) = answer.nonsense {
            at = other;
        }
        let mut interval = self.machine.timing().interval_at(at);
        if let Nonsense::Interval(other) = answer.nonsense {
            interval = other;
        }
        let stamp = |interval: u64| Stamp::from_u128(u128::from(interval));
        let previous_stamp = match answer.previous_stamp {
            PreviousStamp::Same => Some(stamp(interval.saturating_sub(1))),
            PreviousStamp::Another => Some(Stamp::from_u128(u128::MAX)),
            PreviousStamp::Unknown => None,
        };
        let Answer { index, replicas, .. } = answer;
        let stamp = stamp(interval);
        (attempt, Reply { interval, index, replicas, at, stamp, previous_stamp })
    }

    fn latest_attempt(&self) -> AttemptId {
        *self.attempts.last().expect("a machine registers at once")
    }

    fn thousandth_micros(&self) -> i64 {
        i64::try_from(self.machine.timing().interval().as_millis()).expect("49 days fit")
    }

    // ---- checks ----

    /// After an answer: it was refused exactly if the attempt was over, and then changed nothing.
    fn judge(
        &mut self,
        now: Instant,
        attempt: AttemptId,
        before: &Machine,
        result: Result<(), Rejected>,
    ) {
        if result.is_err() {
            assert_eq!(&self.machine, before, "refused, but changed");
            self.now = now;
        } else {
            assert_eq!(before.in_flight(), Some(attempt));
            assert_eq!(self.machine.in_flight(), None);
            self.handled(now);
        }
    }

    /// After an input that was accepted.
    fn handled(&mut self, now: Instant) {
        self.now = now;
        self.settle();
        if self.draining == Draining::Unchecked {
            return;
        }
        let timeout = self.machine.poll_timeout();
        assert_eq!(timeout.is_none(), self.machine.is_stopped());
        assert!(timeout.is_none_or(|timeout| timeout > now), "{timeout:?} was due at {now:?}");
        assert!(self.machine.lease().is_none_or(|lease| lease.ends > now));
        if self.draining == Draining::Always {
            assert_eq!(self.scheduled(), timeout);
            assert_eq!(self.owns(), self.machine.lease().is_some());
        }
    }

    /// Notes the registration that was asked for, and drains.
    fn settle(&mut self) {
        if let Some(attempt) = self.machine.in_flight()
            && self.attempts.last() != Some(&attempt)
        {
            self.attempts.push(attempt);
            self.sent = self.now;
        }
        if matches!(self.draining, Draining::Always | Draining::Unchecked) {
            self.drain();
        }
        self.lease = self.machine.lease();
    }

    fn changed(&mut self, change: Change) {
        let last = self.changes.last().copied();
        self.changes.push(change);
        if self.draining != Draining::Always {
            return;
        }
        let before = last.map(|change| change.owned);
        match (before, change.owned) {
            (Some(Err(before)), Err(now)) => panic!("idle twice: {before}, {now}"),
            // Another share, unless the lease ran out unnoticed: nobody woke the machine at its end.
            (Some(Ok(before)), Ok(now)) => {
                assert!(before.stage < now.stage, "owned twice: {before:?}, {now:?}");
                let lapsed = self.lease.is_some_and(|lease| lease.ends <= self.now);
                assert!(lapsed || before.share != now.share, "owned twice: {before:?}, {now:?}");
                // What is lost has a window, also if some of it is kept.
                let kept = now.share.pair();
                let grown = now.share.is_settled()
                    && (before.share.pair() == kept || before.share.previous() == Some(kept));
                assert_eq!(change.drain_until.is_none(), grown && !lapsed, "{before:?}, {now:?}");
            }
            (Some(Ok(_)), Err(_)) => assert!(change.drain_until.is_some(), "{change:?}"),
            (None | Some(Err(_)), _) => assert_eq!(change.drain_until, None, "{change:?}"),
        }
    }

    /// Rule 3, after a reply.
    fn check_lease(&self, before: Option<Lease>) {
        let Some(lease) = self.machine.lease() else { return };
        if before.is_none_or(|before| before.ends != lease.ends) {
            let timing = self.machine.timing();
            let cap = self.sent.saturating_add(timing.interval() + timing.gap_length());
            assert!(lease.ends <= cap, "{lease:?} lasts longer than {cap:?}");
        }
    }

    /// Wake-ups before the deadline change nothing and say nothing.
    fn check_spurious_timeouts(&self, now: Instant) {
        let mut machine = self.machine.clone();
        for early in [self.now, now] {
            if machine.poll_timeout().is_none_or(|deadline| early < deadline) {
                machine.handle_timeout(early);
                assert_eq!(machine.poll_output(), None);
                assert_eq!(machine, self.machine);
            }
        }
    }
}

/// One expiry, change, registration and deadline, and at most eight reports.
const MOST_OUTPUTS: usize = 12;

const REPORT: u8 = 2;

fn rank_of(output: Output) -> u8 {
    match output {
        Output::Expire => 1,
        Output::Report(_) => REPORT,
        Output::Yield(_) => 3,
        Output::Register { .. } => 4,
        Output::ScheduleAt(_) => 5,
        other => panic!("not in the documented order: {other:?}"),
    }
}
