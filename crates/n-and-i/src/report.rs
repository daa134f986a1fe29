//! Diagnostics as `tracing` events: constant messages, values as fields.

use std::error::Error;
use std::fmt;

use n_and_i_core::{Diagnostic, Pair};

use crate::config::Config;
use crate::mailbox::End;
use crate::registry::RegistrationError;

/// What every event is logged under, wherever the code for it lives.
pub(crate) const TARGET: &str = "n_and_i";

/// Reports one worker's diagnostics, with the group's name on each.
#[derive(Debug)]
pub(crate) struct Reporter {
    config: Config,
    /// The error behind the failure that the machine is about to report.
    error: Option<RegistrationError>,
}

impl Reporter {
    pub(crate) fn new(config: Config) -> Self {
        Self { config, error: None }
    }

    /// Keeps the error of a failure until the machine reports the failure.
    pub(crate) fn remember(&mut self, error: RegistrationError) {
        self.error = Some(error);
    }

    pub(crate) fn started(&self, registry: &str) {
        tracing::info!(
            target: TARGET,
            group = self.config.name(),
            interval = ?self.config.interval(),
            gap = self.config.gap(),
            prefix = self.config.prefix(),
            registry,
            "discover started"
        );
    }

    /// The registry panicked, and the driver with it.
    pub(crate) fn panicked(&self) {
        tracing::error!(
            target: TARGET,
            group = self.config.name(),
            reason = "panicked",
            "discover stopped"
        );
    }

    pub(crate) fn stopped(&self, end: End) {
        let reason = match end {
            End::Abort => "abort",
            End::Closed => "closed",
        };
        tracing::info!(target: TARGET, group = self.config.name(), reason, "discover stopped");
    }

    pub(crate) fn script_loaded(&self, sha: &str) {
        tracing::debug!(target: TARGET, group = self.config.name(), sha, "script loaded");
    }

    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        let group = self.config.name();
        match diagnostic {
            Diagnostic::RegistrationFailed { attempt, delay, .. } => {
                let error = Failed(self.error.take());
                tracing::error!(target: TARGET, group, %error, attempt, ?delay, "registration failed");
            }
            Diagnostic::LeaseExpired { interval, after } => {
                tracing::warn!(target: TARGET, group, interval, ?after, "lease expired");
            }
            Diagnostic::ClockStepped { by } => {
                tracing::warn!(target: TARGET, group, by, "server clock stepped");
            }
            Diagnostic::RegistrationCompleted { interval, index, replicas, skew } => {
                tracing::trace!(target: TARGET, group, interval, index, replicas, skew, "registration completed");
            }
            Diagnostic::PairAgreed(pair) => {
                tracing::trace!(target: TARGET, group, i = pair.i(), n = pair.n(), "pair agreed");
            }
            Diagnostic::PairDisagreed { pair, previous } => {
                let (pi, pn) = numbers(previous);
                tracing::debug!(target: TARGET, group, i = pair.i(), n = pair.n(), pi, pn, "pair disagreed");
            }
            Diagnostic::NoPairImplied { previous } => {
                let (pi, pn) = numbers(previous);
                tracing::trace!(target: TARGET, group, pi, pn, "no pair implied");
            }
            Diagnostic::LeaseGranted(share) => {
                let (pair, (pi, pn)) = (share.pair(), numbers(share.previous()));
                tracing::trace!(target: TARGET, group, i = pair.i(), n = pair.n(), pi, pn, "lease granted");
            }
            Diagnostic::LeaseReleased(share) => {
                let (pair, (pi, pn)) = (share.pair(), numbers(share.previous()));
                tracing::trace!(target: TARGET, group, i = pair.i(), n = pair.n(), pi, pn, "lease released");
            }
            Diagnostic::RegistrationScheduled { delay, expires } => {
                tracing::trace!(target: TARGET, group, ?delay, ?expires, "next registration scheduled");
            }
            _ => {}
        }
    }
}

/// As fields, which are left out if there is no pair.
pub(crate) fn numbers(pair: Option<Pair>) -> (Option<u32>, Option<u32>) {
    (pair.map(Pair::i), pair.map(Pair::n))
}

/// An error with everything that caused it, on one line.
struct Failed(Option<RegistrationError>);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(error) = &self.0 else {
            return f.write_str("registration was given up: no answer within the interval");
        };
        let mut said = error.to_string();
        f.write_str(&said)?;
        let mut cause = error.source();
        while let Some(error) = cause {
            // Some errors repeat what caused them.
            let text = error.to_string();
            if !said.ends_with(&text) {
                write!(f, ": {text}")?;
                said = text;
            }
            cause = error.source();
        }
        Ok(())
    }
}
