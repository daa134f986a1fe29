//! The slots layout: who has which index.

use std::collections::BTreeMap;
use std::time::Duration;

use n_and_i::counters::Refusal;
use n_and_i::slots::Store;
use n_and_i::{Reply, ServerTime, Stamp, Timing, WorkerId};

const T: u64 = 10_000_000;

fn timing() -> Timing {
    Timing::new(Duration::from_secs(10), 0.15).unwrap()
}

/// A group whose workers have names, and a clock.
struct Group {
    store: Store,
    at: u64,
    server: u64,
    stamps: u128,
}

impl Group {
    fn new() -> Self {
        Self { store: Store::new(), at: 100 * T, server: 1, stamps: 0 }
    }

    fn try_register(&mut self, name: u128) -> Result<Reply, Refusal> {
        self.at += 1_000;
        self.stamps += 1;
        let (at, stamp) = (ServerTime::from_micros(self.at), Stamp::from_u128(self.stamps));
        self.store.register(at, self.server, timing(), WorkerId::from_u128(name), stamp, None)
    }

    fn register(&mut self, name: u128) -> Reply {
        self.try_register(name).expect("counted")
    }

    fn release(&mut self, name: u128) {
        self.at += 1_000;
        let at = ServerTime::from_micros(self.at);
        self.store.release(at, timing(), WorkerId::from_u128(name));
    }

    fn next_interval(&mut self) {
        self.at = (self.at / T + 1) * T;
    }

    /// All of them register in this order; then the next interval begins. Their indices by name.
    fn interval(&mut self, names: &[u128]) -> Vec<(u128, u32)> {
        let indices = names.iter().map(|&name| (name, self.register(name).index));
        let indices: BTreeMap<_, _> = indices.collect();
        self.next_interval();
        indices.into_iter().collect()
    }
}

#[test]
fn indices_are_kept_in_whatever_order_workers_register() {
    let mut group = Group::new();
    let first = group.interval(&[1, 2, 3, 4]);
    assert_eq!(first, [(1, 0), (2, 1), (3, 2), (4, 3)]);
    assert_eq!(group.interval(&[4, 2, 1, 3]), first);
    assert_eq!(group.interval(&[3, 1, 4, 2]), first);
    assert_eq!(group.register(3).replicas, Some(4));
}

#[test]
fn who_asks_again_gets_the_same_answer_and_is_not_counted_again() {
    let mut group = Group::new();
    let first = group.register(1);
    let again = group.register(1);
    assert!(again.at > first.at);
    assert_eq!(Reply { at: first.at, ..again }, first);
    assert_eq!(group.register(2).index, 1);
    group.next_interval();
    let reply = group.register(2);
    assert_eq!(
        (reply.index, reply.replicas, reply.previous_stamp),
        (1, Some(2), Some(first.stamp))
    );
}

#[test]
fn a_newcomer_appends_and_who_leaves_is_followed_by_the_last_alone() {
    let mut group = Group::new();
    group.interval(&[1, 2, 3, 4]);
    assert_eq!(group.interval(&[5, 1, 2, 3, 4]), [(1, 0), (2, 1), (3, 2), (4, 3), (5, 4)]);
    // Gone without a word.
    assert_eq!(group.interval(&[5, 1, 3, 4]), [(1, 0), (3, 2), (4, 3), (5, 4)]);
    let after = [(1, 0), (3, 2), (4, 3), (5, 1)];
    assert_eq!(group.interval(&[4, 5, 3, 1]), after);
    assert_eq!(group.interval(&[5, 1, 4, 3]), after);
}

