//! The arguments of `simulate`.

mod help;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use n_and_i::Mapping;
use n_and_i_sim::{Faults, Rebalancing};

use crate::arguments::{GroupArguments, duration, one_of, usage_error};
use crate::simulate::{Course, Faulty, Files, Settings, Show, Simulation, Sweep};

/// Simulate a group under faults, in virtual time, and check that no task ever has two owners
///
/// Runs the library's own state machines against a model of Redis. After 14 intervals of peace,
/// storms of 24 intervals, in which the faults happen, and as much peace take turns. At the end of
/// each peace the group should own everything: how often it did is counted. With another scenario
/// workers come and go by plan. One seed gives one run. If the promise is broken, the run ends and
/// the exit code is 1.
#[derive(Debug, Args)]
#[command(after_long_help = help::text())]
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
    #[command(flatten)]
    group: GroupArguments,
    /// How long a message takes to the server or back, on average
    #[arg(long, value_name = "DURATION", default_value = "500us", value_parser = duration)]
    delay: Duration,
    /// What happens to the group
    ///
    /// storms: storms, in which the faults happen, and peace take turns. rolling-restart: one worker
    /// after another, in turn, is asked to stop, and a new one joins at the same time.
    /// join-and-leave: by turns one more worker joins, and one of them, any, is asked to stop. With
    /// these two the group first settles for 14 intervals, and faults, if any, happen all the
    /// time. join-and-crash: after --every intervals one more worker joins, after as many again one
    /// in the middle crashes, and nothing else is planned.
    #[arg(long, value_name = "NAME", default_value = Course::Storms.name(), value_parser = one_of(&Course::ALL, Course::name))]
    scenario: Course,
    /// Intervals from one planned change to the next, each at a random moment, 0.1 to 1000000
    /// [default: 4, with join-and-crash a third of --intervals, with storms nothing is planned]
    #[arg(long, value_name = "INTERVALS", allow_negative_numbers = true, value_parser = intervals)]
    every: Option<f64>,
    /// What workers do while membership changes; mixed: each does one or the other, at random
    #[arg(long, value_name = "MODE", default_value = Rebalancing::default().as_str(), value_parser = one_of(&Rebalancing::ALL, Rebalancing::as_str))]
    rebalance: Rebalancing,
    /// How tasks are spread over workers: task % n, or jump(key, n), by which few keys move
    ///
    /// Only shares that had an owner, and what was lost, depend on it. That nothing has two
    /// owners is checked for both.
    #[arg(long, value_name = "MAPPING", default_value = Mapping::Modulo.as_str(), value_parser = one_of(&Mapping::ALL, Mapping::as_str))]
    mapping: Mapping,
    /// What goes wrong: none, all, or faults joined by commas, such as crash=0.1,lost-reply
    /// [default: all, where changes are planned none]
    ///
    /// A fault without =RATE happens at its usual rate. After all come exceptions, as in
    /// all,flush=0. The faults are listed below.
    #[arg(long, value_name = "LIST")]
    faults: Option<Faulty>,
    /// How much clocks run fast or slow at most, 0 to 0.01 [default: 0, with all faults 0.001]
    #[arg(long, value_name = "FRACTION", allow_negative_numbers = true)]
    clock_rate: Option<f64>,
    /// Give each worker a gap of its own, from a fifth of --gap to three times it
    #[arg(long)]
    mixed_gaps: bool,
    /// How many more workers know only the counters, 0 to 10000
    ///
    /// They count themselves once per interval. What they own counts as owned by nobody, and the
    /// group as neither settled nor unsettled. Only with --layout counters.
    #[arg(long, value_name = "COUNT", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=10_000))]
    foreign: u16,
    /// Where the random numbers begin
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Run once for each of several values of gap, interval, workers, delay or every
    ///
    /// FIELD=FROM..TO[/STEPS], such as gap=0.05..0.45, interval=1s..30s, workers=2..50, every=2..20
    /// or delay=1ms..500ms/20: 9 values unless STEPS says otherwise, evenly spaced for gap, each the
    /// same multiple of the one before for the others. They take the place of the option of that
    /// name. Prints a row per value.
    #[arg(long, value_name = "FIELD=FROM..TO", conflicts_with_all = ["trace", "svg"])]
    sweep: Option<Sweep>,
    /// Write to this file, line by line, what happens in the group
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Draw to this file, as SVG, what each worker does over time; for at most 100 workers
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Which intervals to draw, counted from 0, at most 200 [default: the first 60, or all if fewer]
    #[arg(
        long,
        value_name = "FROM..TO",
        allow_hyphen_values = true,
        requires = "svg",
        conflicts_with = "sweep"
    )]
    show: Option<Show>,
    /// Print a JSON object, with --sweep one per line
    #[arg(long)]
    json: bool,
}

impl SimulateArguments {
    pub(super) fn check(self) -> Result<Simulation, clap::Error> {
        let usual = if self.scenario == Course::Storms { Faults::all() } else { Faults::none() };
        let faults = self.faults.unwrap_or_else(|| usual.into());
        let settings = Settings {
            workers: self.workers.into(),
            intervals: self.intervals.into(),
            interval: self.interval,
            gap: self.group.gap,
            delay: self.delay,
            faults: faults.in_group(self.clock_rate, self.mixed_gaps, self.foreign.into()),
            layout: self.group.layout,
            rebalancing: self.rebalance,
            mapping: self.mapping,
            course: self.scenario,
            every: self.every,
            seed: self.seed,
        };
        let files = Files { trace: self.trace, svg: self.svg, show: self.show };
        let simulation = Simulation::new(settings, self.sweep, files, self.json);
        simulation.map_err(|error| usage_error("simulate", &error.to_string()))
    }
}

/// A number; whether it makes sense is checked with the scenario.
fn intervals(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "must be a number of intervals (such as 4)".to_owned())
}
