use std::cell::Cell;
use std::rc::Rc;

use n_and_i::Pair;

use super::*;

#[derive(Clone, Debug)]
struct Fake {
    share: Share,
    live: Rc<Cell<bool>>,
}

impl Claim for Fake {
    fn owned(&self) -> Owned {
        owned(self.share)
    }

    fn is_live(&self) -> bool {
        self.live.get()
    }

    fn remaining(&self) -> Duration {
        Duration::ZERO
    }
}

fn pair(i: u32, n: u32) -> Pair {
    Pair::new(i, n).unwrap()
}

fn owned(share: impl Into<Share>) -> Owned {
    Owned { share: share.into(), token: 3500 }
}

fn owns(i: u32, n: u32) -> (News<Fake>, Rc<Cell<bool>>) {
    shares(Share::of(pair(i, n)))
}

fn shares(share: Share) -> (News<Fake>, Rc<Cell<bool>>) {
    let live = Rc::new(Cell::new(true));
    let lease = Fake { share, live: Rc::clone(&live) };
    (News { holds: Ok(lease), stage: Some(7) }, live)
}

fn idle(reason: Reason) -> News<Fake> {
    News { holds: Err(reason), stage: None }
}

fn ledger(workers: usize) -> Ledger<Fake> {
    let mut ledger = Ledger::new(Duration::from_secs(10));
    (0..workers).for_each(|_| ledger.enter());
    ledger
}

const NOW: Duration = Duration::from_secs(1);

#[test]
fn names_go_on_after_z() {
    let names = [0, 1, 25, 26, 27, 51, 52, 701, 702].map(name);
    assert_eq!(names, ["A", "B", "Z", "AA", "AB", "AZ", "BA", "ZZ", "AAA"]);
}

#[test]
fn two_owners_of_one_task_are_counted_once_as_long_as_it_lasts() {
    let mut ledger = ledger(3);
    let (first, first_live) = owns(0, 2);
    let (second, _) = owns(0, 4);
    let (apart, _) = owns(1, 2);
    for (worker, news) in [first, second, apart].into_iter().enumerate() {
        ledger.hear(worker, news, NOW);
    }
    assert_eq!(ledger.settle(NOW).len(), 3, "a true conflict is not held back");
    ledger.check();
    ledger.check();
    assert_eq!(ledger.conflicts(), 1);
    first_live.set(false);
    ledger.check();
    first_live.set(true);
    ledger.check();
    assert_eq!(ledger.conflicts(), 2);
}

#[test]
fn two_owners_under_either_mapping_are_a_conflict() {
    let both =
        |a: (u32, u32), b: (u32, u32)| Share::common(pair(a.0, a.1), pair(b.0, b.1)).unwrap();
    for (first, second, conflicts) in [
        // Of tasks with a number there are common ones, of keys there are none.
        (pair(0, 2).into(), pair(1, 3).into(), 1),
        // Of keys there are common ones, of tasks with a number there are none.
        (pair(0, 2).into(), pair(3, 4).into(), 1),
        (both((0, 6), (0, 5)), both((1, 6), (1, 5)), 0),
        (both((0, 6), (0, 5)), pair(0, 5).into(), 1),
        (both((0, 6), (0, 5)), pair(1, 5).into(), 0),
        (both((1, 3), (0, 2)), both((1, 3), (1, 2)), 0),
    ] {
        let mut ledger = ledger(2);
        ledger.hear(0, shares(first).0, NOW);
        ledger.hear(1, shares(second).0, NOW);
        ledger.settle(NOW);
        ledger.check();
        assert_eq!(ledger.conflicts(), conflicts, "{first} and {second}");
    }
}

#[test]
fn what_has_an_owner_adds_up() {
    let mut ledger = ledger(3);
    let kept = Share::common(pair(0, 3), pair(0, 2)).unwrap();
    let moved = Share::common(pair(2, 3), pair(1, 2)).unwrap();
    let nothing = Share::common(pair(1, 3), pair(0, 2)).unwrap();
    for (worker, share) in [kept, moved, nothing].into_iter().enumerate() {
        ledger.hear(worker, shares(share).0, NOW);
    }
    ledger.settle(NOW);
    assert!((ledger.share() - (1.0 / 3.0 + 1.0 / 6.0)).abs() < 1e-9, "{}", ledger.share());
}

#[test]
fn a_gain_is_told_after_the_loss_that_made_room_for_it() {
    let mut ledger = ledger(2);
    let (old, old_live) = owns(0, 1);
    ledger.hear(0, old, NOW);
    ledger.settle(NOW);
    old_live.set(false);
    assert!(ledger.share() < 1e-9);

    ledger.hear(1, owns(1, 2).0, NOW);
    assert!(ledger.settle(NOW).is_empty(), "worker 0 is still taken for the owner of all");
    ledger.hear(0, idle(Reason::Rebalancing), NOW);
    ledger.hear(0, owns(0, 2).0, NOW);
    let told: Vec<_> = ledger.settle(NOW).iter().map(|event| (event.worker, event.what)).collect();
    let stage = Some(7);
    assert_eq!(
        told,
        [
            (0, What::Idles { reason: Reason::Rebalancing, stage: None }),
            (1, What::Owns { owned: owned(pair(1, 2)), stage }),
            (0, What::Owns { owned: owned(pair(0, 2)), stage }),
        ]
    );
    assert!((ledger.share() - 1.0).abs() < 1e-9);
    assert_eq!((ledger.changes(), ledger.conflicts()), (4, 0));
}

#[test]
fn a_gain_is_not_held_back_for_ever() {
    let mut ledger = ledger(2);
    let (old, old_live) = owns(0, 1);
    ledger.hear(0, old, NOW);
    ledger.settle(NOW);
    old_live.set(false);
    ledger.hear(1, owns(0, 1).0, NOW);
    assert!(ledger.settle(NOW * 11).is_empty());
    assert_eq!(ledger.settle(NOW * 12).len(), 1);
}

#[test]
fn a_crashed_worker_owns_nothing_and_is_not_heard() {
    let mut ledger = ledger(1);
    ledger.hear(0, owns(0, 1).0, NOW);
    ledger.settle(NOW);
    ledger.crash(0, NOW);
    ledger.hear(0, idle(Reason::Stopped), NOW);
    let told = ledger.settle(NOW);
    assert_eq!(told, [Event { elapsed: NOW, worker: 0, what: What::Crashes }]);
    assert_eq!((ledger.share(), ledger.changes()), (0.0, 1));
}
