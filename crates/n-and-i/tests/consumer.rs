//! What the consumer gets, and what it can ask of it.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

use futures_core::stream::FusedStream;
use n_and_i::{Instant, Peers, Reason};
use support::{Fault, INTERVAL, change, look, look_with, start};

/// Until when work on what was last granted at 2.5 intervals may be finished: one and a half
/// more, less what a clock may be slow by.
const DRAINED: Duration = Duration::from_micros(39_437_500);

#[test]
fn changes_say_what_they_are_about() {
    let (time, registry, mut driver, mut peers) = start();
    driver.run(INTERVAL / 2);
    let starting = change(&mut peers);
    assert_eq!((starting.reason(), starting.share()), (Some(Reason::Starting), None));
    assert!(starting.stage().is_none() && starting.drain_window().is_none());
    assert_eq!(starting.to_string(), "idle (starting)");

    driver.run(2 * INTERVAL);
    let owned = change(&mut peers);
    let lease = owned.lease().unwrap().clone();
    assert_eq!((owned.reason(), owned.share()), (None, Some(lease.share())));
    assert_eq!((owned.stage(), lease.stage()), (Some(180_000_002), 180_000_002));
    assert_eq!(lease.token(), 1_800_000_020_000);
    assert!(owned.drain_window().is_none());
    assert_eq!(owned.to_string(), "0 of 1");
    assert_eq!(lease.remaining(), INTERVAL.mul_f64(1.15));
    assert!(lease.owns(7) && lease.owns_key("seven") && lease.is_live());
    let if_not_renewed = Instant::from_elapsed(DRAINED);
    assert_eq!(lease.drain_window().deadline(), if_not_renewed);

    registry.plan([Fault::Hang]);
    driver.run(INTERVAL * 3 / 2);
    let expired = change(&mut peers);
    assert_eq!((expired.reason(), expired.stage()), (Some(Reason::Expired), Some(180_000_002)));
    let window = expired.drain_window().unwrap();
    assert_eq!(window.deadline(), if_not_renewed);
    assert!(time.reading() > window.deadline());
    assert_eq!((window.is_open(), window.remaining()), (false, Duration::ZERO));
    assert_eq!(expired.to_string(), "idle (expired)");
    assert!(!lease.is_live() && !lease.may_finish());
}

#[test]
fn the_stream_has_ended_once_it_said_so() {
    let (_time, _registry, mut driver, mut peers) = start();
    assert!(!driver.poll());
    assert!(!peers.is_terminated());
    peers.stop_handle().stop();
    assert!(driver.poll());
    drop(driver);
    assert!(matches!(look(&mut peers), Poll::Ready(Some(_))));
    assert!(!peers.is_terminated(), "not before the end was read");
    assert!(matches!(look(&mut peers), Poll::Ready(None)));
    assert!(peers.is_terminated());
}

#[test]
fn what_is_unread_can_be_seen_for_debugging() {
    let (_time, _registry, mut driver, peers) = start();
    assert!(format!("{peers:?}").contains("unread: None"), "{peers:?}");
    assert!(!driver.poll());
    let text = format!("{peers:?}");
    assert!(text.contains("owned: Err(Starting)"), "{text}");
    // The clock that deadlines are in.
    assert!(text.contains("Time(Instant(0))"), "{text}");
}

#[test]
fn a_lease_that_is_given_up_early_is_dead_with_the_change() {
    let (time, registry, mut driver, mut peers) = start();
    driver.run(INTERVAL * 5 / 2);
    let lease = change(&mut peers).lease().unwrap().clone();
    registry.visit();
    driver.run(INTERVAL.mul_f64(0.99));
    let ends = lease.ends();
    assert!(lease.is_live());
    driver.run(INTERVAL.mul_f64(0.02));
    assert!(time.reading() < ends && !lease.is_live());
    assert_eq!(change(&mut peers).reason(), Some(Reason::Rebalancing));
}

#[test]
fn a_lease_lives_until_the_driver_stops_but_not_longer_than_the_stream() {
    for is_dropped in [false, true] {
        let (_time, _registry, mut driver, mut peers) = start();
        driver.run(INTERVAL * 5 / 2);
        let lease = change(&mut peers).lease().unwrap().clone();
        peers.stop();
        assert!(lease.is_live());
        if is_dropped {
            drop(peers);
        } else {
            assert!(driver.poll());
        }
        assert!(!lease.is_live());
    }
}

