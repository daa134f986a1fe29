//! Consumers that finish what they began within its drain window, tasks and keys alike: real drivers
//! in simulated groups. `SEED=n` repeats one run.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use n_and_i::Lease;
use n_and_i_sim::{Fault, Faults, Member, Plan, Rebalancing, Scenario};

const INTERVAL: Duration = Duration::from_secs(5);
const TASKS: usize = 24;

/// Tasks are numbered in its first half, mapped by their keys in the second.
fn owns(lease: &Lease, task: usize) -> bool {
    let task_id = u64::try_from(task).unwrap();
    if task < TASKS / 2 { lease.owns(task_id) } else { lease.owns_key(task_id.to_le_bytes()) }
}

#[derive(Default)]
struct Log {
    consumers: u32,
    /// Who began each task last.
    began: [Option<u32>; TASKS],
    finished: u64,
    /// How many of them were finished when the lease was over.
    drained: u64,
    /// How many of them somebody else had begun meanwhile.
    disturbed: u64,
}

impl Log {
    fn finish(&mut self, task: usize, consumer: u32, lease: &Lease) {
        self.finished += 1;
        self.drained += u64::from(!lease.is_live());
        self.disturbed += u64::from(self.began[task] != Some(consumer));
    }
}

/// Begins all it owns, and finishes it some time later if that is still allowed, or anyway.
async fn work(mut member: Member, log: Rc<RefCell<Log>>, careful: bool) {
    log.borrow_mut().consumers += 1;
    let consumer = log.borrow().consumers;
    let mut pause = 1;
    while let Some(change) = member.peers.next().await {
        let Some(lease) = change.lease() else { continue };
        while lease.is_live() {
            let tasks: Vec<_> = (0..TASKS).filter(|&task| owns(lease, task)).collect();
            for &task in &tasks {
                log.borrow_mut().began[task] = Some(consumer);
            }
            pause = pause * 7 % 19;
            member.time.sleep(INTERVAL / 20 * pause).await;
            if !careful || lease.may_finish() {
                for &task in &tasks {
                    log.borrow_mut().finish(task, consumer, lease);
                }
            }
        }
    }
}

fn rehearse(faults: &Faults, rebalancing: Rebalancing, seed: u64, careful: bool) -> Log {
    let log = Rc::new(RefCell::new(Log::default()));
    let scenario = Scenario::new(4, faults.clone()).with_intervals(200);
    let scenario = scenario.with_rebalance(rebalancing);
    let rehearsal = scenario.rehearse(seed, |member| work(member, Rc::clone(&log), careful));
    assert_eq!(rehearsal.violation, None, "SEED={seed}\n{}", rehearsal.trace);
    log.take()
}

fn seeds(count: u64) -> std::ops::RangeInclusive<u64> {
    let chosen = std::env::var("SEED").ok().map(|seed| seed.parse().expect("SEED is a number"));
    chosen.map_or(1..=count, |seed: u64| seed..=seed)
}

#[test]
fn who_finishes_within_the_drain_window_is_alone_with_the_task() {
    let mut mixed = Faults::all();
    mixed.mixed_gaps = true;
    for faults in [Faults::all(), mixed] {
        for rebalancing in Rebalancing::ALL {
            for seed in seeds(20) {
                let log = rehearse(&faults, rebalancing, seed, true);
                assert!(log.finished > 2_000, "SEED={seed}: {} finished", log.finished);
                assert!(log.drained > 20, "SEED={seed}: {} after a lease", log.drained);
                assert_eq!(log.disturbed, 0, "{rebalancing}, SEED={seed}");
            }
        }
    }
}

#[test]
fn who_finishes_at_any_time_is_found_out() {
    let faults = Faults::only(Fault::LongStall).with(Fault::Crash, 0.1);
    for rebalancing in Rebalancing::ALL {
        let disturbed = seeds(20).map(|seed| rehearse(&faults, rebalancing, seed, false).disturbed);
        assert!(disturbed.sum::<u64>() > 0, "{rebalancing}");
    }
}

#[test]
fn what_a_narrower_lease_keeps_is_worked_on_all_the_time() {
    let finished = |rebalancing| {
        let faults = Faults::only(Fault::Join).with(Fault::Join, 0.1);
        seeds(5).map(|seed| rehearse(&faults, rebalancing, seed, true).finished).sum::<u64>()
    };
    let [none, all, _] = Rebalancing::ALL.map(finished);
    assert!(none + none / 50 < all, "{none}, {all}");
}

#[test]
fn who_is_restarted_drains_while_the_next_has_joined() {
    let places = RefCell::new(Vec::new());
    let drained = Rc::new(RefCell::new(0));
    let scenario = Scenario::new(3, Faults::none()).with_intervals(14 + 100);
    let scenario = scenario.with_plan(Plan::RollingRestart, 5.0).expect("a good distance");
    let rehearsal =
        scenario.with_rebalance(n_and_i::Rebalance::KeepServing).rehearse(1, |mut member| {
            places.borrow_mut().push(member.place);
            let drained = Rc::clone(&drained);
            async move {
                while let Some(change) = member.peers.next().await {
                    if change.reason() == Some(n_and_i::Reason::Stopped) {
                        change.drain_window().expect("something was lost").closed().await;
                        *drained.borrow_mut() += 1;
                    }
                }
            }
        });
    assert_eq!(rehearsal.violation, None);
    assert_eq!((places.borrow().len(), *drained.borrow()), (3 + 20, 20));
    // Two places in turn for one worker.
    assert_eq!(places.borrow().iter().max(), Some(&3));
}
