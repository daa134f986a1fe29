//! The one queue of outputs: a place for each kind, so it cannot overflow.
//!
//! What a report says is kept here only where the machine's state does not already say it.

use crate::output::Reason;
use crate::share::{Pair, Share};

/// The kinds of output, in the order in which one input produces them.
#[derive(Clone, Copy)]
#[repr(u8)]
pub(crate) enum Kind {
    Expire,
    LeaseExpired,
    ClockStepped,
    RegistrationCompleted,
    Agreement,
    LeaseReleased,
    LeaseGranted,
    RegistrationFailed,
    RegistrationScheduled,
    Yield,
    Register,
}

const ALL: [Kind; 11] = [
    Kind::Expire,
    Kind::LeaseExpired,
    Kind::ClockStepped,
    Kind::RegistrationCompleted,
    Kind::Agreement,
    Kind::LeaseReleased,
    Kind::LeaseGranted,
    Kind::RegistrationFailed,
    Kind::RegistrationScheduled,
    Kind::Yield,
    Kind::Register,
];

/// What was last yielded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Yielded {
    Nothing,
    Idle,
    Owned,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Outbox {
    pending: u16,
    pub(crate) yielded: Yielded,
    pub(crate) reason: Reason,
    pub(crate) gave_up: bool,
    pub(crate) released: Option<Share>,
    pub(crate) previous: Option<Pair>,
    /// Until when work on what the pending change loses may be finished; 0 if it loses nothing.
    pub(crate) drain_until: u64,
    pub(crate) expired_interval: u64,
    pub(crate) expired_after: u64,
    has_skew: bool,
    skew: i64,
    /// When the latest report of a schedule or a failure was made.
    pub(crate) reported_at: u64,
}

impl Outbox {
    pub(crate) const fn new() -> Self {
        Self {
            pending: 0,
            yielded: Yielded::Nothing,
            reason: Reason::Starting,
            gave_up: false,
            released: None,
            previous: None,
            drain_until: 0,
            expired_interval: 0,
            expired_after: 0,
            has_skew: false,
            skew: 0,
            reported_at: 0,
        }
    }

    pub(crate) const fn skew(&self) -> Option<i64> {
        if self.has_skew { Some(self.skew) } else { None }
    }

    pub(crate) fn set_skew(&mut self, skew: Option<i64>) {
        self.has_skew = skew.is_some();
        self.skew = skew.unwrap_or(0);
    }

    pub(crate) const fn push(&mut self, kind: Kind) {
        self.pending |= 1 << kind as u16;
    }

    pub(crate) const fn is_pending(&self, kind: Kind) -> bool {
        self.pending & (1 << kind as u16) != 0
    }

    pub(crate) const fn cancel(&mut self, kind: Kind) {
        self.pending &= !(1 << kind as u16);
    }

    pub(crate) const fn pop(&mut self) -> Option<Kind> {
        if self.pending == 0 {
            return None;
        }
        let kind = ALL[self.pending.trailing_zeros() as usize];
        self.cancel(kind);
        Some(kind)
    }
}