#[test]
fn the_drain_deadline_is_that_of_the_lease_that_was_read_last() {
    let (time, registry, mut driver, mut peers) = start();
    driver.run(INTERVAL * 5 / 2);
    assert!(change(&mut peers).lease().is_some());
    // Lost, regained and lost again while nobody looks.
    registry.plan([Fault::Hang]);
    driver.run(INTERVAL * 4);
    assert_eq!(time.reading(), Instant::from_elapsed(INTERVAL * 13 / 2));
    registry.plan([Fault::Hang]);
    driver.run(INTERVAL * 3 / 2);
    let lost = change(&mut peers);
    assert_eq!((lost.reason(), lost.stage()), (Some(Reason::Expired), Some(180_000_006)));
    let window = lost.drain_window().unwrap();
    assert_eq!(window.deadline(), Instant::from_elapsed(DRAINED));
}

#[test]
fn nothing_is_to_be_drained_of_a_lease_that_nobody_read() {
    let (_time, registry, mut driver, mut peers) = start();
    driver.run(2 * INTERVAL + INTERVAL / 2);
    registry.plan([Fault::Hang]);
    driver.run(INTERVAL * 3 / 2);
    let expired = change(&mut peers);
    assert_eq!(expired.reason(), Some(Reason::Expired));
    assert!(expired.drain_window().is_none());
}

#[test]
fn a_driver_that_is_dropped_leaves_time_to_drain() {
    let (_time, _registry, mut driver, mut peers) = start();
    driver.run(INTERVAL * 5 / 2);
    let lease = change(&mut peers).lease().unwrap().clone();
    let window = lease.drain_window();
    drop(driver);
    assert!(!lease.is_live());
    let last = change(&mut peers);
    assert_eq!((last.reason(), last.stage()), (Some(Reason::Stopped), Some(lease.stage())));
    assert_eq!(last.drain_window().unwrap().deadline(), window.deadline());
    assert!(lease.may_finish());
    assert!(matches!(look(&mut peers), Poll::Ready(None)));
}

/// Counts how often it was woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Woken {
    fn times(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

#[test]
fn the_consumer_is_woken_by_a_change_and_by_the_end() {
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let (_time, _registry, mut driver, mut peers) = start();

    assert!(look_with(&waker, &mut peers).is_pending());
    assert!(!driver.poll());
    assert_eq!(woken.times(), 1);
    change(&mut peers);

    assert!(look_with(&waker, &mut peers).is_pending());
    peers.stop();
    assert!(driver.poll());
    drop(driver);
    assert_eq!(woken.times(), 2);
    assert!(matches!(look(&mut peers), Poll::Ready(None)));
}

#[test]
fn the_driver_is_woken_whichever_way_it_is_asked_to_stop() {
    let ways: [fn(Peers) -> Option<Peers>; 4] = [
        |peers| {
            peers.stop();
            Some(peers)
        },
        |peers| {
            peers.stop_handle().stop();
            Some(peers)
        },
        |peers| Some(peers.with_graceful_shutdown(std::future::ready(()))),
        |peers| {
            drop(peers);
            None
        },
    ];
    for way in ways {
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let (_time, _registry, mut driver, peers) = start();
        assert!(!driver.poll_with(&waker));
        assert_eq!(woken.times(), 0);
        let _peers = way(peers);
        assert_eq!(woken.times(), 1);
        assert!(driver.poll_with(&waker));
    }
}

#[test]
fn no_signal_outlives_the_driver() {
    let token = Arc::new(());
    let signal = || {
        let held = Arc::clone(&token);
        async move {
            std::future::pending::<()>().await;
            drop(held);
        }
    };
    for polled in [false, true] {
        let (_time, _registry, mut driver, peers) = start();
        let peers = peers.with_graceful_shutdown(signal());
        assert!(!(polled && driver.poll()));
        assert_eq!(Arc::strong_count(&token), 2);
        drop(driver);
        assert_eq!(Arc::strong_count(&token), 1);
        let _peers = peers.with_graceful_shutdown(signal());
        assert_eq!(Arc::strong_count(&token), 1, "too late to wait for it");
    }
}
