//! What there is to say at the end.

use std::time::Duration;

use serde::Serialize;

use crate::record::{Record, millis};

/// The demo in figures.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    pub(crate) elapsed: Duration,
    pub(crate) interval: Duration,
    pub(crate) changes: u64,
    /// From the first ownership on.
    pub(crate) share_mean: Option<f64>,
    pub(crate) first_ownership: Option<Duration>,
    pub(crate) conflicts: u64,
}

#[derive(Serialize)]
struct Fields<'a> {
    #[serde(flatten)]
    record: Record<'a>,
    intervals: f64,
    changes: u64,
    share_mean: Option<f64>,
    first_ownership_ms: Option<u64>,
    conflicts: u64,
}

impl Summary {
    /// Lines for a person.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = vec!["Summary".to_owned()];
        let mut line = |label, value: String| lines.push(format!("  {label:<37}{value}"));
        line("intervals", format!("{:.1}", self.intervals()));
        line("changes handed to workers", self.changes.to_string());
        match (self.first_ownership, self.share_mean) {
            (Some(first), mean) => {
                let intervals = first.div_duration_f64(self.interval);
                let first = first.as_secs_f64();
                line("first ownership", format!("after {first:.2} s ({intervals:.1} intervals)"));
                let mean = mean.map_or("-".to_owned(), |mean| format!("{:.1} %", mean * 100.0));
                line("tasks that had an owner since then", mean);
            }
            (None, _) => line("first ownership", "never".to_owned()),
        }
        line("conflicts (a task with two owners)", self.conflicts.to_string());
        lines
    }

    /// One JSON line.
    pub(crate) fn json(&self, elapsed: Duration) -> serde_json::Result<String> {
        let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
        serde_json::to_string(&Fields {
            record: Record::at(elapsed).of_demo("summary", None),
            intervals: rounded(self.intervals()),
            changes: self.changes,
            share_mean: self.share_mean.map(rounded),
            first_ownership_ms: self.first_ownership.map(millis),
            conflicts: self.conflicts,
        })
    }

    fn intervals(&self) -> f64 {
        self.elapsed.div_duration_f64(self.interval)
    }
}
