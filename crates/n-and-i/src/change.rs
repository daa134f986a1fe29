//! What a consumer is told.

use std::fmt;

use n_and_i_core::{Reason, Share};

use crate::drain::DrainWindow;
use crate::lease::Lease;

/// What this worker owns changed.
///
/// The lease that it had before is over: stop taking work, finish or release what is in flight
/// within the [drain window](Change::drain_window), then go on with [what it owns now](Change::lease).
#[derive(Clone, Debug)]
pub struct Change {
    pub(crate) owned: Result<Lease, Reason>,
    pub(crate) stage: Option<u64>,
    pub(crate) drain: Option<DrainWindow>,
}

impl Change {
    /// The lease on what is owned from now on, or why nothing is.
    ///
    /// # Errors
    /// The reason, which is no failure.
    pub fn owned(&self) -> Result<&Lease, Reason> {
        self.owned.as_ref().map_err(|&reason| reason)
    }

    /// What is owned from now on; none if nothing is.
    pub fn share(&self) -> Option<Share> {
        self.lease().map(Lease::share)
    }

    /// The lease on what is owned from now on; none if nothing is.
    pub fn lease(&self) -> Option<&Lease> {
        self.owned().ok()
    }

    /// Why nothing is owned; none if something is.
    pub fn reason(&self) -> Option<Reason> {
        self.owned().err()
    }

    /// The number of the interval in which the worker last registered; none before it has.
    pub fn stage(&self) -> Option<u64> {
        self.stage
    }

    /// Until when work on what was just lost may still be finished. None if nothing was
    /// lost: then nothing was owned before, or all of it is owned still.
    pub fn drain_window(&self) -> Option<&DrainWindow> {
        self.drain.as_ref()
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.owned {
            Ok(lease) => write!(f, "{}", lease.share()),
            Err(reason) => write!(f, "idle ({reason})"),
        }
    }
}
