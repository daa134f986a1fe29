//! The promise under every fault, in both layouts and every mode of rebalancing. A failure names its seed; `SEED=n`
//! repeats it, and `SCALE=n` runs n times as many seeds (with `--release`).

use std::time::Duration;

use n_and_i::Layout;
use n_and_i_sim::{Fault, Faults, Rebalancing, Scenario};

/// Both layouts in every mode.
fn ways() -> impl Iterator<Item = (Layout, Rebalancing)> {
    let of = |&layout| Rebalancing::ALL.map(|rebalancing| (layout, rebalancing));
    Layout::ALL.iter().flat_map(of)
}

/// Runs some seeds in each layout and mode, or the seed in the environment. Returns the worker-intervals
/// simulated.
fn holds(scenario: &Scenario, seeds: u64, what: &str) -> u64 {
    let holds_in = |&layout| holds_in(layout, scenario, seeds, what);
    Layout::ALL.iter().map(holds_in).sum()
}

fn holds_in(layout: Layout, scenario: &Scenario, seeds: u64, what: &str) -> u64 {
    let chosen = std::env::var("SEED").ok().map(|seed| seed.parse().expect("SEED is a number"));
    let scale = std::env::var("SCALE").map_or(1, |scale| scale.parse().expect("a number"));
    let seeds = chosen.map_or(1..=seeds * scale, |seed: u64| seed..=seed);
    let mut total = 0;
    for rebalancing in Rebalancing::ALL {
        let scenario = scenario.clone().with_layout(layout).with_rebalance(rebalancing);
        for seed in seeds.clone() {
            let outcome = scenario.run(seed);
            total += outcome.worker_intervals;
            if let Some(violation) = outcome.violation {
                let trace = scenario.trace(seed).trace;
                let lines: Vec<_> = trace.lines().collect();
                let end = lines[lines.len().saturating_sub(60)..].join("\n");
                panic!("{what}, {layout}, {rebalancing}, SEED={seed}: {violation}\n{end}");
            }
        }
    }
    total
}

#[test]
fn one_seed_is_one_run() {
    for (layout, rebalancing) in ways() {
        let scenario = Scenario::new(7, Faults::all()).with_intervals(400);
        let scenario = scenario.with_layout(layout).with_rebalance(rebalancing);
        let (first, second) = (scenario.trace(5), scenario.trace(5));
        assert!(first.trace.len() > 100_000);
        assert!(first == second);
        assert_ne!(first.trace, scenario.trace(6).trace);
        // Tracing changes nothing but the trace.
        let silent = scenario.run(5);
        assert_eq!((silent.registrations, silent.faults), (first.registrations, first.faults));
    }
}

#[test]
fn a_calm_group_owns_everything_nearly_all_the_time() {
    for (layout, rebalancing) in ways() {
        let scenario = Scenario::new(10, Faults::none()).with_intervals(2000);
        let outcome = scenario.with_layout(layout).with_rebalance(rebalancing).run(1);
        assert_eq!(outcome.violation, None);
        assert!(outcome.served_mean > 0.999_9 && outcome.served_min > 0.999, "{outcome:?}");
        assert!(outcome.faults.is_empty());
        // One registration per worker and interval.
        assert!(outcome.registrations.abs_diff(outcome.worker_intervals) <= 20, "{outcome:?}");
    }
}

#[test]
fn each_fault_alone() {
    for &fault in Fault::ALL {
        for workers in [1, 2, 5] {
            // Often enough that a storm meets several.
            let faults = Faults::none().with(fault, fault.usual_rate() * 4.0);
            // Five intervals after the last of them everybody owns something again, except
            // that a clock which went back leaves counters that take longer to get over, and
            // that another interval's guard must expire.
            let slow =
                matches!(fault, Fault::ClockStep | Fault::OtherInterval | Fault::LostAfterRefusal);
            let peace = if slow { 20 } else { 5 };
            let scenario =
                Scenario::new(workers, faults).with_intervals(600).with_weather(24, peace);
            holds(&scenario, 2, fault.name());
            let happened = scenario.run(1).faults;
            assert!(happened.iter().any(|&(kind, count)| kind == fault && count > 3), "{fault}");
        }
    }
}

#[test]
fn everything_together() {
    let mut total = 0;
    for workers in [2, 3, 5, 10] {
        let scenario = Scenario::new(workers, Faults::all()).with_intervals(1000);
        total += holds(&scenario, 12, "everything");
    }
    if std::env::var_os("SEED").is_none() {
        assert!(total > 1_200_000, "{total}");
    }
}

#[test]
fn who_keeps_serving_owns_more_whatever_happens() {
    let served = |rebalancing| {
        let scenario = Scenario::new(5, Faults::all()).with_intervals(5000);
        scenario.with_rebalance(rebalancing).run(1).served_mean
    };
    let [none, all, _] = Rebalancing::ALL.map(served);
    assert!(none + 0.015 < all, "{none}, {all}");
}

