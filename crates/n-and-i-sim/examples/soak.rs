//! A long run over all faults, together and each alone, that counts what happened:
//! `cargo run --release -p n-and-i-sim --example soak -- 100` for 100 million worker-intervals, a
//! sixth of them in each layout and mode of rebalancing; `-- 100 slots keep-serving mixed` for this
//! layout and these modes only.
//! Ends with the seed and the trace of the first violation.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

use n_and_i::Layout;
use n_and_i_sim::{Fault, Faults, Rebalancing, Scenario};

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
    println!("{name:<42} {workers:>3} workers, seeds 1..={seed:<6} {done:>11} in {took:.1} s");
    Ok(done)
}

/// What is run, and its share of the whole.
fn plan((layout, rebalancing): (Layout, Rebalancing)) -> Vec<(String, Scenario, f64)> {
    let mut plan = Vec::new();
    let mut add = |name: &str, workers, faults: &Faults, peace, share| {
        let scenario = Scenario::new(workers, faults.clone()).with_intervals(INTERVALS);
        let scenario = scenario.with_weather(24, peace).with_layout(layout);
        let scenario = scenario.with_rebalance(rebalancing);
        plan.push((format!("{layout}, {rebalancing}, {name}"), scenario, share));
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

fn run(millions: f64, ways: &[(Layout, Rebalancing)]) -> Result<(), String> {
    let (mut faults, mut total, start) = (BTreeMap::new(), 0, Instant::now());
    let plans: Vec<_> = ways.iter().copied().map(plan).collect();
    let millions = millions / f64::from(u32::try_from(plans.len()).unwrap_or(1));
    for (name, scenario, share) in plans.iter().flatten() {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let worker_intervals = (millions * 1e6 * share) as u64;
        total += soak(name, scenario, worker_intervals, &mut faults)?;
    }
    println!("{total} worker-intervals in {:.0} s, no violation", start.elapsed().as_secs_f64());
    for (fault, count) in faults {
        println!("{count:>9} {fault}");
    }
    Ok(())
}

/// The layouts and modes of these names: all layouts if none is named, and all modes.
fn ways(names: &[String]) -> Result<Vec<(Layout, Rebalancing)>, String> {
    let is_known = |name: &&String| {
        Layout::ALL.iter().any(|layout| layout.as_str() == name.as_str())
            || Rebalancing::ALL.iter().any(|mode| mode.as_str() == name.as_str())
    };
    if let Some(other) = names.iter().find(|name| !is_known(name)) {
        return Err(format!(
            "{other:?} is neither a layout (counters, slots) nor a mode (stand-down, keep-serving, \
             mixed)"
        ));
    }
    let is_named = |name: &str| names.iter().any(|named| named == name);
    let no_layout = !Layout::ALL.iter().any(|layout| is_named(layout.as_str()));
    let no_mode = !Rebalancing::ALL.iter().any(|mode| is_named(mode.as_str()));
    let layouts = Layout::ALL.iter().filter(|layout| no_layout || is_named(layout.as_str()));
    let modes = |layout: &Layout| {
        let modes = Rebalancing::ALL.into_iter().filter(|mode| no_mode || is_named(mode.as_str()));
        modes.map(|mode| (*layout, mode)).collect::<Vec<_>>()
    };
    Ok(layouts.flat_map(modes).collect())
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let asked = arguments.first().map_or("1", String::as_str);
    let Ok(millions) = asked.parse::<f64>() else {
        eprintln!("millions of worker-intervals is {asked:?}, must be a number");
        return ExitCode::FAILURE;
    };
    let done = ways(arguments.get(1..).unwrap_or_default()).and_then(|ways| run(millions, &ways));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}
