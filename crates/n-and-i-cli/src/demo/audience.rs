//! Who is shown the demo.

use std::io;
use std::time::Duration;

use n_and_i::Rebalance;

use crate::arguments::Demo;
use crate::demo::ledger::Event;
use crate::demo::narration::Turn;
use crate::demo::side::Side;
use crate::demo::summary::Summary;

/// A way of showing the demo.
pub(crate) trait Audience {
    /// Before anything happens.
    fn begin(&mut self, demo: &Demo) -> io::Result<()>;

    /// Something happened.
    fn tell(&mut self, news: &Told<'_>) -> io::Result<()>;

    /// How things are now; called often.
    fn look(&mut self, scene: &Scene<'_>) -> io::Result<()>;

    /// The show is over, the workers are about to stop.
    fn close(&mut self) -> io::Result<()>;

    /// After everything.
    fn summarize(&mut self, summaries: &[Summary], elapsed: Duration) -> io::Result<()>;
}

/// What happened in which group.
#[derive(Debug)]
pub(crate) struct Told<'a> {
    pub(crate) side: usize,
    pub(crate) rebalance: Rebalance,
    pub(crate) worker: &'a str,
    pub(crate) event: Event,
}

/// How things are.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) demo: &'a Demo,
    pub(crate) elapsed: Duration,
    pub(crate) sides: &'a [Side],
    pub(crate) turn: Turn,
}
