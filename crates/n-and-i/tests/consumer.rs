//! What the consumer gets, and what it can ask of it.

mod support;

use std::task::Poll;
use std::time::Duration;

use futures_core::stream::FusedStream;
use n_and_i::{Instant, Reason};
use support::{Fault, INTERVAL, change, look, start};

#[test]
fn changes_say_what_they_are_about() {
    let (time, registry, mut driver, mut peers) = start();
    driver.run(INTERVAL / 2);
    let starting = change(&mut peers);
    assert_eq!((starting.reason(), starting.pair()), (Some(Reason::Starting), None));
    assert_eq!((starting.stage(), starting.drain_deadline()), (None, None));
    assert_eq!(starting.drain_remaining(), Duration::ZERO);
    assert_eq!(starting.to_string(), "idle (starting)");

    driver.run(2 * INTERVAL);
    let owned = change(&mut peers);
    let lease = owned.lease().unwrap().clone();
    assert_eq!((owned.reason(), owned.pair()), (None, Some(lease.pair())));
    assert_eq!((owned.stage(), lease.stage()), (Some(180_000_002), 180_000_002));
    assert_eq!(owned.drain_deadline(), None);
    assert_eq!(owned.to_string(), "0 of 1");
    assert_eq!(lease.remaining(), INTERVAL.mul_f64(1.15));
    assert!(lease.owns(7) && lease.is_live());

    registry.plan([Fault::Hang]);
    driver.run(INTERVAL * 3 / 2);
    let expired = change(&mut peers);
    assert_eq!((expired.reason(), expired.stage()), (Some(Reason::Expired), Some(180_000_002)));
    // The start of the second stage after the last one.
    let deadline = expired.drain_deadline().unwrap();
    assert_eq!(deadline, Instant::from_elapsed(4 * INTERVAL));
    assert_eq!(time.reading(), deadline);
    assert_eq!(expired.to_string(), "idle (expired)");
    assert!(!lease.is_live());
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
    assert!(text.contains("now_owned: Err(Starting)"), "{text}");
    // The clock that deadlines are in.
    assert!(text.contains("Clock(Instant(0))"), "{text}");
}
