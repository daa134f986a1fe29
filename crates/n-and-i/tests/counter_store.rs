//! The counter layout without Redis: what is lost, what expires, and what is carried on.

use std::time::Duration;

use n_and_i::counters::Store;
use n_and_i::{Reply, ServerTime, Stamp, Timing};

const SERVER: u64 = 7;

fn seconds(seconds: u64) -> ServerTime {
    ServerTime::from_micros(seconds * 1_000_000)
}

fn timing() -> Timing {
    Timing::new(Duration::from_secs(10), 0.15).unwrap()
}

/// The stamp that is proposed at this time.
fn stamp(at: u64) -> Stamp {
    Stamp::from_u128(u128::from(at))
}

fn register_on(server: u64, store: &mut Store, at: u64) -> Reply {
    store.register(seconds(at), server, timing(), stamp(at), None).unwrap()
}

fn register(store: &mut Store, at: u64) -> Reply {
    register_on(SERVER, store, at)
}

#[test]
fn another_server_carries_no_stamp_on() {
    let mut store = Store::new();
    register(&mut store, 1000);
    let mut promoted = store.clone();
    assert_eq!(register(&mut store, 1010).previous_stamp, Some(stamp(1000)));

    let next = register_on(SERVER + 1, &mut promoted, 1010);
    assert_eq!((next.replicas, next.previous_stamp), (Some(1), None));
    let next = register_on(SERVER + 1, &mut promoted, 1020);
    assert_eq!(next.previous_stamp, Some(stamp(1010)));
}

#[test]
fn a_stamp_older_than_the_interval_before_is_not_carried_on() {
    let mut store = Store::new();
    register(&mut store, 1000);
    // In the interval between, all registered by the counters alone.
    store.increment(seconds(1010), timing(), false);
    let after = register(&mut store, 1020);
    assert_eq!((after.replicas, after.previous_stamp), (Some(1), None));
}

#[test]
fn a_count_that_shrank_is_not_carried_on() {
    let mut store = Store::new();
    register(&mut store, 1000);
    register(&mut store, 1001);
    store.lose_counter(100);
    store.increment(seconds(1002), timing(), false);
    let next = register(&mut store, 1010);
    assert_eq!((next.replicas, next.previous_stamp), (Some(1), None));
}

#[test]
fn a_counter_that_was_lost_begins_anew_and_takes_no_other_with_it() {
    let mut store = Store::new();
    register(&mut store, 1000);
    register(&mut store, 1010);
    store.lose_counter(101);
    assert_eq!((store.value(100, seconds(1011)), store.value(101, seconds(1011))), (Some(1), None));
    let anew = register(&mut store, 1012);
    assert_eq!((anew.index, anew.stamp), (0, stamp(1012)));
    assert_eq!(anew.previous_stamp, Some(stamp(1000)));
}

#[test]
fn without_the_guard_counts_go_on_and_stamps_do_not() {
    let mut store = Store::new();
    register(&mut store, 1000);
    store.lose_guard();
    let again = register(&mut store, 1001);
    assert_eq!((again.index, again.stamp), (1, stamp(1001)));
    store.lose_guard();
    let next = register(&mut store, 1010);
    assert_eq!((next.replicas, next.previous_stamp), (Some(2), None));
}

#[test]
fn nothing_outlives_a_clear() {
    let mut store = Store::new();
    register(&mut store, 1000);
    assert_ne!(store, Store::new());
    store.clear();
    assert_eq!(store, Store::new());
}

#[test]
fn a_registration_keeps_a_counter_that_others_made_and_no_other() {
    let mut store = Store::new();
    store.increment(seconds(999), timing(), false);
    store.increment(seconds(1000), timing(), false);
    assert_eq!(register(&mut store, 1005).index, 1);
    assert_eq!(store.value(100, seconds(1035)), Some(2));
    assert_eq!(store.value(100, seconds(1036)), None);
    assert_eq!(store.value(99, seconds(1029)), Some(1));
    assert_eq!(store.value(99, seconds(1030)), None);
}

#[test]
fn who_counts_alone_may_keep_the_counter_longer() {
    let mut store = Store::new();
    for (at, expire, kept_until) in [(1000, false, 1030), (1004, false, 1030), (1008, true, 1038)] {
        store.increment(seconds(at), timing(), expire);
        assert!(store.value(100, seconds(kept_until)).is_some(), "counted at {at}");
        assert_eq!(store.value(100, seconds(kept_until + 1)), None, "counted at {at}");
    }
}

#[test]
fn counting_removes_only_what_has_expired() {
    let mut store = Store::new();
    store.increment(seconds(1000), timing(), false);
    store.increment(seconds(1030), timing(), false);
    assert_eq!(store.value(100, seconds(1030)), Some(1));
    store.increment(seconds(1031), timing(), false);
    // Not even a clock that is set back finds it again.
    assert_eq!(store.value(100, seconds(1030)), None);
}

#[test]
fn a_group_is_expired_once_its_last_key_is() {
    let just_after = |at: u64| ServerTime::from_micros(at * 1_000_000 + 1);
    assert!(Store::new().is_expired(seconds(0)));

    let mut both = Store::new();
    register(&mut both, 1000);
    let mut guard_only = both.clone();
    guard_only.lose_counter(100);
    let mut counter_only = both.clone();
    counter_only.lose_guard();
    for store in [&both, &guard_only, &counter_only] {
        assert!(!store.is_expired(seconds(1000)), "{store:?}");
        assert!(!store.is_expired(seconds(1030)), "{store:?}");
        assert!(store.is_expired(just_after(1030)), "{store:?}");
        assert!(store.is_expired(seconds(2000)), "{store:?}");
    }

    // A counter that was kept longer than the guard.
    both.increment(seconds(1005), timing(), true);
    assert!(!both.is_expired(seconds(1035)));
    assert!(both.is_expired(just_after(1035)));
    // And a guard longer than its counter.
    let mut store = Store::new();
    register(&mut store, 1000);
    register(&mut store, 1005);
    assert_eq!(store.value(100, seconds(1031)), None);
    assert!(!store.is_expired(seconds(1035)));
    assert!(store.is_expired(just_after(1035)));
}
