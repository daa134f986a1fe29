//! What changes of membership cost, in Markdown tables:
//! `cargo run --release -p n-and-i-sim --example rebalancing`. Takes the number of runs that each
//! figure is the mean of, 20 unless it is given; their seeds count from 1.

use std::error::Error;
use std::process::ExitCode;

use n_and_i_core::{Mapping, Rebalance};
use n_and_i_sim::{Faults, Outcome, Plan, Scenario};

const GROUPS: [usize; 3] = [3, 10, 30];
/// Who stands down serves whole pairs or nothing, which comes to the same under both mappings.
const WAYS: [(Rebalance, Mapping); 3] = [
    (Rebalance::StandDown, Mapping::Modulo),
    (Rebalance::KeepServing, Mapping::Modulo),
    (Rebalance::KeepServing, Mapping::Jump),
];
const COLUMNS: &str = "stand-down | keep-serving, modulo | keep-serving, jump";
/// How many changes each run plans.
const CHANGES: f64 = 500.0;

/// The outcomes of runs of a group whose membership changes once in so many intervals.
fn outcomes(
    runs: u64,
    workers: usize,
    (mode, mapping): (Rebalance, Mapping),
    plan: Plan,
    every: f64,
) -> Result<Vec<Outcome>, Box<dyn Error>> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    let intervals = (every * CHANGES) as u64;
    let scenario = Scenario::new(workers, Faults::none())
        .with_rebalance(mode)
        .with_mapping(mapping)
        .with_plan(plan, every)?
        .with_intervals(intervals);
    let run = |seed| {
        let outcome = scenario.run(seed);
        match outcome.violation {
            Some(violation) => Err(format!("{scenario:?}, seed {seed}: {violation}").into()),
            None => Ok(outcome),
        }
    };
    (1..=runs).map(run).collect()
}

/// The mean of a figure, in three digits.
fn mean(outcomes: &[Outcome], figure: impl Fn(&Outcome) -> Option<f64>) -> String {
    let figures: Vec<_> = outcomes.iter().filter_map(figure).collect();
    let count = u32::try_from(figures.len()).unwrap_or(u32::MAX);
    format!("{:.3}", figures.iter().sum::<f64>() / f64::from(count))
}

fn print_row(first: &str, second: &str, figures: &[String]) {
    println!("| {first} | {second} | {} |", figures.join(" | "));
}

fn print_served(runs: u64) -> Result<(), Box<dyn Error>> {
    println!("Share of the keys served while one worker after another is restarted:\n");
    println!("| workers | a restart every (intervals) | {COLUMNS} |\n|---|---|---|---|---|");
    for workers in GROUPS {
        for every in [1.0, 4.0, 10.0] {
            let mut figures = Vec::new();
            for way in WAYS {
                let outcomes = outcomes(runs, workers, way, Plan::RollingRestart, every)?;
                figures.push(mean(&outcomes, |outcome| Some(outcome.served_mean)));
            }
            print_row(&workers.to_string(), &every.to_string(), &figures);
        }
    }
    Ok(())
}

fn print_lost(runs: u64) -> Result<(), Box<dyn Error>> {
    println!("\nWhat one change costs, in intervals of the whole group:\n");
    println!("| workers | change | {COLUMNS} |\n|---|---|---|---|---|");
    for workers in GROUPS {
        let (mut joins, mut leaves, mut restarts) = (Vec::new(), Vec::new(), Vec::new());
        for way in WAYS {
            let changing = outcomes(runs, workers, way, Plan::JoinAndLeave, 10.0)?;
            joins.push(mean(&changing, |outcome| outcome.lost_per_join));
            leaves.push(mean(&changing, |outcome| outcome.lost_per_leave));
            let restarting = outcomes(runs, workers, way, Plan::RollingRestart, 10.0)?;
            restarts.push(mean(&restarting, |outcome| outcome.lost_per_restart));
        }
        let workers = workers.to_string();
        print_row(&workers, "join", &joins);
        print_row(&workers, "leave", &leaves);
        print_row(&workers, "both at once", &restarts);
    }
    Ok(())
}

fn main() -> ExitCode {
    let asked = std::env::args().nth(1);
    let Ok(runs @ 1..) = asked.as_deref().unwrap_or("20").parse() else {
        eprintln!("the number of runs is {asked:?}, must be a whole number from 1");
        return ExitCode::FAILURE;
    };
    match print_served(runs).and_then(|()| print_lost(runs)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
