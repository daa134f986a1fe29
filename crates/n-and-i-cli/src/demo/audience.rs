//! Who is shown the demo.

use std::io;
use std::time::Duration;

use n_and_i::Lease;

use crate::arguments::Demo;
use crate::demo::history::History;
use crate::demo::ledger::{Event, Ledger};
use crate::demo::narration::Turn;
use crate::demo::summary::Summary;

/// A way of showing the demo.
pub(crate) trait Audience {
    /// Before anything happens.
    fn begin(&mut self, demo: &Demo) -> io::Result<()>;

    /// Something happened.
    fn event(&mut self, event: &Event, worker: &str) -> io::Result<()>;

    /// How things are now; called often.
    fn look(&mut self, scene: &Scene<'_>) -> io::Result<()>;

    /// The show is over, the workers are about to stop.
    fn close(&mut self) -> io::Result<()>;

    /// After everything.
    fn summarize(&mut self, summary: &Summary, elapsed: Duration) -> io::Result<()>;
}

/// How things are.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) demo: &'a Demo,
    pub(crate) elapsed: Duration,
    pub(crate) ledger: &'a Ledger<Lease>,
    pub(crate) history: &'a History,
    pub(crate) turn: Turn,
}