#[test]
fn an_index_that_was_given_back_goes_to_the_next_newcomer() {
    // Before it registered in the open interval, after it, and after it had closed unseen.
    for when in ["before", "after", "between"] {
        let mut group = Group::new();
        group.interval(&[1, 2, 3, 4]);
        if when == "after" {
            group.register(2);
        }
        if when == "before" {
            group.register(1);
        }
        group.release(2);
        let rest: Vec<u128> = if when == "before" { vec![9, 3, 4] } else { vec![9, 3, 4, 1] };
        let indices = group.interval(&rest);
        assert!(indices.contains(&(9, 1)), "{when}: {indices:?}");
        let settled = [(1, 0), (3, 2), (4, 3), (9, 1)];
        assert_eq!(group.interval(&[9, 4, 3, 1]), settled, "{when}");
        let reply = group.register(9);
        assert_eq!((reply.index, reply.replicas), (1, Some(4)), "{when}");
    }
}

#[test]
fn who_gave_its_index_back_is_not_counted_any_more() {
    let mut group = Group::new();
    group.interval(&[1, 2, 3]);
    group.register(1);
    group.register(2);
    group.register(3);
    group.release(2);
    group.release(2);
    assert_eq!(group.try_register(2), Err(Refusal::Gone));
    group.next_interval();
    // The others know one interval sooner than by silence.
    assert_eq!(group.register(1).replicas, Some(2));
    // The last one has no place among two, and takes the one that is free.
    assert_eq!(group.register(3).index, 1);
}

#[test]
fn a_count_that_is_closed_is_not_changed_by_who_leaves() {
    let mut group = Group::new();
    group.interval(&[1, 2, 3]);
    group.interval(&[1, 2, 3]);
    group.release(2);
    assert_eq!(group.register(1).replicas, Some(3));
}

#[test]
fn what_may_be_lost_is_not_rested_on() {
    let mut group = Group::new();
    group.interval(&[1, 2]);
    group.server = 2;
    let reply = group.register(1);
    assert_eq!((reply.replicas, reply.previous_stamp), (Some(2), None));
    // Nor an interval that nobody registered in, nor one that the clock returns to.
    group.next_interval();
    group.next_interval();
    let skipped = group.register(2);
    assert_eq!((skipped.index, skipped.replicas, skipped.previous_stamp), (0, None, None));
    group.at -= T;
    let back = group.register(2);
    assert_eq!((back.index, back.replicas, back.previous_stamp), (0, None, None));
    assert_ne!(back.stamp, skipped.stamp);
}

#[test]
fn what_is_kept_is_bounded_by_the_workers_of_three_intervals() {
    let mut group = Group::new();
    let crowd: Vec<u128> = (0..500).collect();
    for round in 0..40_u128 {
        // Everybody is somebody else in every interval.
        let names: Vec<u128> = crowd.iter().map(|name| round * 1_000 + name).collect();
        group.interval(&names);
        let (workers, indices) = group.store.size();
        assert!(workers <= 1_500 && indices <= 1_500, "{workers} workers, {indices} indices");
    }
    // Few are left, and what the crowd left behind goes.
    for _ in 0..600 {
        group.interval(&[1_000_001, 1_000_002]);
    }
    assert_eq!(group.store.size(), (2, 2));
}

#[test]
fn requests_are_refused_as_by_the_script() {
    let mut group = Group::new();
    group.register(1);
    let (at, id, stamp) =
        (ServerTime::from_micros(group.at + 1), WorkerId::from_u128(9), Stamp::from_u128(9));
    let late = ServerTime::from_micros(group.at);
    let refused = group.store.register(at, 1, timing(), id, stamp, Some(late));
    assert_eq!(refused, Err(Refusal::TooLate));
    let other = Timing::new(Duration::from_secs(5), 0.15).unwrap();
    let refused = group.store.register(at, 1, other, id, stamp, None);
    assert_eq!(refused, Err(Refusal::Interval(10_000)));
    assert_eq!(group.store.size(), (1, 1));
    let later = ServerTime::from_micros(group.at + 3 * T + 1);
    assert!(group.store.register(later, 1, other, id, stamp, None).is_ok(), "it has expired");
}
