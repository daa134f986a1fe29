//! The arguments of `simulate`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use n_and_i_sim::Fault;

use crate::arguments::{duration, usage_error};
use crate::simulate::{Faulty, Settings, Simulation, Sweep};

/// Simulate a group under faults, in virtual time, and check that no task ever has two owners
///
/// Runs the library's own state machines against a model of Redis. Storms of 24 intervals, in
/// which the faults happen, alternate with 14 intervals of peace, at the end of which the group
/// must own everything. One seed gives one run. If the promise is broken, or the group
/// does not own everything after peace, the run ends and the exit code is 1.
#[derive(Debug, Args)]
#[command(after_long_help = after_help())]
pub(super) struct SimulateArguments {
    /// How many workers are in the group, 1 to 10000
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    workers: u16,
    /// How many intervals to simulate, 10 to 10000000
    #[arg(long, value_name = "COUNT", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(10..=10_000_000))]
    intervals: u32,
    /// Length of an interval: each worker registers once in each
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = duration)]
    interval: Duration,
    /// Timing slack as a fraction of the interval, more than 0 and less than 0.5
    #[arg(long, value_name = "FRACTION", default_value_t = 0.15, allow_negative_numbers = true)]
    gap: f64,
    /// How long a message takes to the server or back, on average
    #[arg(long, value_name = "DURATION", default_value = "500us", value_parser = duration)]
    delay: Duration,
    /// What goes wrong: none, all, or kinds of faults joined by commas (listed below)
    #[arg(long, value_name = "LIST", default_value = "all")]
    faults: Faulty,
    /// Where the random numbers begin
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Run once for each of several values of gap, interval, workers or delay
    ///
    /// FIELD=FROM..TO[/STEPS], such as gap=0.05..0.45, interval=1s..30s, workers=2..50 or
    /// delay=1ms..500ms/20: 9 values unless STEPS says otherwise, evenly spaced for gap, each the
    /// same multiple of the one before for the others. They take the place of the option of that
    /// name. Prints a row per value.
    #[arg(long, value_name = "FIELD=FROM..TO", conflicts_with = "trace")]
    sweep: Option<Sweep>,
    /// Write to this file, line by line, what happens in the group
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Print a JSON object, with --sweep one per line
    #[arg(long)]
    json: bool,
}

/// What comes before and after the names of the faults.
const FAULTS: &str = "\
Faults, each at a rate that leaves a group of ten some time to recover:";
const FIELDS: &str = r#"With all it is everything but other-interval, and clocks that run up to 0.1 % fast or slow.

With --json the object has:
  seed, workers, interval_ms, gap, delay_ms
                     what was simulated
  intervals          how many intervals; less than asked for if a violation ended the run
  worker_intervals   the same, summed over the workers that were there
  faults             how often each kind of fault happened, by name
  conflicts          1 if two workers owned one task, if it was handed out within the drain
                     window of who had it before, or with a stage that did not rise; otherwise 0
  served_mean        share of the tasks that had an owner, 0 to 1, mean from the 6th interval on
  served_min         the same for the interval in which it was least; both null if a violation
                     came before
  first_ownership    how long workers waited for their first ownership, in intervals, on
                     average; null if none ever owned anything
  idle               worker-intervals spent owning nothing, by reason: "starting",
                     "rebalancing", "expired", "clock-stepped"
  registrations      how many registrations were counted
  registrations_per_worker_interval
                     the same per worker and interval
  seconds            how long the simulation took
  violation          only if there was one: how the promise was broken (conflicts is 1), or
                     that the group did not own everything after peace (conflicts is 0)
  sweep, value       with --sweep: which field was varied and its value here

Examples:
  n-and-i simulate --workers 20 --interval 2s --faults crash,slow-message --seed 7
  n-and-i simulate --delay 40ms --sweep gap=0.05..0.45"#;

fn after_help() -> String {
    let mut text = FAULTS.to_owned();
    let mut room = 0;
    for fault in Fault::ALL {
        let name = fault.name();
        if room < name.len() + 2 {
            text.push_str("\n ");
            room = 90;
        }
        text.push(' ');
        text.push_str(name);
        text.push(',');
        room = room.saturating_sub(name.len() + 2);
    }
    format!("{}\n{FIELDS}", text.trim_end_matches(','))
}

impl SimulateArguments {
    pub(super) fn check(self) -> Result<Simulation, clap::Error> {
        let settings = Settings {
            workers: self.workers.into(),
            intervals: self.intervals.into(),
            interval: self.interval,
            gap: self.gap,
            delay: self.delay,
            faults: self.faults,
            seed: self.seed,
        };
        let simulation = Simulation::new(settings, self.sweep, self.trace, self.json);
        simulation.map_err(|error| usage_error("simulate", &error.to_string()))
    }
}
