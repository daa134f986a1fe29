use n_and_i_core::{Change, Failure, Instant, Output, Reason};

use crate::support::{Worker, at, changes_in_words, counted};

#[test]
fn only_an_owner_is_told_when_it_stops() {
    let started = Worker::start(400);
    let mut replied = Worker::start(400);
    replied.register_all([counted(1, None), counted(1, 3)]);
    let owner = Worker::settled();
    let mut renewing = Worker::settled();
    renewing.await_request();
    let mut expired = Worker::settled();
    expired.sleep_until(3_700);

    let cases: [(&str, Worker, u64, &[&str]); 6] = [
        ("just started", started, 410, &[]),
        ("before two replies agreed", replied, 1_410, &[]),
        ("owner", owner.clone(), 2_600, &["idle: stopped"]),
        ("owner that is registering", renewing, 3_510, &["idle: stopped"]),
        ("owner at the end of its lease", owner, 3_700, &["idle: expired"]),
        ("owned nothing any more", expired, 3_710, &[]),
    ];
    for (name, mut worker, stopped_at, changes) in cases {
        worker.take();
        worker.stop(at(stopped_at));
        assert_eq!(worker.take_changes_in_words(), changes, "{name}");
        assert!(worker.machine.is_stopped(), "{name}");
        assert_eq!(worker.machine.lease(), None, "{name}");
        assert_eq!(worker.machine.in_flight(), None, "{name}");
        assert_eq!(worker.machine.poll_timeout(), None, "{name}");
    }
}

#[test]
fn the_last_change_says_until_when_work_may_be_finished() {
    let mut worker = Worker::settled();
    worker.stop(at(2_600));
    let idle =
        Change { owned: Err(Reason::Stopped), stage: Some(102), drain_until: Some(at(3_925)) };
    assert_eq!(worker.take().last(), Some(&Output::Yield(idle)));
}

#[test]
fn a_stopped_machine_does_nothing() {
    let mut worker = Worker::settled();
    let attempt = worker.await_request().attempt;
    worker.stop(at(3_510));
    worker.take();
    let before = worker.machine.clone();

    for now in [at(3_510), at(3_700), at(1_000_000), Instant::from_nanos(u64::MAX)] {
        worker.wake(now);
        worker.stop(now);
        let reply = counted(1, 3).reply(worker.server_time());
        worker.reject(|machine| machine.handle_reply(now, attempt, reply));
        worker.reject(|machine| machine.handle_failure(now, attempt, Failure::NotExecuted));
        assert_eq!(worker.take(), []);
        assert_eq!(worker.machine, before);
    }
}

#[test]
fn a_request_that_was_not_sent_yet_is_not_sent_after_stopping() {
    let mut worker = Worker::settled();
    worker.machine.handle_timeout(at(3_500));
    worker.stop(at(3_500));
    let outputs = worker.take();
    assert_eq!(changes_in_words(&outputs), ["idle: stopped"]);
    let left = |output: &Output| matches!(output, Output::Register { .. } | Output::ScheduleAt(_));
    assert!(!outputs.iter().any(left), "{outputs:?}");
}
