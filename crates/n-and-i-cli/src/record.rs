//! The fields that every JSON line has.

use std::time::Duration;

use n_and_i::Pair;
use serde::Serialize;

/// One JSON line, or its beginning.
#[derive(Default, Serialize)]
pub(crate) struct Record<'a> {
    t_ms: u64,
    #[serde(flatten)]
    demo: Option<DemoFields<'a>>,
    i: Option<u32>,
    n: Option<u32>,
    reason: Option<&'static str>,
    stage: Option<u64>,
}

#[derive(Serialize)]
struct DemoFields<'a> {
    event: &'static str,
    worker: Option<&'a str>,
}

impl<'a> Record<'a> {
    pub(crate) fn at(elapsed: Duration) -> Self {
        Self { t_ms: millis(elapsed), ..Self::default() }
    }

    #[must_use]
    pub(crate) fn of_demo(mut self, event: &'static str, worker: Option<&'a str>) -> Self {
        self.demo = Some(DemoFields { event, worker });
        self
    }

    #[must_use]
    pub(crate) fn with_change(
        mut self,
        pair: Option<Pair>,
        reason: Option<n_and_i::Reason>,
        stage: Option<u64>,
    ) -> Self {
        self.i = pair.map(Pair::i);
        self.n = pair.map(Pair::n);
        self.reason = reason.map(n_and_i::Reason::as_str);
        self.stage = stage;
        self
    }
}

/// Whole milliseconds.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
