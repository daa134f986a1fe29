use n_and_i_core::{Failure, InvalidReply, Output, Rejected, Reply, ServerTime};

use crate::support::{Counted, INTERVAL, Worker, at, change, counted, millis, server, timing};

const MISMATCH: Failure = Failure::IntervalMismatch { group: millis(2_000) };

type FailureNow = dyn Fn(&Worker) -> Failure;

#[test]
fn what_certainly_did_not_run_is_retried_with_back_off() {
    let too_late = |worker: &Worker| Failure::TooLate { at: worker.server_time() };
    let cases: [(&str, &FailureNow); 4] = [
        ("not executed", &|_| Failure::NotExecuted),
        ("counted once only, however often it is asked for", &|_| Failure::Repeatable),
        ("too late", &too_late),
        ("refused", &|_| MISMATCH),
    ];
    for (name, failure) in cases {
        let mut worker = Worker::start(400);
        // An eighth, a quarter, a half, one, and one from then on.
        for delay in [125, 250, 500, 1_000, 1_000, 1_000] {
            worker.await_request();
            worker.take();
            let failure = failure(&worker);
            worker.fail(0, failure);
            let failed_at = worker.now;
            assert!(worker.take().into_iter().all(|output| change(output).is_none()), "{name}");
            let next = worker.await_request().sent;
            assert_eq!(next, failed_at.saturating_add(millis(delay)), "{name}");
        }
        worker.register(counted(0, None));
        worker.await_request();
        let failure = failure(&worker);
        worker.fail(0, failure);
        let delay = worker.machine.poll_timeout();
        assert_eq!(delay, Some(worker.now.saturating_add(millis(125))), "{name}: starts anew");
    }
}

#[test]
fn hangs_and_unknown_outcomes_count_for_the_back_off() {
    let mut worker = Worker::start(400);
    worker.sleep_until(400 + INTERVAL);
    worker.fail(0, Failure::Unknown);
    worker.fail(0, Failure::NotExecuted);
    assert_eq!(worker.await_request().sent, worker.now);
    assert_eq!(worker.now, at(400 + 2 * INTERVAL + 500));
}

#[test]
fn after_an_unknown_outcome_the_next_is_at_the_slot_in_the_next_interval() {
    let at_once = counted(1, 3);
    let cases: [(&str, Counted, u64, u64); 9] = [
        // Sent at 1,500, phase 500 of interval 101.
        ("at once", at_once, 0, 2_500),
        ("in the same interval", at_once, 499, 2_500),
        ("known in the next interval", at_once, 500, 3_500),
        ("known long after", at_once, 999, 3_500),
        ("slot of another index", counted(2, 3), 0, 2_700),
        // The server may be at any time that the round trip leaves open: the worker takes the
        // latest to find the interval and the earliest to be at the slot in it.
        ("slow there", counted(1, 3).outward(100), 0, 2_500),
        ("slow back", counted(1, 3).inward(100), 0, 2_500 + 100),
        ("slow there, known just before the next interval", counted(1, 3).outward(100), 399, 2_500),
        ("slow there, known in what may be the next", counted(1, 3).outward(100), 400, 3_500),
    ];
    for (name, reply, after, next) in cases {
        let mut worker = Worker::start(400);
        worker.register(reply);
        worker.fail(after, Failure::Unknown);
        worker.take();
        assert_eq!(worker.await_request().sent, at(next), "{name}");
    }
}

#[test]
fn after_an_unknown_outcome_an_interval_passes_while_slot_or_server_time_are_unknown() {
    let no_reply = Worker::start(400);
    let mut no_count = Worker::start(400);
    no_count.register(counted(1, None));
    for mut worker in [no_reply, no_count] {
        let sent = worker.await_request().sent;
        worker.fail(150, Failure::Unknown);
        let next = worker.await_request().sent;
        assert!(next >= sent.saturating_add(millis(INTERVAL)), "{next:?}");
        assert!(next <= sent.saturating_add(millis(INTERVAL + 150)), "{next:?}");
    }
}

