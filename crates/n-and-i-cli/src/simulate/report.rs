//! What came out of one run.

use std::path::Path;
use std::time::Duration;

use n_and_i::Reason;
use n_and_i_sim::{Fault, Outcome, Violation};
use serde::{Serialize, Serializer};

use crate::simulate::settings::duration;
use crate::simulate::{Course, Settings, Value};

/// The share of the tasks that had an owner counts from the interval after these, with a plan
/// from where the group has settled.
const STARTING: f64 = 5.0;

/// What came out of one run.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) outcome: Outcome,
    /// How long the simulation took.
    pub(crate) took: Duration,
}

#[derive(Serialize)]
struct Fields {
    #[serde(skip_serializing_if = "Option::is_none")]
    sweep: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    seed: u64,
    workers: usize,
    interval_ms: f64,
    gap: f64,
    delay_ms: f64,
    #[serde(serialize_with = "as_object")]
    fault_rates: Vec<(&'static str, f64)>,
    clock_rate: f64,
    mixed_gaps: bool,
    foreign: u32,
    layout: &'static str,
    rebalance: &'static str,
    mapping: &'static str,
    scenario: &'static str,
    every: Option<f64>,
    intervals: f64,
    peaces: u64,
    unsettled: u64,
    worker_intervals: u64,
    #[serde(serialize_with = "as_object")]
    faults: Vec<(&'static str, u64)>,
    conflicts: u32,
    served_mean: Option<f64>,
    served_min: Option<f64>,
    changes: u64,
    lost_per_join: Option<f64>,
    lost_per_leave: Option<f64>,
    lost_per_restart: Option<f64>,
    lost_per_crash: Option<f64>,
    first_ownership: Option<f64>,
    #[serde(serialize_with = "as_object")]
    idle: Vec<(&'static str, f64)>,
    registrations: u64,
    registrations_per_worker_interval: Option<f64>,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<String>,
}

impl Report<'_> {
    /// Whether a task had two owners, in one way or another: 1, or 0.
    pub(crate) fn conflicts(&self) -> u32 {
        match self.outcome.violation {
            Some(Violation::TwoOwners(..) | Violation::DrainWindow(..) | Violation::Token(..)) => 1,
            _ => 0,
        }
    }

    /// How often the group owned everything at the end of a peace, and how often it was to.
    pub(crate) fn settled(&self) -> Option<(u64, u64)> {
        let Outcome { peaces, unsettled, .. } = self.outcome;
        (peaces > 0).then(|| (peaces - unsettled, peaces))
    }

    /// The share of the tasks that had an owner, on average and at the least.
    pub(crate) fn served(&self) -> Option<(f64, f64)> {
        let outcome = &self.outcome;
        let storms = self.settings.course == Course::Storms;
        let counts =
            outcome.intervals >= 1.0 + if storms { STARTING } else { self.settings.settling() };
        counts.then_some((outcome.served_mean, outcome.served_min))
    }

    /// What each kind of planned change cost, in intervals of the whole group.
    pub(crate) fn costs(&self) -> Vec<(&'static str, Option<f64>)> {
        let cost = |kind: &&'static str| match *kind {
            "restart" => (*kind, self.outcome.lost_per_restart),
            "join" => (*kind, self.outcome.lost_per_join),
            "crash" => (*kind, self.outcome.lost_per_crash),
            _ => (*kind, self.outcome.lost_per_leave),
        };
        self.settings.changes().iter().map(cost).collect()
    }

    /// The share of the workers' time spent owning nothing for this reason.
    pub(crate) fn idle(&self, reason: Reason) -> Option<f64> {
        let found = self.outcome.idle.iter().find(|(idle, _)| *idle == reason);
        self.share_of_time(found.map_or(0.0, |(_, time)| *time))
    }

    /// How the promise was broken and after how long.
    pub(crate) fn violation(&self) -> Option<String> {
        let violation = self.outcome.violation.as_ref()?;
        let (after, asked) = (self.outcome.intervals, self.settings.intervals);
        Some(format!("{violation} (after {after:.1} of {asked} intervals)"))
    }

    /// For standard error: what went wrong, and how to see why.
    pub(crate) fn alarm(&self, trace: Option<&Path>) -> Option<String> {
        let violation = self.outcome.violation.as_ref()?;
        let broken = if self.conflicts() > 0 { "the promise was broken: " } else { "" };
        let seed = self.settings.seed;
        let trace = match trace {
            Some(path) => format!("The trace is in {}.", path.display()),
            None => format!("For a trace: {} --trace FILE", self.settings),
        };
        Some(format!("n-and-i: seed {seed}: {broken}{violation}\n{trace}"))
    }

    /// One JSON object. The value is the one that a sweep is at.
    pub(crate) fn json(&self, value: Option<Value>) -> serde_json::Result<String> {
        let (settings, outcome) = (self.settings, &self.outcome);
        let served = self.served();
        let rate = self.per_worker_interval(to_f64(outcome.registrations));
        let faults = settings.faults.faults();
        serde_json::to_string(&Fields {
            sweep: value.map(Value::field),
            value: value.map(|value| value.to_string()),
            seed: outcome.seed,
            workers: settings.workers,
            interval_ms: rounded(settings.interval.as_secs_f64() * 1e3),
            gap: settings.gap,
            delay_ms: rounded(settings.delay.as_secs_f64() * 1e3),
            fault_rates: faults.kinds().map(|kind| (kind.name(), faults.rate(kind))).collect(),
            clock_rate: faults.clock_rate,
            mixed_gaps: faults.mixed_gaps,
            foreign: faults.foreign,
            layout: settings.layout.as_str(),
            rebalance: settings.rebalancing.as_str(),
            mapping: settings.mapping.as_str(),
            scenario: settings.course.name(),
            every: settings.every(),
            intervals: rounded(outcome.intervals),
            peaces: outcome.peaces,
            unsettled: outcome.unsettled,
            worker_intervals: outcome.worker_intervals,
            faults: self.faults().map(|(fault, count)| (fault.name(), count)).collect(),
            conflicts: self.conflicts(),
            served_mean: served.map(|(mean, _)| rounded(mean)),
            served_min: served.map(|(_, least)| rounded(least)),
            changes: outcome.changes,
            lost_per_join: outcome.lost_per_join.map(rounded),
            lost_per_leave: outcome.lost_per_leave.map(rounded),
            lost_per_restart: outcome.lost_per_restart.map(rounded),
            lost_per_crash: outcome.lost_per_crash.map(rounded),
            first_ownership: outcome.first_lease.map(rounded),
            idle: outcome.idle.iter().map(|(why, time)| (why.as_str(), rounded(*time))).collect(),
            registrations: outcome.registrations,
            registrations_per_worker_interval: rate.map(rounded),
            seconds: rounded(self.took.as_secs_f64()),
            violation: outcome.violation.as_ref().map(Violation::to_string),
        })
    }

    /// Lines for a person.
    pub(crate) fn lines(&self) -> Vec<String> {
        let (settings, outcome) = (self.settings, &self.outcome);
        let (workers, s) = (settings.workers, if settings.workers == 1 { "" } else { "s" });
        let (interval, delay) = (duration(settings.interval), duration(settings.delay));
        let options = settings.options().into_iter();
        let faults = std::iter::once(settings.faults.to_string()).chain(options);
        let mut lines = vec![format!(
            "{workers} worker{s}, interval {interval}, gap {}, delay {delay}, faults {}, seed {}",
            settings.gap,
            faults.collect::<Vec<_>>().join(", "),
            settings.seed
        )];
        let mut line = |label: &str, value: String| lines.push(format!("  {label:<39}{value}"));
        line("intervals simulated", round(outcome.intervals));
        line("conflicts (a task with two owners)", self.conflicts().to_string());
        if let Some(violation) = self.violation() {
            line("violation", violation);
        }
        if let Some((settled, peaces)) = self.settled() {
            let label = match settings.course {
                Course::Storms => "settled in peace",
                Course::Planned(_) => "settled before the first change",
            };
            line(label, format!("{settled} of {peaces} times"));
        }
        let served = self.served();
        line("tasks that had an owner, mean", percent(served.map(|(mean, _)| mean)));
        line("  in the interval with the fewest", percent(served.map(|(_, least)| least)));
        if settings.course != Course::Storms {
            line("planned changes of membership", outcome.changes.to_string());
        }
        for (kind, cost) in self.costs() {
            let cost =
                cost.map_or("-".to_owned(), |cost| format!("{cost:.2} intervals of the group"));
            line(&format!("  lost per {kind}"), cost);
        }
        let first = outcome.first_lease.map_or("never".to_owned(), |intervals| {
            let seconds = intervals * settings.interval.as_secs_f64();
            format!("after {intervals:.2} intervals ({seconds:.2} s), mean")
        });
        line("first ownership", first);
        line("workers' time owning nothing", percent(self.all_idle()));
        for (reason, _) in &outcome.idle {
            line(&format!("  {reason}"), percent(self.idle(*reason)));
        }
        let rate = self.per_worker_interval(to_f64(outcome.registrations));
        let rate = rate.map_or("-".to_owned(), |rate| format!("{rate:.3}"));
        line("registrations per worker and interval", rate);
        let faults: u64 = self.faults().map(|(_, count)| count).sum();
        line("faults injected", faults.to_string());
        for (fault, count) in self.faults() {
            line(&format!("  {fault}"), count.to_string());
        }
        line("seconds", format!("{:.3}", self.took.as_secs_f64()));
        lines
    }

    /// Every kind of fault that was to happen, and how often it did.
    fn faults(&self) -> impl Iterator<Item = (Fault, u64)> {
        let happened = &self.outcome.faults;
        self.settings.faults.faults().kinds().map(move |fault| {
            let found = happened.iter().find(|(kind, _)| *kind == fault);
            (fault, found.map_or(0, |(_, count)| *count))
        })
    }

    fn all_idle(&self) -> Option<f64> {
        self.share_of_time(self.outcome.idle.iter().map(|(_, time)| time).sum())
    }

    /// At most 1: the worker-intervals are rounded down.
    fn share_of_time(&self, worker_intervals: f64) -> Option<f64> {
        self.per_worker_interval(worker_intervals).map(|share| share.min(1.0))
    }

    fn per_worker_interval(&self, amount: f64) -> Option<f64> {
        let count = self.outcome.worker_intervals;
        (count > 0).then(|| amount / to_f64(count))
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

/// With a place after the point only if a violation came amid an interval.
fn round(intervals: f64) -> String {
    if intervals.fract() == 0.0 { intervals.to_string() } else { format!("{intervals:.1}") }
}

fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[expect(clippy::cast_precision_loss, reason = "rounded when it is shown")]
fn to_f64(count: u64) -> f64 {
    count as f64
}

fn as_object<T: Serialize, S: Serializer>(
    pairs: &Vec<(&'static str, T)>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

#[cfg(test)]
mod tests {
    use n_and_i::{Layout, Mapping, Pair, Share};
    use n_and_i_sim::{Claim, Plan, Rebalancing};
    use serde_json::Value as Json;

    use super::*;

    fn settings() -> Settings {
        Settings {
            workers: 3,
            intervals: 30,
            interval: Duration::from_secs(1),
            gap: 0.2,
            delay: Duration::from_millis(1),
            faults: "none".parse().unwrap(),
            layout: Layout::default(),
            rebalancing: Rebalancing::default(),
            mapping: Mapping::Modulo,
            course: Course::Storms,
            every: None,
            seed: 4,
        }
    }

    fn report(settings: &Settings, violation: Option<Violation>, intervals: f64) -> Report<'_> {
        let mut outcome = settings.scenario().unwrap().run(settings.seed);
        (outcome.violation, outcome.intervals) = (violation, intervals);
        Report { settings, outcome, took: Duration::from_millis(20) }
    }

    fn claim(worker: usize) -> Claim {
        let (share, interval) = (Share::of(Pair::new(0, 1).unwrap()), Duration::from_secs(1));
        let (life, stage, from, until) = (1, 9, 0, 1);
        Claim { worker, life, share, stage, interval, from, until, drain_until: 0 }
    }

    #[test]
    fn only_what_two_workers_got_is_a_conflict() {
        let settings = settings();
        let (a, b) = (claim(0), claim(1));
        for (violation, conflicts) in [
            (Violation::TwoOwners(a, b), 1),
            (Violation::DrainWindow(a, b), 1),
            (Violation::Token(a, b), 1),
            (Violation::Silent { worker: 0 }, 0),
            (Violation::Deadline { worker: 0 }, 0),
            (Violation::NotSettled { owned: 1, workers: 3 }, 0),
        ] {
            let report = report(&settings, Some(violation), 20.5);
            let json: Json = serde_json::from_str(&report.json(None).unwrap()).unwrap();
            assert_eq!(json["conflicts"], conflicts);
            assert_eq!(json["violation"], violation.to_string());
            assert_eq!(json["intervals"], 20.5);
            let lines = report.lines().join("\n");
            assert!(lines.contains(&format!("two owners)     {conflicts}\n")), "{lines}");
            assert!(
                lines.contains(&format!("{violation} (after 20.5 of 30 intervals)")),
                "{lines}"
            );
            let alarm = report.alarm(None).unwrap();
            assert_eq!(alarm.contains("the promise was broken: "), conflicts == 1, "{alarm}");
        }
    }

    #[test]
    fn the_alarm_says_how_to_get_the_trace() {
        let settings = settings();
        let broken = report(&settings, Some(Violation::TwoOwners(claim(0), claim(1))), 20.5);
        let expected = "\
n-and-i: seed 4: the promise was broken: two owners of one task: worker 0 with 0 of 1 at stage 9 \
from 0.0000 s to 0.0000 s and worker 1 with 0 of 1 at stage 9 from 0.0000 s to 0.0000 s
For a trace: n-and-i simulate --workers 3 --intervals 30 --interval 1s --gap 0.2 --delay 1ms \
--faults none --seed 4 --trace FILE";
        assert_eq!(broken.alarm(None).unwrap(), expected);
        let alarm = broken.alarm(Some(Path::new("/tmp/x"))).unwrap();
        assert!(alarm.ends_with("\nThe trace is in /tmp/x."), "{alarm}");
        assert_eq!(report(&settings, None, 30.0).alarm(None), None);
    }

    #[test]
    fn shares_do_not_count_before_the_group_can_have_settled() {
        let settings = settings();
        let violation = Violation::NotSettled { owned: 1, workers: 3 };
        let planned =
            Settings { course: Course::Planned(Plan::RollingRestart), ..settings.clone() };
        for (settings, least) in [(settings, 6.0), (planned, 15.0)] {
            for (intervals, counts) in [(0.5, false), (least - 0.1, false), (least, true)] {
                let report = report(&settings, Some(violation), intervals);
                let json: Json = serde_json::from_str(&report.json(None).unwrap()).unwrap();
                assert_eq!(json["served_mean"].is_number(), counts, "{json}");
                assert_eq!(json["served_min"].is_number(), counts, "{json}");
            }
        }
    }
}
