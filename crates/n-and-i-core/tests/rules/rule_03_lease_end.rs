use n_and_i_core::{Change, Failure, Output, Reason};

use crate::support::{Counted, GAP, INTERVAL, Worker, at, change, changes_in_words, counted};

/// All are sent at 2,500, phase 500 of interval 102; the next interval starts at 3,000.
#[test]
fn a_lease_ends_a_gap_after_the_next_slot_counted_from_the_request() {
    let cases = [
        ("at once", counted(1, 3), 2_500 + (500 + 500) + GAP),
        // The worker counts from the request, though the server counted it later.
        ("slow there", counted(1, 3).outward(100), 2_500 + (400 + 500) + GAP),
        ("slow back", counted(1, 3).inward(100), 2_500 + (500 + 500) + GAP),
        ("slow both ways", counted(1, 3).outward(60).inward(40), 2_500 + (440 + 500) + GAP),
        ("an earlier slot", counted(0, 3), 2_500 + (500 + 300) + GAP),
        ("an index beyond the count", counted(3, 3), 2_500 + INTERVAL + GAP),
        // However late the slot, no lease is longer than this.
        ("a later slot", counted(2, 3), 2_500 + INTERVAL + GAP),
        ("a later slot, slow back", counted(2, 3).inward(100), 2_500 + INTERVAL + GAP),
        ("a later slot, slow there", counted(2, 3).outward(190), 2_500 + INTERVAL + GAP),
    ];
    for (name, reply, ends) in cases {
        let mut worker = Worker::start(400);
        worker.register_all([counted(1, None), counted(1, 3), reply]);
        let lease = worker.machine.lease().expect(name);
        assert_eq!(lease.ends, at(ends), "{name}");
    }
}

/// A worker whose lease on 1 of 3 ends by the cap, at 3,700, before its slot's deadline, at
/// 3,740: the server's clock drifted, so that it registered early for its slot.
fn capped() -> Worker {
    let mut worker = Worker::start(400);
    worker.register_all([counted(1, None), counted(1, 3)]);
    worker.step_server(-40);
    worker.register(counted(1, 3));
    assert_eq!(worker.lease_in_words(), "1 of 3 since 102 until 3700");
    worker.take();
    worker
}

#[test]
fn what_is_held_outlives_a_capped_lease_until_the_deadline_of_the_slot() {
    // The next request is sent at 3,540.
    let cases: [(&str, Counted, &[&str], bool); 4] = [
        ("in time", counted(1, 3).inward(159), &[], false),
        (
            "exactly at the end of the lease",
            counted(1, 3).inward(160),
            // Nobody was told that the lease ended; the new stage tells.
            &["1 of 3 since 103"],
            false,
        ),
        (
            "between the end of the lease and the deadline",
            counted(1, 3).inward(199),
            &["idle: expired", "1 of 3 since 103"],
            false,
        ),
        ("exactly at the deadline", counted(1, 3).inward(200), &["idle: expired"], true),
    ];
    for (name, reply, changes, void) in cases {
        let mut worker = capped();
        worker.register(reply);
        let outputs = worker.take();
        assert_eq!(changes_in_words(&outputs), changes, "{name}");
        assert_eq!(outputs.contains(&Output::Expire), void, "{name}");
    }
}

/// The reason must not depend on when the machine was woken, or a stalled process would tell
/// another story than a busy one.
#[test]
fn a_capped_lease_ends_for_the_same_reason_however_late_that_is_noticed() {
    // The next slot is at 3,750, after the lease, at 3,700, its end, or at 3,540, within it.
    let joined = |index| {
        let mut worker = Worker::start(400);
        worker.register_all([counted(1, None), counted(1, 3), counted(index, 3)]);
        assert_eq!(worker.lease_in_words(), "1 of 3 since 102 until 3700");
        worker.take();
        worker
    };
    let failed = || {
        let mut worker = capped();
        worker.fail(10, Failure::Unknown);
        worker
    };
    let cases: [(&str, &dyn Fn() -> Worker, &str); 4] = [
        ("no registration was due", &|| joined(5), "idle: rebalancing"),
        ("a registration was due just then", &|| joined(2), "idle: rebalancing"),
        ("a registration was due", &capped, "idle: expired"),
        ("a registration failed", &failed, "idle: expired"),
    ];
    for (name, worker, change) in cases {
        for woken_at in [3_700, 3_710, 3_740, 3_950, 4_900, 60_000] {
            let mut punctual = worker();
            punctual.sleep_until(woken_at);
            assert_eq!(punctual.take_changes_in_words(), [change], "{name}, {woken_at}");
            let mut late = worker();
            late.wake(at(woken_at));
            assert_eq!(late.take_changes_in_words(), [change], "{name}, woken at {woken_at}");
        }
    }
}

#[test]
fn a_lease_granted_again_counts_from_its_own_request() {
    let mut worker = capped();
    worker.register(counted(1, 3).inward(170));
    assert_eq!(worker.lease_in_words(), "1 of 3 since 103 until 4740");
}

#[test]
fn work_may_be_finished_until_nobody_can_have_been_handed_it() {
    // Owned at stage 102 by a request sent at 2,500, the drain window closes with the start of
    // interval 104, which is local time 4,000, but at most 1,425 ms after the request: one and a
    // half intervals, less what a clock may be slow by.
    let settle = [counted(1, None), counted(1, 3)];
    let other_count = counted(1, 4);
    let cases: [(&str, &[Counted], u64, u64); 5] = [
        ("at once", &[counted(1, 3), other_count], 103, 3_925),
        // The server was ahead of what the request's time says.
        ("slow there", &[counted(1, 3).outward(100), other_count], 103, 4_000 - 100),
        ("slow back", &[counted(1, 3).inward(100), other_count], 103, 3_925),
        ("after a renewal", &[counted(1, 3), counted(1, 3), other_count], 104, 4_925),
        (
            "the renewal counts, not the grant",
            &[counted(1, 3), counted(1, 3).outward(90), other_count],
            104,
            5_000 - 90,
        ),
    ];
    for (name, replies, stage, drain_until) in cases {
        let mut worker = Worker::start(400);
        worker.register_all(settle.iter().chain(replies).copied());
        let last = worker.take().into_iter().rev().find_map(change);
        let idle = Change {
            owned: Err(Reason::Rebalancing),
            stage: Some(stage),
            drain_until: Some(at(drain_until)),
        };
        assert_eq!(last, Some(idle), "{name}");
    }
}

/// Whoever is new after a step of the server's clock may own something that soon.
#[test]
fn work_may_be_finished_for_less_than_one_and_a_half_intervals() {
    let mut worker = Worker::start(400);
    // The first of three, owned by a request sent at 2,300.
    worker.register_all([counted(0, None), counted(0, 3), counted(0, 3), counted(0, 4)]);
    let last = worker.take().into_iter().rev().find_map(change);
    let Some(idle) = last else { panic!("{last:?}") };
    assert_eq!(idle.drain_until, Some(at(2_300 + 1_425)));
}
