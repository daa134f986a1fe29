//! Inputs handled before the outputs of earlier ones were drained: the newest wins, nothing
//! that is still true is lost, and nothing false is said.

use n_and_i_core::{Diagnostic, Output};

use crate::support::{Worker, at, change, counted, pair, report, server};

/// A worker that agrees on 1 of 3 by this reply, at 2,500, but has not been drained since.
fn granted_undrained() -> Worker {
    let mut worker = Worker::start(400);
    worker.register_all([counted(1, None), counted(1, 3)]);
    let request = worker.await_request();
    worker.take();
    let reply = counted(1, 3).reply(server(2_500));
    worker.machine.handle_reply(at(2_500), request.attempt, reply).expect("in flight");
    assert!(worker.machine.lease().is_some());
    worker
}

#[test]
fn a_pair_that_nobody_was_told_of_is_lost_without_a_word() {
    let mut stopped = granted_undrained();
    stopped.stop(at(2_600));
    assert_eq!(stopped.take_changes_in_words(), [""; 0]);

    let mut expired = granted_undrained();
    expired.wake(at(3_700));
    assert_eq!(expired.take_changes_in_words(), [""; 0]);
}

#[test]
fn a_lease_lost_and_granted_again_is_told_of_by_its_new_stage() {
    let mut worker = Worker::settled();
    let attempt = worker.await_request().attempt;
    worker.take();
    // Lost by a count that is not known.
    let reply = counted(1, None).reply(server(3_500));
    worker.machine.handle_reply(at(3_500), attempt, reply).expect("in flight");
    assert_eq!(worker.machine.lease(), None);
    for interval_start in [4_000, 5_000] {
        let now = at(interval_start + 500);
        worker.machine.handle_timeout(now);
        let attempt = worker.machine.in_flight().expect("due");
        let reply = counted(1, 3).reply(server(interval_start + 500));
        worker.machine.handle_reply(now, attempt, reply).expect("in flight");
    }
    worker.wake(at(5_501));
    assert_eq!(worker.take_changes_in_words(), ["1 of 3 since 105"]);
}

/// The consumer has 1 of 3, whose drain window closes at 4,200. What the worker owned and lost
/// since, without telling, does not give the consumer more time.
#[test]
fn the_drain_window_is_that_of_the_pair_which_the_consumer_has() {
    let mut worker = Worker::settled();
    for (now, replicas) in [(3_500, 4), (4_425, 4)] {
        worker.machine.handle_timeout(at(now));
        let attempt = worker.machine.in_flight().expect("due");
        let reply = counted(1, replicas).reply(server(now));
        worker.machine.handle_reply(at(now), attempt, reply).expect("in flight");
    }
    assert_eq!(worker.lease_in_words(), "1 of 4 since 104 until 5625");
    worker.stop(at(4_500));
    let changes: Vec<_> = worker.take().into_iter().filter_map(change).collect();
    let [idle] = changes[..] else { panic!("{changes:?}") };
    assert_eq!(idle.drain_until, Some(at(3_925)));
}

#[test]
fn a_report_tells_what_was_true_when_it_was_made() {
    let mut worker = granted_undrained();
    worker.stop(at(2_600));
    let reports = worker.take().into_iter().filter_map(report);
    let agreement: Vec<_> = reports
        .filter(|report| {
            use Diagnostic::{NoPairImplied, PairAgreed, PairDisagreed};
            matches!(report, PairAgreed(_) | PairDisagreed { .. } | NoPairImplied { .. })
        })
        .collect();
    assert_eq!(agreement, [Diagnostic::PairAgreed(pair(1, 3))]);
}

#[test]
fn only_the_newest_deadline_is_announced() {
    let mut worker = granted_undrained();
    worker.wake(at(3_500));
    let announced: Vec<_> = worker
        .take()
        .into_iter()
        .filter(|output| matches!(output, Output::ScheduleAt(_)))
        .collect();
    assert_eq!(announced, [Output::ScheduleAt(at(3_700))]);
}