#[test]
fn lost_data_in_every_interval() {
    for fault in [Fault::LoseOpen, Fault::LoseClosed, Fault::LoseGuard, Fault::Flush] {
        let faults = Faults::none().with(fault, 1.5).with(Fault::Crash, 0.1);
        holds(&Scenario::new(4, faults).with_intervals(1000), 10, fault.name());
    }
}

#[test]
fn clocks_that_step_while_gaps_differ_and_messages_are_slow() {
    let faults = Faults::none()
        .with(Fault::ClockStep, 0.2)
        .with(Fault::SmallStep, 1.0)
        .with(Fault::SlowMessage, 0.3)
        .with(Fault::Crash, 0.3)
        .with(Fault::Join, 0.2);
    // The smallest gap of the mix, 0.03, takes clocks that differ by less than a quarter of it:
    // more looks like a step in every interval.
    for (mixed_gaps, clock_rate) in [(true, 0.001), (false, 0.01), (true, 0.0)] {
        let mut faults = faults.clone();
        (faults.mixed_gaps, faults.clock_rate) = (mixed_gaps, clock_rate);
        // After a clock that went back, indices start high for as many intervals.
        let scenario = Scenario::new(3, faults).with_intervals(1000).with_weather(24, 40);
        holds(&scenario, 60, "clock steps");
    }
}

#[test]
fn workers_that_know_only_the_counters() {
    let mut faults = Faults::none().with(Fault::Crash, 0.05).with(Fault::LostReply, 0.02);
    faults.foreign = 2;
    holds(&Scenario::new(4, faults).with_intervals(1000), 10, "foreign workers");
}

#[test]
fn another_interval_while_nothing_is_lost() {
    let mut faults = Faults::all().with(Fault::OtherInterval, 0.1);
    for loses in [Fault::Flush, Fault::LoseGuard, Fault::RestartEmpty, Fault::Rollback] {
        faults = faults.with(loses, 0.0);
    }
    // A clock that jumps ahead makes the guard expire, which loses it too.
    faults = faults.with(Fault::ClockStep, 0.0);
    let scenario = |faults| Scenario::new(4, faults).with_intervals(1000);
    holds_in(Layout::Counters, &scenario(faults.clone()), 20, "another interval");
    // What is lost of slots is lost as a whole.
    faults = faults.with(Fault::LoseOpen, 0.0).with(Fault::LoseClosed, 0.0);
    holds_in(Layout::Slots, &scenario(faults), 20, "another interval");
}

#[test]
fn a_clock_that_leaps_just_after_a_registration_while_somebody_joins() {
    for mixed_gaps in [false, true] {
        let mut faults = Faults::none().with(Fault::LeapAndJoin, 0.3).with(Fault::Crash, 0.1);
        faults.mixed_gaps = mixed_gaps;
        for workers in [1, 2, 4] {
            let scenario = Scenario::new(workers, faults.clone()).with_intervals(1000);
            holds(&scenario.with_weather(24, 20), 20, "leaps");
        }
    }
}

#[test]
fn everything_lost_just_after_another_interval_was_refused() {
    for workers in [1, 2, 4] {
        let faults = Faults::none().with(Fault::LostAfterRefusal, 0.3);
        let scenario = Scenario::new(workers, faults).with_intervals(1000).with_weather(24, 20);
        holds(&scenario, 20, "losses after refusals");
    }
}

#[test]
fn a_round_trip_longer_than_the_gap() {
    // Two round trips must fit into the gap, here 3 ms. If they do not, less and less is owned, but
    // never twice.
    let mut served = Vec::new();
    for micros in [100, 500, 800, 1_000, 3_000, 10_000] {
        let scenario = Scenario::new(3, Faults::all())
            .with_timing(Duration::from_millis(20), 0.15)
            .expect("a good interval and gap")
            .with_delay(Duration::from_micros(micros))
            .with_intervals(1000)
            .allow_unsettled();
        holds(&scenario, 10, "slow messages");
        served.push(scenario.run(1).served_mean);
    }
    assert!(served[0] > 0.4 && served[5] < 0.01, "{served:?}");
}

#[test]
fn a_broken_promise_is_found() {
    // Two lengths of interval in one group while the guard is lost: known not to be covered.
    let faults = Faults::none().with(Fault::OtherInterval, 0.3).with(Fault::Flush, 0.5);
    let scenario = Scenario::new(4, faults).with_intervals(2000);
    for rebalancing in Rebalancing::ALL {
        let scenario = scenario.clone().with_rebalance(rebalancing);
        assert!((1..=20).any(|seed| scenario.run(seed).violation.is_some()), "{rebalancing}");
    }
}
