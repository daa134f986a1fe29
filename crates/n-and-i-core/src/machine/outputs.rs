//! Outputs, made from the state at the moment they are taken.

use core::time::Duration;

use super::{Machine, NEVER};
use crate::outbox::{Kind, Yielded};
use crate::output::{Change, Diagnostic, Output};
use crate::registration::AttemptId;
use crate::time::Instant;

impl Machine {
    /// The output of this kind as the state has it now; none if it was overtaken.
    // Not inlined: in the loop around it, what the arms compute would be hoisted out and computed
    // for every output, whichever it is.
    #[inline(never)]
    pub(super) fn output(&mut self, kind: Kind) -> Option<Output> {
        let report = match kind {
            Kind::Expire => return Some(Output::Expire),
            Kind::Yield => return self.change().map(Output::Yield),
            Kind::Register => {
                let not_after = self.clock.map(|clock| clock.earliest_at(self.give_up_at()));
                return Some(Output::Register { attempt: AttemptId(self.attempts), not_after });
            }
            Kind::LeaseExpired => Diagnostic::LeaseExpired {
                interval: self.outbox.expired_interval,
                after: Duration::from_nanos(self.outbox.expired_after),
            },
            Kind::ClockStepped => Diagnostic::ClockStepped { by: self.outbox.skew()? },
            Kind::RegistrationCompleted => Diagnostic::RegistrationCompleted {
                interval: self.interval,
                index: self.index,
                replicas: Some(self.replicas).filter(|&replicas| replicas != 0),
                skew: self.outbox.skew(),
            },
            Kind::Agreement => match (self.implied, self.outbox.previous) {
                (Some(pair), Some(previous)) if pair == previous => Diagnostic::PairAgreed(pair),
                (Some(pair), previous) => Diagnostic::PairDisagreed { pair, previous },
                (None, previous) => Diagnostic::NoPairImplied { previous },
            },
            Kind::LeaseReleased => Diagnostic::LeaseReleased(self.outbox.released?),
            Kind::LeaseGranted => Diagnostic::LeaseGranted(self.owned?),
            Kind::RegistrationFailed => Diagnostic::RegistrationFailed {
                gave_up: self.outbox.gave_up,
                attempt: self.failures,
                delay: self.reported_delay().unwrap_or(Duration::ZERO),
            },
            Kind::RegistrationScheduled => Diagnostic::RegistrationScheduled {
                delay: self.reported_delay()?,
                expires: (self.expire_at != NEVER)
                    .then(|| Duration::from_nanos(self.expire_at - self.outbox.reported_at)),
            },
        };
        Some(Output::Report(report))
    }

    pub(super) fn reported_delay(&self) -> Option<Duration> {
        (self.register_at != NEVER)
            .then(|| Duration::from_nanos(self.register_at - self.outbox.reported_at))
    }

    pub(super) fn change(&mut self) -> Option<Change> {
        let owned = self.lease().ok_or(self.outbox.reason);
        let yielded = if owned.is_ok() { Yielded::Owned } else { Yielded::Idle };
        let before = core::mem::replace(&mut self.outbox.yielded, yielded);
        if (before, yielded) == (Yielded::Idle, Yielded::Idle) {
            return None;
        }
        let loses = before == Yielded::Owned && self.outbox.drain_until != 0;
        let drain_until = loses.then_some(Instant::from_nanos(self.outbox.drain_until));
        Some(Change { owned, stage: self.replied.then_some(self.interval), drain_until })
    }
}
