//! `Peers::run`: work is started, drained and dropped with the leases.

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};

use n_and_i::{Finished, Lease, Rebalance};
use support::{Fault, INTERVAL, Time, Work, Worker, until_told};

#[test]
fn work_goes_on_while_there_is_a_lease_and_is_drained_after_it() {
    let mut worker = Worker::start(Rebalance::StandDown, until_told(0.2));
    worker.pass(4.75);
    assert_eq!(worker.lines(), ["2.50 start 0 of 1"]);
    // The request that is sent at 5.5 hangs.
    worker.registry.plan([Fault::Hang]);
    worker.pass(5.0);
    assert_eq!(worker.lines(), ["5.85 end 0 of 1", "8.50 start 0 of 1"]);
    assert_eq!(worker.run.outcome(), None);
}

#[test]
fn work_that_does_not_return_in_time_is_dropped_at_the_deadline() {
    let mut worker = Worker::start(Rebalance::StandDown, until_told(100.0));
    worker.pass(2.75);
    (0..3).for_each(|_| worker.join());
    // Told at 3.5; stage 2 was the last.
    assert_eq!(worker.lines(), ["2.50 start 0 of 1", "3.94 dropped 0 of 1", "4.33 start 0 of 2"]);
    assert_eq!(worker.run.outcome(), None);
}

#[test]
fn work_on_a_share_that_narrows_is_drained_before_that_on_the_rest_begins() {
    for (drain, end) in [(0.25, "3.75 end 0 of 1"), (100.0, "3.94 dropped 0 of 1")] {
        let mut worker = Worker::start(Rebalance::KeepServing, until_told(drain));
        worker.pass(2.75);
        worker.join();
        worker.pass(0.3);
        let next = format!("{} start 0 of 2 and 0 of 1", &end[..4]);
        assert_eq!(worker.lines(), ["2.50 start 0 of 1", end, &next]);
    }
}

/// When a share grows nobody waits for what is in flight, but it must not keep the rest from
/// being worked on for ever either.
#[test]
fn work_on_a_share_that_grows_has_the_time_that_the_new_lease_gave() {
    for (drain, end) in [(1.25, "5.58 end"), (100.0, "5.77 dropped")] {
        let mut worker = Worker::start(Rebalance::KeepServing, move |time, lease| {
            until_told(if lease.share().is_settled() { 0.0 } else { drain })(time, lease)
        });
        worker.pass(2.75);
        (0..4).for_each(|_| worker.join());
        let end = format!("{end} 0 of 2 and 0 of 1");
        let next = format!("{} start 0 of 2", &end[..4]);
        // Told at 4.33.
        assert_eq!(worker.lines()[3..], [end, next]);
    }
}

#[test]
fn only_the_newest_share_is_started_after_a_long_drain() {
    let mut worker = Worker::start(Rebalance::KeepServing, |time, lease| {
        until_told(if lease.share().is_settled() { 0.0 } else { 1.2 })(time, lease)
    });
    worker.pass(2.75);
    (0..2).for_each(|_| worker.join());
    // A third one: what grew at 4.33, and was not begun, narrows at 5.33.
    worker.registry.visit();
    worker.join();
    let drained = ["5.53 end 0 of 2 and 0 of 1", "5.53 start 0 of 3 and 0 of 2"];
    assert_eq!(worker.lines()[3..], drained);
}

#[test]
fn an_error_ends_the_membership_and_comes_back() {
    type Then = fn(Time, Lease) -> Work;
    let at_once: Then = |_, _| Box::pin(async { Err("at once") });
    let in_a_drain: Then = |_, lease| {
        Box::pin(async move {
            lease.ended().await;
            Err("in a drain")
        })
    };
    for (then, error, ended) in [(at_once, "at once", 2.5), (in_a_drain, "in a drain", 3.5)] {
        let mut worker = Worker::start(Rebalance::StandDown, then);
        worker.pass(2.75);
        worker.join();
        assert_eq!(worker.run.outcome(), Some(Err(error)));
        assert!(worker.ended, "the driver has ended");
        let begun = "2.50 start 0 of 1".to_owned();
        assert_eq!(worker.lines(), [begun, format!("{ended:.2} end 0 of 1")]);
    }
}

#[test]
fn a_panic_ends_the_membership_and_goes_on_to_the_caller() {
    let mut worker = Worker::start(Rebalance::StandDown, |time, _| async move {
        time.sleep_for(INTERVAL / 10).await;
        panic!("a bug in somebody's work, as this test wants it")
    });
    let panic = catch_unwind(AssertUnwindSafe(|| worker.pass(2.75))).expect_err("goes on");
    let message = panic.downcast_ref::<&str>().expect("the work's own message");
    assert!(message.starts_with("a bug in somebody's work"));
    assert_eq!(worker.lines(), ["2.50 start 0 of 1", "2.60 dropped 0 of 1"]);
    // As unwinding does to whoever does not catch it.
    worker.run.cancel();
    worker.poll();
    assert!(worker.ended, "the driver has ended");
}

#[test]
fn work_that_has_nothing_left_to_do_ends_the_membership() {
    let mut worker = Worker::start(Rebalance::StandDown, |time, _| async move {
        time.sleep_for(INTERVAL / 10).await;
        Ok(())
    });
    worker.pass(2.75);
    assert_eq!(worker.lines(), ["2.50 start 0 of 1", "2.60 end 0 of 1"]);
    assert_eq!((worker.run.outcome(), worker.ended), (Some(Ok(Finished::Returned)), true));
}

