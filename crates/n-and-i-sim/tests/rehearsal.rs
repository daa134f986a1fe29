//! Consumers in simulated groups: real drivers, the code of a user, virtual time. `SEED=n`
//! repeats one run.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use n_and_i_sim::{Fault, Faults, Member, Rebalancing, Scenario, Violation};

const TASKS: u64 = 12;
const INTERVAL: Duration = Duration::from_secs(5);

/// Who wrote for each task: the present lease and those before it.
#[derive(Default)]
struct Writers {
    leases: u64,
    present: BTreeMap<u64, u64>,
    past: BTreeSet<(u64, u64)>,
    writes: u64,
    /// Tasks that somebody wrote for after the next owner had.
    late: u64,
}

impl Writers {
    fn new_lease(&mut self) -> u64 {
        self.leases += 1;
        self.leases
    }

    fn write(&mut self, task: u64, lease: u64) {
        self.writes += 1;
        let before = self.present.insert(task, lease);
        if let Some(before) = before.filter(|before| *before != lease) {
            self.past.insert((task, before));
        }
        self.late += u64::from(self.past.contains(&(task, lease)));
    }
}

/// Works on its tasks one after another; each takes a while before its result is written.
async fn work(mut member: Member, writers: Rc<RefCell<Writers>>, careful: bool) {
    while let Some(change) = member.peers.next().await {
        let Some(lease) = change.lease() else { continue };
        let number = writers.borrow_mut().new_lease();
        for task in (0..TASKS).filter(|task| lease.owns(*task)).cycle() {
            member.time.sleep(INTERVAL / 20).await;
            if careful && !lease.is_live() {
                break;
            }
            writers.borrow_mut().write(task, number);
            if !careful && lease.remaining().is_zero() {
                break;
            }
        }
    }
}

fn rehearse(
    faults: &Faults,
    rebalancing: Rebalancing,
    seed: u64,
    careful: bool,
) -> (Rc<RefCell<Writers>>, String) {
    let writers = Rc::new(RefCell::new(Writers::default()));
    let scenario = Scenario::new(4, faults.clone()).with_intervals(300);
    let scenario = scenario.with_rebalance(rebalancing);
    let rehearsal = scenario.rehearse(seed, |member| work(member, Rc::clone(&writers), careful));
    assert_eq!(rehearsal.violation, None, "SEED={seed}\n{}", rehearsal.trace);
    (writers, rehearsal.trace)
}

fn seeds(count: u64) -> std::ops::RangeInclusive<u64> {
    let chosen = std::env::var("SEED").ok().map(|seed| seed.parse().expect("SEED is a number"));
    chosen.map_or(1..=count, |seed: u64| seed..=seed)
}

/// Nothing, everything, everything with different gaps.
fn all_weathers() -> [Faults; 3] {
    let mut mixed = Faults::all();
    mixed.mixed_gaps = true;
    [Faults::none(), Faults::all(), mixed]
}

#[test]
fn who_asks_the_lease_never_writes_late_whatever_happens() {
    for faults in all_weathers() {
        for rebalancing in Rebalancing::ALL {
            for seed in seeds(10) {
                let (writers, trace) = rehearse(&faults, rebalancing, seed, true);
                let writers = writers.borrow();
                assert!(writers.writes > 2_000, "SEED={seed}: {} writes", writers.writes);
                assert_eq!(writers.late, 0, "{rebalancing}, SEED={seed}\n{trace}");
            }
        }
    }
}

#[test]
fn who_does_not_ask_is_found_out() {
    let faults = Faults::none().with(Fault::LongStall, 0.2).with(Fault::ShortStall, 0.2);
    for rebalancing in Rebalancing::ALL {
        let late =
            seeds(20).map(|seed| rehearse(&faults, rebalancing, seed, false).0.borrow().late);
        assert!(late.sum::<u64>() > 0, "{rebalancing}");
    }
}

#[test]
fn one_seed_is_one_run() {
    let rehearse = |seed| rehearse(&Faults::all(), Rebalancing::Mixed, seed, true);
    let (first, again) = (rehearse(3), rehearse(3));
    assert!(first.1.len() > 50_000);
    assert!(first.1 == again.1);
    assert_eq!(first.0.borrow().writes, again.0.borrow().writes);
    assert_ne!(first.1, rehearse(4).1);
}

#[test]
fn a_calm_group_works_all_the_time() {
    for rebalancing in Rebalancing::ALL {
        let (writers, _) = rehearse(&Faults::none(), rebalancing, 1, true);
        // Four workers, twenty tasks each per interval; nothing in the first few.
        let count = writers.borrow().writes;
        assert!((290 * 80..=300 * 80).contains(&count), "{rebalancing}: {count}");
    }
}

