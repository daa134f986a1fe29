//! Every state of small groups with a few faults, in each layout and mode of rebalancing. `MODEL=large` walks
//! through larger ones, which wants `--release`. With `--nocapture` the numbers of states are printed.

use n_and_i::Layout;
use n_and_i_core::Rebalance::{self, KeepServing, StandDown};
use n_and_i_model::{Fault, Setup, check};

/// Whether the larger setups were asked for.
fn is_large() -> bool {
    std::env::var("MODEL").is_ok_and(|size| size == "large")
}

const MIXED: [Rebalance; 3] = [KeepServing, StandDown, KeepServing];

/// At least this many states in each mode: fewer would mean that something is not tried any more.
fn check_at_least(states: usize, setup: &Setup) {
    for modes in [[StandDown; 3], [KeepServing; 3], MIXED] {
        check_in(modes, states, setup);
    }
    // Whoever may serve more: the others are held to less of the same.
    check_in([KeepServing; 3], states / 6, &setup.clone().in_layout(Layout::Slots));
}

fn check_in(modes: [Rebalance; 3], states: usize, setup: &Setup) {
    let counted = check(setup.clone().in_modes(modes));
    assert!(counted.unique_states >= states, "{counted:?}");
}

#[test]
fn a_settled_group_under_any_two_faults() {
    let mut setup = Setup::new("settled, any two faults", 2, &Fault::ALL);
    if is_large() {
        return check_at_least(6_000_000, &setup);
    }
    (setup.starts_every, setup.delays) = (200, vec![200, 450, 1_250]);
    setup.steps = vec![-1_000, -50, 50, 300];
    (setup.intervals, setup.aftermath) = (2, 3);
    check_at_least(790_000, &setup);
}

#[test]
fn a_newcomer_under_any_fault() {
    let mut setup = Setup::new("newcomer, any fault", 1, &Fault::ALL);
    setup.running = 2;
    setup.starts_every = 200;
    if is_large() {
        (setup.name, setup.budget) = ("newcomer, any two faults", 2);
        (setup.delays, setup.steps) = (vec![300, 1_000, 1_250], vec![-300, 50, 300]);
        (setup.intervals, setup.aftermath) = (2, 3);
    }
    check_at_least(200_000, &setup);
}

#[test]
fn faults_while_a_newcomer_changes_all_shares() {
    let faults = [Fault::Stall, Fault::Crash, Fault::LateReply];
    let mut setup = Setup::new("newcomer, two faults meanwhile", 2, &faults);
    (setup.running, setup.starts_every, setup.intervals) = (2, 500, 4);
    setup.delays = vec![450, 1_250];
    if is_large() {
        setup.starts_every = 250;
        setup.delays = vec![300, 450, 1_000, 1_250];
        setup.faults.extend([Fault::LostReply, Fault::LoseOpen, Fault::Leave]);
    }
    check_at_least(570_000, &setup);
}

#[test]
fn a_group_that_starts_from_nothing() {
    let mut setup = Setup::new("from nothing", 0, &[]);
    (setup.running, setup.starts, setup.starts_every) = (0, 3, 100);
    (setup.intervals, setup.aftermath) = (3, 3);
    if is_large() {
        (setup.name, setup.budget) = ("from nothing, any fault", 1);
        (setup.faults, setup.starts_every) = (Fault::ALL.to_vec(), 250);
        setup.delays = vec![300, 1_000, 1_250];
    }
    for modes in [[StandDown; 3], [KeepServing; 3]] {
        check_in(modes, 280_000, &setup);
    }
    // No place is as good as another, so each start is several.
    setup.starts_every *= 2;
    check_in(MIXED, 200_000, &setup);
}

#[test]
fn whoever_comes_or_goes_all_is_owned_again() {
    let mut setup = Setup::new("come and go", 2, &[Fault::Crash, Fault::Leave]);
    (setup.starts_every, setup.aftermath) = (200, 5);
    if is_large() {
        (setup.starts, setup.starts_every) = (2, 100);
    }
    for layout in [Layout::Counters, Layout::Slots] {
        let setup = setup.clone().in_layout(layout);
        check_in([KeepServing; 3], 20_000, &setup);
    }
}

#[test]
fn workers_with_different_gaps_and_slow_messages() {
    let faults = [Fault::LateReply, Fault::LateRequest, Fault::Stall];
    let mut setup = Setup::new("different gaps, three delays", 3, &faults);
    (setup.gaps, setup.starts) = (vec![0.45, 0.02, 0.2], 0);
    setup.delays = vec![50, 350];
    if is_large() {
        setup.delays = vec![50, 200, 350, 1_100];
    } else {
        setup.intervals = 2;
    }
    check_at_least(230_000, &setup);
}

#[test]
fn a_server_that_loses_data_three_times() {
    let faults = [Fault::LoseOpen, Fault::LoseClosed, Fault::LoseGuard, Fault::RollBack];
    let mut setup = Setup::new("three losses of data", 3, &faults);
    if is_large() {
        setup.name = "three losses of data or repeated requests";
        setup.faults.push(Fault::Duplicate);
    } else {
        setup.intervals = 2;
    }
    check_at_least(120_000, &setup);
}

#[test]
fn a_server_whose_clock_steps_twice() {
    let mut setup = Setup::new("two steps of the clock", 2, &[Fault::ClockStep]);
    setup.starts_every = 100;
    setup.steps = vec![-2_000, -1_000, -300, -50, -40, 40, 50, 300, 1_000, 2_000];
    if is_large() {
        (setup.name, setup.budget) = ("three steps, crashes and late replies", 3);
        setup.faults = vec![Fault::ClockStep, Fault::Crash, Fault::LateReply];
        (setup.steps, setup.delays) = (vec![-300, -50, 50, 300], vec![450, 1_250]);
        (setup.intervals, setup.aftermath) = (2, 3);
    }
    check_at_least(140_000, &setup);
}

#[test]
fn two_workers_under_any_three_faults() {
    let mut setup = Setup::new("two workers, any three faults", 3, &Fault::ALL);
    (setup.gaps, setup.running) = (vec![0.2; 2], 2);
    (setup.intervals, setup.aftermath) = (2, 3);
    (setup.delays, setup.steps) = (vec![300, 1_000, 1_250], vec![-300, 50, 300]);
    if !is_large() {
        (setup.name, setup.budget) = ("two workers, any two faults", 2);
    }
    check_at_least(460_000, &setup);
}
