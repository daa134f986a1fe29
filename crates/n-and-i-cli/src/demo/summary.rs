//! What there is to say at the end.

use std::time::Duration;

use n_and_i::Rebalance;
use serde::Serialize;

use crate::record::{Record, millis};

/// One group in figures.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    pub(crate) rebalance: Rebalance,
    pub(crate) elapsed: Duration,
    pub(crate) interval: Duration,
    pub(crate) changes: u64,
    pub(crate) first_ownership: Option<Duration>,
    /// The share served from the first ownership on.
    pub(crate) mean: Option<f64>,
    /// The least share served over one interval once everything was.
    pub(crate) least: Option<f64>,
    /// In intervals of the whole group, up to the crash.
    pub(crate) lost_by_join: Option<f64>,
    /// The same from there to the end.
    pub(crate) lost_by_crash: Option<f64>,
    pub(crate) conflicts: u64,
}

#[derive(Serialize)]
struct Fields<'a> {
    #[serde(flatten)]
    record: Record<'a>,
    intervals: f64,
    changes: u64,
    first_ownership_ms: Option<u64>,
    share_mean: Option<f64>,
    share_min: Option<f64>,
    lost_by_join: Option<f64>,
    lost_by_crash: Option<f64>,
    conflicts: u64,
}

/// Lines for a person, a column for each group.
pub(crate) fn lines(summaries: &[Summary]) -> Vec<String> {
    let row = |label: &str, value: &dyn Fn(&Summary) -> String| {
        let values = summaries.iter().map(|summary| format!("{:>14}", value(summary)));
        format!("{label:<46}{}", values.collect::<Vec<_>>().concat())
    };
    let intervals =
        |value: Option<f64>| value.map_or("-".to_owned(), |count| format!("{count:.2}"));
    vec![
        row("Summary", &|summary| summary.rebalance.to_string()),
        row("  intervals", &|summary| format!("{:.1}", summary.intervals())),
        row("  changes handed to workers", &|summary| summary.changes.to_string()),
        row("  first ownership, after intervals", &|summary| {
            let first = summary.first_ownership;
            first.map_or("never".to_owned(), |_| intervals(summary.first_intervals()))
        }),
        row("  keys that had an owner since then", &|summary| percent(summary.mean)),
        row("    in the worst interval once settled", &|summary| percent(summary.least)),
        row("  lost by the join, intervals of the group", &|summary| {
            intervals(summary.lost_by_join)
        }),
        row("  lost by the crash, intervals of the group", &|summary| {
            intervals(summary.lost_by_crash)
        }),
        row("  conflicts (a key with two owners)", &|summary| summary.conflicts.to_string()),
    ]
}

impl Summary {
    /// One JSON line.
    pub(crate) fn json(&self, elapsed: Duration) -> serde_json::Result<String> {
        let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
        serde_json::to_string(&Fields {
            record: Record::at(elapsed).of_demo("summary", self.rebalance, None),
            intervals: rounded(self.intervals()),
            changes: self.changes,
            first_ownership_ms: self.first_ownership.map(millis),
            share_mean: self.mean.map(rounded),
            share_min: self.least.map(rounded),
            lost_by_join: self.lost_by_join.map(rounded),
            lost_by_crash: self.lost_by_crash.map(rounded),
            conflicts: self.conflicts,
        })
    }

    fn intervals(&self) -> f64 {
        self.elapsed.div_duration_f64(self.interval)
    }

    fn first_intervals(&self) -> Option<f64> {
        self.first_ownership.map(|first| first.div_duration_f64(self.interval))
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(rebalance: Rebalance, first: Option<Duration>) -> Summary {
        Summary {
            rebalance,
            elapsed: Duration::from_secs(15),
            interval: Duration::from_millis(500),
            changes: 31,
            first_ownership: first,
            mean: first.map(|_| 0.901_26),
            least: first.map(|_| 0.0),
            lost_by_join: Some(1.018),
            lost_by_crash: None,
            conflicts: 0,
        }
    }

    #[test]
    fn groups_stand_in_columns() {
        let first = summary(Rebalance::StandDown, Some(Duration::from_millis(1300)));
        let second = summary(Rebalance::KeepServing, None);
        let expected = "\
Summary                                           stand-down  keep-serving
  intervals                                             30.0          30.0
  changes handed to workers                               31            31
  first ownership, after intervals                      2.60         never
  keys that had an owner since then                   90.1 %             -
    in the worst interval once settled                 0.0 %             -
  lost by the join, intervals of the group              1.02          1.02
  lost by the crash, intervals of the group                -             -
  conflicts (a key with two owners)                        0             0";
        assert_eq!(lines(&[first, second]).join("\n"), expected);
    }

    #[test]
    fn programs_get_rounded_figures() {
        let first = summary(Rebalance::StandDown, Some(Duration::from_millis(1300)));
        let line = first.json(Duration::from_millis(15_002)).unwrap();
        let fields: serde_json::Value = serde_json::from_str(&line).unwrap();
        let expected = serde_json::json!({
            "t_ms": 15002, "event": "summary", "rebalance": "stand-down", "worker": null,
            "i": null, "n": null, "pi": null, "pn": null, "reason": null, "stage": null,
            "token": null, "intervals": 30.0, "changes": 31, "first_ownership_ms": 1300,
            "share_mean": 0.901, "share_min": 0.0, "lost_by_join": 1.018,
            "lost_by_crash": null, "conflicts": 0,
        });
        assert_eq!(fields, expected);
    }
}