#[test]
fn who_leaves_gets_a_last_change_and_time_to_use_it() {
    let drained = Rc::new(RefCell::new(Vec::new()));
    let faults = Faults::none().with(Fault::Leave, 0.2);
    let rehearsal = Scenario::new(3, faults).with_intervals(300).rehearse(7, |mut member| {
        let drained = Rc::clone(&drained);
        async move {
            while let Some(change) = member.peers.next().await {
                if change.reason() == Some(n_and_i::Reason::Stopped) {
                    let window = change.drain_window().expect("something was lost");
                    window.closed().await;
                    drained.borrow_mut().push(window.deadline() == member.time.now());
                }
            }
        }
    });
    assert_eq!(rehearsal.violation, None);
    let left = rehearsal.faults.iter().find(|(fault, _)| *fault == Fault::Leave).unwrap().1;
    let drained = drained.borrow();
    assert!(left > 10 && drained.len() > 5, "{left} left, {} drained", drained.len());
    assert!(drained.iter().all(|in_time| *in_time));
}

#[test]
fn a_clock_that_leaps_is_rehearsed_too() {
    let faults = Faults::only(Fault::LeapAndJoin);
    let scenario = Scenario::new(2, faults).with_intervals(400);
    let rehearsal = scenario
        .rehearse(1, |mut member| async move { while member.peers.next().await.is_some() {} });
    assert_eq!(rehearsal.violation, None);
    let leaps = rehearsal.trace.matches("the server's clock leaps ahead").count();
    assert!(leaps > 2, "{leaps}");
}

#[test]
fn a_consumer_that_returns_is_gone_and_one_that_spins_is_found() {
    let started = RefCell::new(0);
    let faults = Faults::none();
    // Whoever is missing when a storm ends is started again.
    let scenario = Scenario::new(2, faults.clone()).with_intervals(18).with_weather(4, 4);
    let quitter = scenario.rehearse(1, |mut member| {
        *started.borrow_mut() += 1;
        async move { drop(member.peers.next().await) }
    });
    // One registration each, sent before the first change was taken.
    assert_eq!((quitter.violation, *started.borrow()), (None, 6));
    assert_eq!(quitter.registrations, 6);
    let spinner = Scenario::new(1, faults.clone()).with_intervals(20).rehearse(1, |_| {
        std::future::poll_fn(|cx| {
            cx.waker().wake_by_ref();
            std::task::Poll::Pending
        })
    });
    assert_eq!(spinner.violation, Some(Violation::Deadline { worker: 0 }));
    let sleeper = Scenario::new(1, faults).with_intervals(20).rehearse(1, |member| async move {
        loop {
            member.time.sleep(Duration::ZERO).await;
        }
    });
    assert_eq!(sleeper.violation, Some(Violation::Deadline { worker: 0 }));
}

#[test]
fn a_consumer_that_panics_ends_the_run_and_the_trace_says_why() {
    let scenario = Scenario::new(3, Faults::none()).with_intervals(50);
    let rehearsal = scenario.rehearse(1, |mut member| async move {
        while let Some(change) = member.peers.next().await {
            member.time.note(format!("took {change}"));
            assert!(member.place != 1 || change.share().is_none(), "not for {}", member.place);
        }
    });
    assert_eq!(rehearsal.violation, Some(Violation::Panicked { worker: 1 }));
    assert!(rehearsal.intervals < 10.0);
    assert!(rehearsal.trace.contains("worker 0: took idle (starting)\n"), "{}", rehearsal.trace);
    let end = "worker 1: panicked: not for 1\n";
    assert!(rehearsal.trace.contains(end), "{}", rehearsal.trace);
}

/// Looks at the changes first, as most loops do.
#[test]
fn who_waits_for_changes_first_may_still_act_before_they_come() {
    let dead = Rc::new(RefCell::new(0));
    let faults = Faults::none().with(Fault::LongStall, 0.3);
    Scenario::new(3, faults).with_intervals(500).rehearse(1, |mut member| {
        let dead = Rc::clone(&dead);
        async move {
            let mut lease = None;
            loop {
                let tick = async {
                    member.time.sleep(INTERVAL / 20).await;
                    None
                };
                let next = async { Some(member.peers.next().await) };
                match futures_lite::future::or(next, tick).await {
                    Some(Some(change)) => lease = change.lease().cloned(),
                    Some(None) => break,
                    None => {
                        let gone = lease.as_ref().is_some_and(|lease| !lease.is_live());
                        *dead.borrow_mut() += u32::from(gone);
                    }
                }
            }
        }
    });
    assert!(*dead.borrow() > 0);
}
