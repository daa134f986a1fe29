//! A long run over all faults, together and each alone, that counts what happened:
//! `cargo run --release -p n-and-i-sim --example soak -- 100` for 100 million worker-intervals.
//! Ends with the seed and the trace of the first violation.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

use n_and_i_sim::{Fault, Faults, Scenario};

const INTERVALS: u64 = 2_000;

/// Runs seeds from 1 until so many worker-intervals are simulated; adds up the faults.
fn soak(
    name: &str,
    scenario: &Scenario,
    worker_intervals: u64,
    faults: &mut BTreeMap<Fault, u64>,
) -> Result<u64, String> {
    let (mut done, mut seed, start) = (0, 0, Instant::now());
    while done < worker_intervals {
        seed += 1;
        let outcome = scenario.run(seed);
        if let Some(violation) = outcome.violation {
            let trace = scenario.trace(seed).trace;
            return Err(format!("{trace}\n{name}, seed {seed}: {violation}"));
        }
        done += outcome.worker_intervals;
        for (fault, count) in outcome.faults {
            *faults.entry(fault).or_default() += count;
        }
    }
    let workers = scenario.workers();
    let took = start.elapsed().as_secs_f64();
    println!("{name:<24} {workers:>3} workers, seeds 1..={seed:<6} {done:>11} in {took:.1} s");
    Ok(done)
}

/// What is run, and its share of the whole.
fn plan() -> Vec<(String, Scenario, f64)> {
    let mut plan = Vec::new();
    let mut add = |name: &str, workers, faults: &Faults, peace, share| {
        let scenario = Scenario::new(workers, faults.clone()).with_intervals(INTERVALS);
        plan.push((name.to_owned(), scenario.with_weather(24, peace), share));
    };
    for workers in [2, 3, 5, 10] {
        add("all together", workers, &Faults::all(), 40, 0.11);
    }
    let mut mixed = Faults::all();
    mixed.mixed_gaps = true;
    for workers in [3, 5] {
        add("all, mixed gaps", workers, &mixed, 40, 0.09);
    }
    let kinds = Fault::ALL.len();
    for &fault in Fault::ALL {
        let often = Faults::none().with(fault, fault.usual_rate() * 4.0);
        let slow = fault == Fault::ClockStep || fault.is_of_other_intervals();
        let peace = if slow { 40 } else { 5 };
        add(fault.name(), 5, &often, peace, 0.38 / f64::from(u32::try_from(kinds).unwrap_or(1)));
    }
    plan
}

fn main() -> ExitCode {
    let asked = std::env::args().nth(1);
    let Ok(millions) = asked.as_deref().unwrap_or("1").parse::<f64>() else {
        eprintln!("millions of worker-intervals is {asked:?}, must be a number");
        return ExitCode::FAILURE;
    };
    let (mut faults, mut total, start) = (BTreeMap::new(), 0, Instant::now());
    for (name, scenario, share) in plan() {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let worker_intervals = (millions * 1e6 * share) as u64;
        match soak(&name, &scenario, worker_intervals, &mut faults) {
            Ok(done) => total += done,
            Err(trace) => {
                eprintln!("{trace}");
                return ExitCode::FAILURE;
            }
        }
    }
    println!("{total} worker-intervals in {:.0} s, no violation", start.elapsed().as_secs_f64());
    for (fault, count) in faults {
        println!("{count:>9} {fault}");
    }
    ExitCode::SUCCESS
}
