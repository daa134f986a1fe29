//! Rule 2 in both modes: what a worker owns while two intervals disagree.

use n_and_i_core::{Change, Diagnostic, Reason, Rebalance, Share};

use crate::support::{Counted, Worker, at, change, counted, pair, server};

fn keeps_serving() -> Worker {
    Worker::start_with(400, Rebalance::KeepServing)
}

/// The changes after the first, each with the end of the window for draining, if any.
fn changes(replies: &[Counted]) -> Vec<String> {
    let mut worker = keeps_serving();
    worker.take();
    worker.register_all(replies.iter().copied());
    let in_words = |change: Change| {
        let owned = match change.owned {
            Ok(lease) => format!("{} since {}", lease.share, lease.stage),
            Err(reason) => reason.to_string(),
        };
        match change.drain_until {
            Some(until) => format!("{owned}, drain by {}", until.as_nanos() / 1_000_000),
            None => owned,
        }
    };
    worker.take().into_iter().filter_map(change).map(in_words).collect()
}

#[test]
fn what_two_intervals_have_in_common_is_owned() {
    let (one, three, four) = (counted(1, None), counted(1, 3), counted(1, 4));
    let cases: [(&str, &[Counted], &[&str]); 7] = [
        (
            "another count",
            &[one, three, three, four, four],
            &["1 of 3 since 102", "1 of 4 and 1 of 3 since 103, drain by 3925", "1 of 4 since 104"],
        ),
        (
            "from the first pairs on",
            &[one, three, four, four],
            &["1 of 4 and 1 of 3 since 102", "1 of 4 since 103"],
        ),
        (
            "renewed while two counts alternate: the same two pairs are the same share",
            &[one, three, three, four, three, four, four],
            &["1 of 3 since 102", "1 of 4 and 1 of 3 since 103, drain by 3925", "1 of 4 since 106"],
        ),
        (
            "two changes in a row",
            &[one, three, three, four, counted(1, 5), counted(1, 5)],
            &[
                "1 of 3 since 102",
                "1 of 4 and 1 of 3 since 103, drain by 3925",
                "1 of 5 and 1 of 4 since 104, drain by 4925",
                "1 of 5 since 105",
            ],
        ),
        (
            "another index of the same count has nothing in common",
            &[one, three, three, counted(0, 3), counted(0, 3), counted(0, 3)],
            &["1 of 3 since 102", "rebalancing, drain by 4925", "0 of 3 since 105"],
        ),
        (
            "nor has an index that others moved to",
            &[counted(0, None), counted(0, 2), counted(1, 2), counted(1, 4), counted(1, 4)],
            &["0 of 2 since 102", "rebalancing, drain by 3775", "1 of 4 since 104"],
        ),
        (
            "no pair in between",
            &[one, three, three, one, three, three],
            &["1 of 3 since 102", "rebalancing, drain by 3925", "1 of 3 since 105"],
        ),
    ];
    for (name, replies, expected) in cases {
        assert_eq!(changes(replies), expected, "{name}");
    }
}

/// What the worker released and was granted, in the order of the reports.
fn leases(reports: impl IntoIterator<Item = Diagnostic>) -> Vec<String> {
    let in_words = |report| match report {
        Diagnostic::LeaseGranted(share) => Some(format!("granted {share}")),
        Diagnostic::LeaseReleased(share) => Some(format!("released {share}")),
        _ => None,
    };
    reports.into_iter().filter_map(in_words).collect()
}

#[test]
fn each_share_is_reported_as_granted_and_released() {
    let mut worker = keeps_serving();
    worker.register_all([counted(1, None), counted(1, 3), counted(1, 3)]);
    assert_eq!(leases(worker.take_reports()), ["granted 1 of 3"]);
    worker.register(counted(1, 4));
    let narrowed = ["released 1 of 3", "granted 1 of 4 and 1 of 3"];
    assert_eq!(leases(worker.take_reports()), narrowed);
    worker.register(counted(1, 4));
    let settled = ["released 1 of 4 and 1 of 3", "granted 1 of 4"];
    assert_eq!(leases(worker.take_reports()), settled);
    worker.sleep_until(6_000);
    assert_eq!(leases(worker.take_reports()), ["released 1 of 4"]);
}

#[test]
fn a_narrowed_lease_ends_and_is_renewed_like_any_other() {
    let mut worker = keeps_serving();
    worker.register_all([counted(1, None), counted(1, 3), counted(1, 3), counted(1, 4)]);
    assert_eq!(worker.lease_in_words(), "1 of 4 and 1 of 3 since 103 until 4625");
    // Nobody answers.
    worker.sleep_until(4_624);
    assert!(worker.machine.lease().is_some());
    worker.take();
    worker.sleep_until(4_625);
    let expired =
        Change { owned: Err(Reason::Expired), stage: Some(103), drain_until: Some(at(4_925)) };
    assert_eq!(worker.take().into_iter().find_map(change), Some(expired));
}

#[test]
fn nothing_is_owned_while_rules_forbid_it_whatever_is_in_common() {
    // A step of the server's clock costs two intervals in either mode.
    let mut worker = keeps_serving();
    worker.register_all([counted(1, None), counted(1, 3), counted(1, 3)]);
    worker.step_server(5_000);
    worker.take();
    worker.register_all([counted(1, 3).inward(100), counted(1, 3), counted(1, 4)]);
    assert_eq!(worker.take_changes_in_words(), ["idle: clock-stepped"]);
    worker.register(counted(1, 5));
    assert_eq!(worker.take_changes_in_words(), ["1 of 5 and 1 of 4 since 111"]);
    // Neither is a counter that was lost and made anew rested on.
    worker.register_all([counted(1, 5).previous_stamp(99), counted(1, 5)]);
    assert_eq!(worker.take_changes_in_words(), ["idle: rebalancing"]);
}

/// The consumer was told of 1 of 3. It is not told of each share that it never had, only of
/// the last; but the first of the changes decides by when it must be done with what is lost.
#[test]
fn changes_that_were_not_drained_become_one() {
    let mut worker = keeps_serving();
    worker.register_all([counted(1, None), counted(1, 3), counted(1, 3)]);
    worker.take();
    for (now, replicas) in [(3_500, 4), (4_425, 5), (5_500, 5)] {
        worker.machine.handle_timeout(at(now));
        let attempt = worker.machine.in_flight().expect("due");
        let reply = counted(1, replicas).reply(server(now));
        worker.machine.handle_reply(at(now), attempt, reply).expect("in flight");
    }
    worker.wake(at(5_501));
    let changes: Vec<_> = worker.take().into_iter().filter_map(change).collect();
    let [Change { owned: Ok(lease), stage: Some(105), drain_until }] = changes[..] else {
        panic!("{changes:?}")
    };
    assert_eq!((lease.share, lease.stage), (Share::of(pair(1, 5)), 105));
    assert_eq!(drain_until, Some(at(3_925)));
}
