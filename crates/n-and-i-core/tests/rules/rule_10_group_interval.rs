use n_and_i_core::Failure;

use crate::support::{Worker, at, change, counted, in_millis, millis};

/// The group runs at this interval length, in milliseconds.
fn mismatch(group: u64) -> Failure {
    Failure::IntervalMismatch { group: millis(group) }
}

#[test]
fn who_was_refused_owns_nothing_for_one_and_a_half_of_the_other_interval() {
    // Refused at 401, retried and counted at 526; without the wait, the reply at 2,500 grants.
    let cases: [(&str, &[u64], u64); 7] = [
        ("shorter than ours", &[500], 2_500),
        ("over exactly when two agree", &[1_253], 2_500),
        ("over just after that", &[1_254], 3_500),
        ("longer than ours", &[4_000], 7_500),
        // Refused again at 527 and 778, counted at 1,278.
        ("the longest counts, first", &[4_000, 2_000, 500], 8_500),
        ("the longest counts, last", &[500, 2_000, 4_000], 8_500),
        ("no interval at all", &[0], 2_500),
    ];
    for (name, groups, owned_from) in cases {
        let mut worker = Worker::start(400);
        for &group in groups {
            worker.fail(1, mismatch(group));
        }
        worker.register(counted(1, None));
        for _ in 0..10 {
            if worker.machine.lease().is_none() {
                worker.register(counted(1, 3));
            }
        }
        assert_eq!(in_millis(worker.now), owned_from, "{name}");
    }
}

#[test]
fn a_refusal_is_waited_out_once() {
    let mut worker = Worker::start(400);
    worker.fail(1, mismatch(1_254));
    worker.register_all([counted(1, None), counted(1, 3), counted(1, 3), counted(1, 3)]);
    assert_eq!(worker.lease_in_words(), "1 of 3 since 103 until 4700");
    worker.register(counted(1, 3));
    assert_eq!(worker.lease_in_words(), "1 of 3 since 103 until 5700");
}

#[test]
fn an_owner_that_is_refused_gives_its_pair_up_once_it_is_counted_again() {
    let mut worker = Worker::settled();
    worker.fail(1, mismatch(2_000));
    assert!(worker.take().into_iter().all(|output| change(output).is_none()));

    worker.register(counted(1, 3));
    assert!(worker.now < at(3_700), "before the lease is over");
    assert_eq!(worker.take_changes_in_words(), ["idle: rebalancing"]);
}