/// Sent at phase 900 of an interval, counted and failed in the next one.
#[test]
fn a_worker_is_not_counted_twice_in_one_interval_after_an_unknown_outcome() {
    let no_reply = Worker::start(900);
    let mut no_count = Worker::start(900);
    no_count.register(counted(1, None));
    let mut slot_known = Worker::start(900);
    slot_known.register(counted(1, 3));
    slot_known.fail(0, Failure::NotExecuted);
    slot_known.fail(0, Failure::NotExecuted);
    let cases =
        [("nothing known", no_reply), ("count unknown", no_count), ("slot known", slot_known)];
    for (name, mut worker) in cases {
        worker.await_request();
        worker.fail(200, Failure::Unknown);
        let failed_in = timing().interval_at(worker.server_time());
        worker.await_request();
        let next_in = timing().interval_at(worker.server_time());
        assert_eq!(next_in, failed_in + 1, "{name}");
    }
}

#[test]
fn a_failure_takes_nothing_that_is_held() {
    for failure in [Failure::NotExecuted, MISMATCH, Failure::TooLate { at: server(3_510) }] {
        let mut worker = Worker::settled();
        let lease = worker.machine.lease();
        worker.fail(10, failure);
        assert_eq!(worker.machine.lease(), lease, "{failure:?}");
        assert!(worker.take().into_iter().all(|output| change(output).is_none()), "{failure:?}");
    }
    // The retry renews the lease.
    let mut worker = Worker::settled();
    worker.fail(10, Failure::NotExecuted);
    worker.register(counted(1, 3));
    assert_eq!(worker.lease_in_words(), "1 of 3 since 102 until 4700");
}

/// A registry that refuses each request after the server time that it carries.
#[test]
fn a_server_clock_that_jumped_ahead_refuses_once_not_for_ever() {
    let mut worker = Worker::settled();
    worker.step_server(5_000_000);
    let mut refusals = 0;
    loop {
        let request = worker.await_request();
        let server_time = worker.server_time();
        if request.not_after.is_none_or(|not_after| server_time <= not_after) {
            worker.register(counted(0, None));
            break;
        }
        refusals += 1;
        assert!(refusals < 3, "refused for ever");
        worker.fail(0, Failure::TooLate { at: server_time });
    }
    assert_eq!(refusals, 1);
}

#[test]
fn a_refusal_without_a_possible_server_time_is_a_failure_like_any_other() {
    let mut worker = Worker::settled();
    let not_after = worker.await_request().not_after.expect("the server's time is known");
    let beyond = ServerTime::from_micros(ServerTime::MAX.as_micros() + 1);
    worker.fail(0, Failure::TooLate { at: beyond });
    let next = ServerTime::from_micros(not_after.as_micros() + 125_000);
    assert_eq!(worker.await_request().not_after, Some(next), "the clock is not set by it");
    assert!(worker.machine.lease().is_some());
}

#[test]
fn a_reply_that_makes_no_sense_leaves_the_registration_in_flight() {
    let valid = counted(1, 3).reply(server(450));
    let beyond = ServerTime::from_micros(ServerTime::MAX.as_micros() + 1);
    let cases = [
        (
            Reply { interval: 101, ..valid },
            InvalidReply::WrongInterval { interval: 101, expected: 100 },
            "reply names interval 101, its server time lies in 100",
        ),
        (
            Reply { at: beyond, ..valid },
            InvalidReply::TimeOutOfRange { at: beyond },
            "reply names server time 2305843009213.693952 s, must be at most 2305843009213.693951 s",
        ),
        (
            Reply { index: u32::MAX, ..valid },
            InvalidReply::IndexOutOfRange,
            "reply names index 4294967295, must be less",
        ),
    ];
    for (reply, invalid, message) in cases {
        let mut worker = Worker::start(400);
        worker.take();
        let attempt = worker.request.attempt;
        let rejected = worker.reject(|machine| machine.handle_reply(at(450), attempt, reply));
        assert_eq!(rejected, Rejected::InvalidReply(invalid));
        assert_eq!(invalid.to_string(), message);

        // As the embedder is told to report it.
        worker.fail(50, Failure::Unknown);
        assert!(!worker.take().iter().any(|output| matches!(output, Output::Register { .. })));
    }
}
