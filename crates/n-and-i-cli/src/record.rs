//! The fields that every JSON line has.

use std::time::Duration;

use n_and_i::{Lease, Pair, Reason, Rebalance, Share};
use serde::Serialize;

/// One JSON line, or its beginning.
#[derive(Default, Serialize)]
pub(crate) struct Record<'a> {
    t_ms: u64,
    #[serde(flatten)]
    demo: Option<DemoFields<'a>>,
    i: Option<u32>,
    n: Option<u32>,
    pi: Option<u32>,
    pn: Option<u32>,
    reason: Option<&'static str>,
    stage: Option<u64>,
    token: Option<u64>,
}

#[derive(Serialize)]
struct DemoFields<'a> {
    event: &'static str,
    rebalance: &'static str,
    worker: Option<&'a str>,
}

/// What a worker owns, and the fencing token for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Owned {
    pub(crate) share: Share,
    pub(crate) token: u64,
}

impl From<&Lease> for Owned {
    fn from(lease: &Lease) -> Self {
        Self { share: lease.share(), token: lease.token() }
    }
}

impl<'a> Record<'a> {
    pub(crate) fn at(elapsed: Duration) -> Self {
        Self { t_ms: millis(elapsed), ..Self::default() }
    }

    #[must_use]
    pub(crate) fn of_demo(
        mut self,
        event: &'static str,
        rebalance: Rebalance,
        worker: Option<&'a str>,
    ) -> Self {
        self.demo = Some(DemoFields { event, rebalance: rebalance.as_str(), worker });
        self
    }

    #[must_use]
    pub(crate) fn with_change(mut self, owned: Result<Owned, Reason>, stage: Option<u64>) -> Self {
        let pair = owned.ok().map(|owned| owned.share.pair());
        let previous = owned.ok().and_then(|owned| owned.share.previous());
        (self.i, self.n) = (pair.map(Pair::i), pair.map(Pair::n));
        (self.pi, self.pn) = (previous.map(Pair::i), previous.map(Pair::n));
        self.token = owned.ok().map(|owned| owned.token);
        self.reason = owned.err().map(Reason::as_str);
        self.stage = stage;
        self
    }
}

/// Whole milliseconds.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
