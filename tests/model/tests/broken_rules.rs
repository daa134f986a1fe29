//! The check can fail: each rule left out by the model is missed, with the fewest faults
//! that show it. With `--nocapture` the shortest path to the damage is printed.

use n_and_i_core::Rebalance;
use n_and_i_model::{BrokenRule, Fault, LeaseModel, Setup, counterexample};

/// The rule is missed with the faults of the setup, though not with fewer, and with the rule
/// kept there is nothing to find.
fn missed(setup: Setup, rule: BrokenRule, property: &'static str) {
    assert_eq!(counterexample(&setup, property), None);
    let broken = setup.breaking(rule);
    if let Some(fewer) = broken.budget.checked_sub(1) {
        let fewer = Setup { budget: fewer, ..broken.clone() };
        assert_eq!(counterexample(&fewer, property), None);
    }
    let path = counterexample(&broken, property).expect("the rule is missed");
    assert!(!path.is_empty());
}

/// No newcomers, so that faults alone are what is counted.
fn setup(budget: u8, faults: &[Fault]) -> Setup {
    let setup = Setup::new("broken rule", budget, faults);
    Setup { starts: 0, intervals: 2, aftermath: 1, ..setup }
}

#[test]
fn rule_2_two_intervals_must_agree() {
    missed(setup(1, &[Fault::Crash]), BrokenRule::ActOnDisagreement, LeaseModel::EXCLUSIVE);
}

/// Somebody crashes, and the others are watched until all is owned again.
fn one_crash(modes: [Rebalance; 3]) -> Setup {
    Setup { aftermath: 2, ..setup(1, &[Fault::Crash]) }.in_modes(modes)
}

#[test]
fn rule_2_what_is_served_meanwhile_belongs_to_the_older_pair_too() {
    let setup = one_crash([Rebalance::KeepServing; 3]);
    missed(setup, BrokenRule::ServeNewest, LeaseModel::EXCLUSIVE);
}

#[test]
fn rule_2_what_is_served_meanwhile_belongs_to_the_newer_pair_too() {
    let setup = one_crash([Rebalance::KeepServing; 3]);
    missed(setup, BrokenRule::ServePrevious, LeaseModel::EXCLUSIVE);
}

#[test]
fn a_token_is_that_of_the_grant() {
    for mode in [Rebalance::StandDown, Rebalance::KeepServing] {
        missed(one_crash([mode; 3]), BrokenRule::StaleToken, LeaseModel::FENCED);
    }
}

#[test]
fn rule_3_a_lease_has_a_cap() {
    missed(setup(2, &[Fault::Stall]), BrokenRule::StretchedLease, LeaseModel::EXCLUSIVE);
}

#[test]
fn rule_3_a_lease_is_counted_from_the_request() {
    let mut setup = setup(3, &[Fault::LateRequest, Fault::LateReply, Fault::Stall]);
    (setup.gaps, setup.delays) = (vec![0.45, 0.02, 0.2], vec![120, 290, 410]);
    missed(setup, BrokenRule::ReplyAnchor, LeaseModel::EXCLUSIVE);
}

#[test]
fn rule_5_expiry_is_a_matter_of_the_clock() {
    missed(setup(2, &[Fault::Stall]), BrokenRule::IgnoreLeaseEnd, LeaseModel::EXCLUSIVE);
}

#[test]
fn rule_8_a_counter_created_anew_has_another_stamp() {
    missed(setup(2, &[Fault::LoseOpen]), BrokenRule::ConstantStamp, LeaseModel::EXCLUSIVE);
}

#[test]
fn rule_8_a_server_that_takes_over_has_another_name() {
    missed(setup(2, &[Fault::RollBack]), BrokenRule::SameServer, LeaseModel::EXCLUSIVE);
}

#[test]
fn a_drain_deadline_is_no_later_than_it_must_be() {
    let mut setup = setup(1, &[Fault::Stall]);
    // The first slot is little more than the gap from the start of the interval.
    (setup.gaps, setup.delays) = (vec![0.3; 3], vec![100, 200]);
    missed(setup.clone(), BrokenRule::LongDrain, LeaseModel::DRAINED);
    let serving = setup.in_modes([Rebalance::KeepServing; 3]);
    missed(serving, BrokenRule::LongDrain, LeaseModel::DRAINED);
}

#[test]
fn a_deadline_that_was_handled_is_over() {
    missed(setup(0, &[]), BrokenRule::StaleReading, LeaseModel::AWAKE);
}
