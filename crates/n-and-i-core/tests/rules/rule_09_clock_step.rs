use n_and_i_core::{Change, Diagnostic, Failure, Output, Reason};

use crate::support::{Counted, Worker, at, change, changes_in_words, counted, in_millis};

fn saw_step(outputs: &[Output]) -> bool {
    let is_step =
        |output: &Output| matches!(output, Output::Report(Diagnostic::ClockStepped { .. }));
    outputs.iter().any(is_step)
}

#[test]
fn a_step_is_more_than_round_trips_and_a_quarter_of_the_gap_explain() {
    let at_once = (counted(1, None), counted(1, 3));
    // Between the readings of the server's clock at 400 and 1,500, the worker can only tell
    // that at least 1,000 ms (500 to 1,500) and at most 1,150 ms (400 to 1,550) passed.
    let slow = (counted(1, None).inward(100), counted(1, 3).inward(50));
    // Counted at 600 and 1,800; between 1,000 (600 to 1,600) and 1,400 ms (400 to 1,800).
    let slow_there = (counted(1, None).outward(200), counted(1, 3).outward(200));
    let cases = [
        (at_once, 0, false),
        (at_once, 50_000, false),
        (at_once, 50_001, true),
        (at_once, -50_000, false),
        (at_once, -50_001, true),
        (slow, 100_000, false),
        (slow, 100_001, true),
        (slow, -150_000, false),
        (slow, -150_001, true),
        (slow_there, 250_000, false),
        (slow_there, 250_001, true),
        (slow_there, -250_000, false),
        (slow_there, -250_001, true),
    ];
    for ((first, second), micros, stepped) in cases {
        let mut worker = Worker::start(400);
        worker.register(first);
        worker.step_server_micros(micros);
        worker.register(second);
        assert_eq!(saw_step(&worker.take()), stepped, "{micros} µs, {first:?}, {second:?}");
    }
}

#[test]
fn a_suspend_is_no_step() {
    let mut worker = Worker::settled();
    worker.await_request();
    worker.take();
    // Ten minutes pass on both clocks.
    worker.wake(at(3_500 + 600_000));
    worker.register(counted(1, None));
    assert!(!saw_step(&worker.take()));
}

#[test]
fn a_step_costs_everything_and_two_intervals() {
    // The lease was granted by a request of 2,500; the step shows in a reply at 3,500.
    let prompt = counted(1, 3);
    let slow_back = counted(1, 3).inward(100);
    let cases: [(&str, i64, Counted, u64, u64); 6] = [
        ("forwards", 5_000, prompt, 108, 5_500),
        ("backwards", -3_000, prompt, 100, 5_500),
        ("forwards within the interval", 400, prompt, 103, 6_100),
        // Below, two replies agree at 5,200 already.
        ("forwards and out of phase", 5_300, prompt, 108, 6_200),
        ("backwards and out of phase", -2_700, prompt, 100, 6_200),
        // Two intervals count from the reply; two agree at 5,500, which is 100 ms too early.
        ("seen late", 5_000, slow_back, 108, 6_500),
    ];
    for (name, by, reply, stage, owned_from) in cases {
        let mut worker = Worker::settled();
        worker.step_server(by);
        worker.register(reply);
        let outputs = worker.take();
        assert!(saw_step(&outputs), "{name}");
        let idle = Change {
            owned: Err(Reason::ClockStepped),
            stage: Some(stage),
            drain_until: Some(at(3_925)),
        };
        assert_eq!(outputs.into_iter().filter_map(change).collect::<Vec<_>>(), [idle], "{name}");
        assert_eq!(owned_again(&mut worker), owned_from, "{name}");
    }
}

#[test]
fn every_further_step_costs_two_intervals_more() {
    for second in [5_000, -5_000] {
        let mut worker = Worker::settled();
        worker.step_server(5_000);
        worker.register(counted(1, 3));
        worker.step_server(second);
        worker.register(counted(1, 3));
        assert_eq!(owned_again(&mut worker), 4_500 + 2_000, "{second}");
    }
}

#[test]
fn a_refusal_shows_a_step_as_well_as_a_reply_does() {
    let mut worker = Worker::settled();
    worker.step_server(5_000);
    worker.await_request();
    let server_time = worker.server_time();
    worker.fail(0, Failure::TooLate { at: server_time });
    let outputs = worker.take();
    assert!(saw_step(&outputs));
    assert_eq!(changes_in_words(&outputs), ["idle: clock-stepped"]);

    // Retried at 3,625, then in the slots at 4,500 and 5,500.
    assert_eq!(owned_again(&mut worker), 5_500);
    assert!(!saw_step(&worker.take()), "a step is seen once");
}

/// When the worker, registering as 1 of 3 all the time, is granted its next lease.
fn owned_again(worker: &mut Worker) -> u64 {
    for _ in 0..10 {
        assert_eq!(worker.machine.lease(), None);
        worker.register(counted(1, 3));
        if worker.machine.lease().is_some() {
            return in_millis(worker.now);
        }
    }
    panic!("never granted again");
}

/// A step just before the first reply cannot be seen in it. With the smallest of gaps, two more
/// registrations follow within little more than an interval, and a worker with a wide gap may
/// still own the same by a lease from before the step. Its clock may be fast, so 1,575 ms.
#[test]
fn a_new_worker_owns_nothing_for_one_and_a_half_intervals() {
    // The first of three, whose slot is at 300. Counted by a first registration at this phase,
    // it registers again at 1,300, 2,300, 3,300.
    for (phase, owned_from) in [(400, 2_300), (725, 2_300), (726, 3_300), (999, 3_300)] {
        let mut worker = Worker::start(phase);
        while worker.machine.lease().is_none() {
            worker.register(counted(0, 3));
        }
        assert_eq!(in_millis(worker.now), owned_from, "{phase}");
    }
}
