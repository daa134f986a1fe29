use std::time::Duration;

use n_and_i_core::{Change, Failure, Output, Reason};

use crate::support::{
    GAP, INTERVAL, Worker, at, change, changes_in_words, counted, implied, just_before, millis,
    server,
};

type Happens = dyn Fn(&mut Worker);

#[test]
fn before_the_first_reply_the_deadline_counts_from_the_start() {
    let deadline = 400 + INTERVAL + GAP;
    let fail_always = |worker: &mut Worker| {
        for _ in 0..4 {
            worker.fail(10, Failure::NotExecuted);
        }
    };
    let cases: [(&str, &Happens); 3] = [
        ("every registration hangs", &|_| {}),
        ("every registration fails", &fail_always),
        ("the outcome is unknown", &|worker| worker.fail(10, Failure::Unknown)),
    ];
    for (name, happens) in cases {
        let mut worker = Worker::start(400);
        happens(&mut worker);
        worker.sleep_until(deadline - 1);
        assert!(!worker.take().contains(&Output::Expire), "{name}: too early");

        worker.sleep_until(deadline);
        let outputs = worker.take();
        assert_eq!(outputs[0], Output::Expire, "{name}");
        assert!(outputs.iter().all(|&output| change(output).is_none()), "{name}: idle already");

        worker.sleep_until(deadline + 5 * INTERVAL);
        assert!(!worker.take().contains(&Output::Expire), "{name}: there is nothing more to void");
    }
}

#[test]
fn whatever_keeps_a_lease_from_being_renewed_ends_it_at_the_same_time() {
    // The lease ends at 3,700, the registration is due at 3,500.
    let cases: [(&str, &Happens); 4] = [
        ("hangs", &|_| {}),
        ("fails once, then hangs", &|worker| worker.fail(10, Failure::NotExecuted)),
        ("unknown outcome", &|worker| worker.fail(10, Failure::Unknown)),
        ("refused", &|worker| worker.fail(10, Failure::IntervalMismatch { group: millis(2_000) })),
    ];
    for (name, happens) in cases {
        let mut worker = Worker::settled();
        happens(&mut worker);
        worker.sleep_until(3_699);
        assert_eq!(worker.take().into_iter().find_map(change), None, "{name}: owned to the end");

        worker.sleep_until(3_700);
        let idle =
            Change { owned: Err(Reason::Expired), stage: Some(102), drain_until: Some(at(3_925)) };
        let outputs = worker.take();
        assert_eq!(outputs[0], Output::Expire, "{name}");
        assert_eq!(outputs.into_iter().find_map(change), Some(idle), "{name}");
        assert_eq!(worker.machine.lease(), None, "{name}");
    }
}

#[test]
fn a_reply_handled_at_the_deadline_is_too_late() {
    // Sent at 3,500; the deadline is 3,700. Nothing else wakes the worker before the reply.
    let cases: [(&str, Duration, &[&str], Option<&str>); 4] = [
        ("just in time", Duration::from_nanos(199_999_999), &[], Some("1 of 3")),
        ("exactly at it", millis(200), &["idle: expired"], None),
        ("just after", Duration::from_nanos(200_000_001), &["idle: expired"], None),
        ("the process was stopped", millis(999), &["idle: expired"], None),
    ];
    for (name, inward, changes, pair) in cases {
        let mut worker = Worker::settled();
        worker.register_frozen(counted(1, 3).inward_exactly(inward));
        let outputs = worker.take();
        assert_eq!(implied(&outputs).map(|pair| pair.to_string()).as_deref(), pair, "{name}");
        assert_eq!(outputs.contains(&Output::Expire), pair.is_none(), "{name}");
        assert_eq!(changes_in_words(&outputs), changes, "{name}");
    }
}

#[test]
fn a_worker_that_expired_stands_as_after_a_restart() {
    let mut expired = Worker::settled();
    expired.fail(10, Failure::NotExecuted);
    expired.fail(40, Failure::NotExecuted);
    expired.sleep_until(3_700);
    assert_eq!(expired.take_changes_in_words(), ["idle: expired"]);
    let next_request = expired.await_request().sent;
    assert_eq!(next_request, at(3_925));

    let mut restarted = Worker::start(3_925);
    assert_eq!(restarted.take_changes_in_words(), ["idle: starting"]);

    for worker in [&mut expired, &mut restarted] {
        worker.register_all([counted(1, 3), counted(1, 3)]);
        assert_eq!(worker.take_changes_in_words(), [""; 0], "two replies are too few");
        worker.register(counted(1, 3));
        assert_eq!(worker.take_changes_in_words(), ["1 of 3 since 105"]);
    }
    assert_eq!(expired.machine.lease(), restarted.machine.lease());
}

#[test]
fn a_reply_can_be_so_late_that_what_it_gives_is_over() {
    // Sent at 400, counted at 980: the slot of 1 of 3 is at 1,500 by the server's clock, and
    // counted from the request the deadline is 400 + 520 + 200.
    let mut worker = Worker::start(400);
    worker.sleep_until(1_119);
    let reply = counted(1, 3).reply(server(980));
    worker.take();
    worker.reply(at(1_120), reply);
    assert!(worker.take().contains(&Output::Expire));
    // The next registration is not affected.
    assert_eq!(worker.machine.poll_timeout(), Some(at(1_120 + 520)));
    worker.register(counted(1, 3));
    assert_eq!(implied(&worker.take()), None);
}

#[test]
fn nothing_expires_just_before_the_deadline() {
    let mut worker = Worker::settled();
    worker.await_request();
    worker.take();
    let before = worker.machine.clone();
    worker.wake(just_before(at(3_700)));
    assert_eq!(worker.take(), []);
    assert_eq!(worker.machine, before);
}
