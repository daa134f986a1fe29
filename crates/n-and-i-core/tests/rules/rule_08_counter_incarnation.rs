use crate::support::{Counted, Worker, counted, implied, pair};

#[test]
fn an_index_counts_only_in_the_incarnation_that_gave_it() {
    let held = counted(1, None).stamp(7);
    let cases = [
        ("the same", counted(1, 3).previous_stamp(7), true),
        ("created anew", counted(1, 3).previous_stamp(8), false),
        ("forgotten or not final", counted(1, 3).previous_stamp(None), false),
        ("that of the open interval", counted(1, 3).stamp(7).previous_stamp(8), false),
        ("the open interval's does not matter", counted(1, 3).stamp(9).previous_stamp(7), true),
    ];
    for (name, reply, implies) in cases {
        let mut worker = Worker::start(400);
        worker.register_all([held, reply]);
        assert_eq!(implied(&worker.take()), implies.then(|| pair(1, 3)), "{name}");
    }
}

#[test]
fn a_counter_created_anew_costs_two_agreeing_intervals() {
    // The counter of interval 102, in which the worker was index 1, is lost while it is open.
    let lost = counted(1, 3).stamp(7);
    let recovered: &[Counted] =
        &[counted(1, 3).stamp(8).previous_stamp(6), counted(1, 3).previous_stamp(8), counted(1, 3)];
    let memory_lost: &[Counted] =
        &[counted(1, 3).previous_stamp(None), counted(1, 3), counted(1, 3)];
    for (name, replies) in [("renewed", recovered), ("memory of stamps lost", memory_lost)] {
        let mut worker = Worker::start(400);
        worker.register_all([counted(1, None), counted(1, 3), lost]);
        assert_eq!(worker.take_changes_in_words(), ["idle: starting", "1 of 3 since 102"]);
        worker.register(replies[0]);
        assert_eq!(worker.take_changes_in_words(), ["idle: rebalancing"], "{name}");
        worker.register(replies[1]);
        assert_eq!(worker.take_changes_in_words(), [""; 0], "{name}");
        worker.register(replies[2]);
        assert_eq!(worker.take_changes_in_words(), ["1 of 3 since 105"], "{name}");
    }
}

#[test]
fn nothing_is_owned_while_every_counter_is_lost() {
    let mut worker = Worker::start(400);
    worker.take();
    for generation in 0..20 {
        worker.register(counted(0, 1).stamp(generation).previous_stamp(generation + 1_000));
    }
    assert_eq!(worker.take_changes_in_words(), [""; 0]);
}