#[test]
fn a_worker_that_is_stopped_drains_and_returns() {
    for (drain, end) in [(0.5, "3.25 end 0 of 1"), (100.0, "3.94 dropped 0 of 1")] {
        let mut worker = Worker::start(Rebalance::StandDown, until_told(drain));
        worker.pass(2.75);
        worker.stop.stop();
        worker.pass(0.25);
        assert!(worker.ended && worker.run.outcome().is_none(), "stopped, but not drained");
        worker.pass(1.5);
        assert_eq!(worker.lines(), ["2.50 start 0 of 1", end]);
        assert_eq!(worker.run.outcome(), Some(Ok(Finished::Stopped)));
    }
    let mut idle = Worker::start(Rebalance::StandDown, until_told(0.0));
    idle.pass(1.0);
    idle.stop.stop();
    idle.poll();
    assert_eq!((idle.run.outcome(), idle.lines().len()), (Some(Ok(Finished::Stopped)), 0));
}

/// Whatever wakes the task after a suspend that outlasted the drain window, the work must not
/// run once more.
#[test]
fn after_a_suspend_work_is_dropped_without_being_polled() {
    let mut worker = Worker::start(Rebalance::StandDown, |time, lease| async move {
        std::future::poll_fn(|_| {
            let late = !lease.may_finish();
            assert!(!late, "polled at {:?}", time.reading());
            std::task::Poll::Pending
        })
        .await
    });
    worker.pass(2.75);
    worker.time.suspend(5 * INTERVAL);
    // Before the driver notices anything.
    worker.run.poll();
    assert_eq!(worker.lines(), ["2.50 start 0 of 1", "7.75 dropped 0 of 1"]);
    worker.pass(4.0);
    assert_eq!(worker.lines(), ["10.50 start 0 of 1"]);
}

#[test]
fn whoever_drops_the_loop_ends_work_and_membership() {
    let mut worker = Worker::start(Rebalance::StandDown, until_told(0.0));
    worker.pass(2.75);
    worker.run.cancel();
    assert_eq!(worker.lines(), ["2.50 start 0 of 1", "2.75 dropped 0 of 1"]);
    worker.poll();
    assert!(worker.ended, "the driver has ended");
}

/// The driver reads its clock and is stopped before it renews the lease by that reading. The loop,
/// in another thread, sees that the lease is over meanwhile.
#[test]
fn work_that_saw_its_lease_end_is_started_again_if_the_lease_is_renewed_after_all() {
    let drained = |drain| {
        move |time: Time, lease: Lease| -> Work {
            Box::pin(async move {
                while lease.is_live() {
                    time.sleep_for(INTERVAL / 50).await;
                }
                if drain > 0 {
                    time.sleep_for(drain * INTERVAL / 10).await;
                }
                Ok(())
            })
        }
    };
    for (name, drain, until, lines) in [
        ("returned at once", 0, 4.7, ["4.70 end 0 of 1", "4.70 start 0 of 1"]),
        ("drained first", 1, 4.7, ["4.80 end 0 of 1", "4.80 start 0 of 1"]),
        ("dropped", 0, 5.2, ["5.20 dropped 0 of 1", "5.20 start 0 of 1"]),
    ] {
        let mut worker = Worker::start(Rebalance::StandDown, drained(drain));
        worker.pass(4.3);
        assert_eq!(worker.lines(), ["2.50 start 0 of 1"], "{name}");
        worker.stall_until(until);
        worker.pass(5.0);
        assert_eq!(worker.lines(), lines, "{name}");
        assert_eq!(worker.run.outcome(), None, "{name}");
    }
}

#[test]
fn a_lease_that_was_read_before_is_worked_on_too() {
    let mut worker = Worker::start_late(Rebalance::StandDown, 2, until_told(0.0));
    worker.pass(1.0);
    assert_eq!(worker.lines(), ["2.50 start 0 of 1"]);
}

#[test]
fn a_driver_that_panicked_is_not_taken_for_one_that_was_stopped() {
    let mut worker = Worker::start(Rebalance::StandDown, until_told(0.2));
    worker.pass(3.0);
    worker.registry.plan([Fault::Panic]);
    catch_unwind(AssertUnwindSafe(|| worker.pass(1.0))).expect_err("the driver panics");
    worker.pass_without_driver(0.1);
    let panic = catch_unwind(AssertUnwindSafe(|| worker.pass_without_driver(0.5)));
    let panic = panic.expect_err("so does the loop, once it has drained");
    assert_eq!(panic.downcast_ref(), Some(&"the driver of this worker panicked"));
    assert_eq!(worker.lines(), ["2.50 start 0 of 1", "3.80 end 0 of 1"]);
}

/// The driver's task is stuck, say in a registry that blocks its thread.
#[test]
fn work_is_dropped_at_the_deadline_without_the_driver() {
    let mut worker = Worker::start(Rebalance::StandDown, until_told(100.0));
    worker.pass(3.0);
    worker.pass_without_driver(2.0);
    assert_eq!(worker.lines(), ["2.50 start 0 of 1", "3.94 dropped 0 of 1"]);
}

#[test]
fn no_task_is_begun_by_who_asks_for_the_end_first() {
    let mut worker = Worker::start(Rebalance::StandDown, |time, lease| async move {
        use futures_lite::future::or;
        loop {
            let ended = async {
                lease.ended().await;
                false
            };
            let next_task = async {
                time.sleep_for(INTERVAL / 50).await;
                true
            };
            if !or(ended, next_task).await {
                return Ok(());
            }
            assert!(lease.is_live(), "a task is begun at {:?}", time.reading());
        }
    });
    worker.pass(3.3);
    // The lease ends meanwhile, and the driver is late.
    worker.time.suspend(INTERVAL.mul_f64(0.4));
    worker.pass_without_driver(0.2);
    assert_eq!(worker.lines(), ["2.50 start 0 of 1", "3.72 end 0 of 1"]);
}
