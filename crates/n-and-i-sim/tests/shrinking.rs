//! Property tests over faults: `PROPTEST_RNG_SEED=n` repeats a run, a failure prints its case.
#![cfg(feature = "proptest")]

use n_and_i_sim::{Fault, Faults, Rebalancing, Scenario, Violation, any_faults};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};

/// A clock that went back leaves counters that take some intervals to get over.
fn is_conflict(violation: Option<Violation>) -> bool {
    !matches!(violation, None | Some(Violation::NotSettled { .. }))
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::with_cases(768) })]

    #[test]
    fn no_mix_of_faults_breaks_the_promise(
        faults in any_faults(),
        rebalancing in proptest::sample::select(&Rebalancing::ALL[..]),
        workers in 1_usize..6,
        seed: u64,
    ) {
        let scenario = Scenario::new(workers, faults).with_rebalance(rebalancing);
        let outcome = scenario.with_intervals(200).run(seed);
        prop_assert!(!is_conflict(outcome.violation), "{outcome:?}");
    }
}

#[test]
fn a_failing_case_shrinks_to_the_faults_that_matter() {
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    // Pretend that a crash together with a flush were a failure.
    let both = |faults: &Faults| faults.rate(Fault::Crash) > 0.0 && faults.rate(Fault::Flush) > 0.0;
    let result = runner.run(&any_faults(), |faults| {
        prop_assert!(!both(&faults));
        Ok(())
    });
    let Err(TestError::Fail(_, smallest)) = result else { panic!("{result:?}") };
    assert_eq!(smallest.kinds().collect::<Vec<_>>(), [Fault::Crash, Fault::Flush]);
    assert!(!smallest.mixed_gaps);
}
