//! What the slots layout is for: indices that stay, and answers that can be asked for again.

use std::time::Duration;

use n_and_i::Layout;
use n_and_i_core::{Mapping, Rebalance};
use n_and_i_sim::{Fault, Faults, Outcome, Plan, Scenario};

/// In each layout, kept serving with jump, the mean over some runs.
fn both(scenario: &Scenario, figure: fn(&Outcome) -> Option<f64>) -> [f64; 2] {
    const SEEDS: u32 = 5;
    [Layout::Counters, Layout::Slots].map(|layout| {
        let scenario = scenario.clone().with_layout(layout);
        let scenario = scenario.with_rebalance(Rebalance::KeepServing).with_mapping(Mapping::Jump);
        let figures = (1..=SEEDS).map(|seed| {
            let outcome = scenario.run(seed.into());
            assert_eq!(outcome.violation, None, "{layout}, seed {seed}");
            figure(&outcome).expect("there was such a thing")
        });
        figures.sum::<f64>() / f64::from(SEEDS)
    })
}

fn planned(workers: usize, plan: Plan, every: f64) -> Scenario {
    let scenario = Scenario::new(workers, Faults::none()).with_plan(plan, every);
    scenario.expect("a good distance").with_intervals(1_000)
}

#[test]
fn a_restart_is_the_business_of_the_one_that_is_restarted() {
    for (workers, mean, least) in [(10, 0.92, 0.8), (30, 0.97, 0.9)] {
        let scenario = planned(workers, Plan::RollingRestart, 4.0);
        let [counters, slots] = both(&scenario, |outcome| Some(outcome.served_mean));
        assert!(counters < slots - 0.1 && slots > mean, "{counters}, {slots}");
        let [counters, slots] = both(&scenario, |outcome| Some(outcome.served_min));
        assert!(counters < 0.2 && slots > least, "{counters}, {slots}");
    }
}

#[test]
fn a_join_appends_and_a_leave_moves_one() {
    for (workers, join, leave) in [(10, 0.15, 0.4), (30, 0.06, 0.15)] {
        let scenario = planned(workers, Plan::JoinAndLeave, 10.0);
        let [counters, slots] = both(&scenario, |outcome| outcome.lost_per_join);
        assert!(slots < join && counters > 2.0 * slots, "{counters}, {slots}");
        let [counters, slots] = both(&scenario, |outcome| outcome.lost_per_leave);
        assert!(slots < leave && counters > 2.0 * slots, "{counters}, {slots}");
    }
}

#[test]
fn a_lost_answer_costs_nothing() {
    let faults = Faults::none().with(Fault::LostReply, 0.01);
    // One storm from the first settling to the end.
    let scenario = Scenario::new(10, faults).with_weather(1_000, 14).with_intervals(1_000);
    let [counters, slots] = both(&scenario, |outcome| Some(outcome.served_mean));
    assert!(counters < 0.99 && slots > 0.999, "{counters}, {slots}");
}

#[test]
fn neighbours_may_register_in_any_order() {
    let scenario = Scenario::new(3_000, Faults::none()).with_delay(Duration::from_millis(2));
    let scenario = scenario.with_intervals(30).with_layout(Layout::Slots);
    let outcome = scenario.run(1);
    assert_eq!((outcome.violation, outcome.peaces), (None, 1));
    assert!(outcome.served_min > 0.999_9, "{outcome:?}");
    let outcome = scenario.with_layout(Layout::Counters).allow_unsettled().run(1);
    assert!(outcome.unsettled > 0 && outcome.served_mean < 0.9, "{outcome:?}");
}
