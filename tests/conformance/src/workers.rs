//! What becomes of a group of workers.

use std::collections::BTreeMap;
use std::thread;
use std::time::Instant;

use n_and_i::Config;
use n_and_i_test_support::{Members, eventually};

use crate::executor::{Executor, Token};
use crate::registry::AnyRegistry;
use crate::row::{Back, Leases, Row};
use crate::site::Site;
use crate::subject::Subject;

/// How many workers a group has.
pub const WORKERS: usize = 2;
/// How many intervals are waited in vain.
pub const IN_VAIN: u64 = 20;

/// Breaks and repairs the server of a group and holds what becomes of it against what is expected.
///
/// # Errors
/// If that is something else. Also a machine that stands still for a while can cause this.
///
/// # Panics
/// If two workers owned the same, or if nothing happens at all.
pub fn workers<S: Site>(row: &Row<S>, subject: &Subject) -> Result<(), String> {
    let (expected, _) = row.expected_of(subject);
    let executor = Executor::start(subject.runtime);
    let mut site = (row.set_up)();
    site.look_at(row.group(subject));
    let mut members = Members::new();
    let tokens;
    let mut changes = [0; WORKERS];
    if row.made_while_broken {
        (row.break_it)(&mut site);
        tokens = join(&mut members, &site, subject, &executor);
    } else {
        tokens = join(&mut members, &site, subject, &executor);
        members.settled();
        changes = std::array::from_fn(|worker| members.changes(worker).len());
        (row.break_it)(&mut site);
    }
    let broken = Instant::now();
    if expected.leases == Leases::End {
        let ended = |(worker, &before): (usize, &usize)| {
            members.changes(worker).iter().skip(before).any(Result::is_err)
        };
        let all = || changes.iter().enumerate().all(ended).then_some(());
        eventually("all leases end", all);
    }
    thread::sleep((row.lasts * row.interval).saturating_sub(broken.elapsed()));
    (row.repair)(&mut site);
    let repaired = site.present_interval();
    let mut counters = BTreeMap::new();
    let result = match expected.back {
        Back::Within(intervals) => {
            site.wait_for_interval(repaired + 2);
            site.read_counters(&mut counters);
            members.settled();
            let stages = (0..WORKERS).map(|worker| members.lease(worker).map(|l| l.stage()));
            // None if it ended again at this moment.
            let last = stages.map(|stage| stage.unwrap_or(u64::MAX)).max().unwrap_or(u64::MAX);
            let took = last.saturating_sub(repaired);
            if took <= intervals {
                Ok(())
            } else {
                Err(format!("back only after {took} intervals"))
            }
        }
        Back::Never => {
            let before: Vec<usize> = (0..WORKERS).map(|w| members.changes(w).len()).collect();
            site.wait_for_interval(repaired + IN_VAIN);
            let owned =
                |worker: usize| members.changes(worker)[before[worker]..].iter().any(Result::is_ok);
            if (0..WORKERS).any(owned) { Err("back without help".to_owned()) } else { Ok(()) }
        }
    };
    site.read_counters(&mut counters);
    members.check();
    if let Some((interval, count)) =
        counters.range(repaired + 1..).find(|(_, count)| **count as usize > WORKERS)
    {
        return Err(format!(
            "{count} registrations in interval {interval}, repaired in {repaired}"
        ));
    }
    let after: [usize; WORKERS] = std::array::from_fn(|worker| members.changes(worker).len());
    if expected.leases == Leases::Kept && changes != after {
        return Err(format!("changes of leases that were to be kept: {changes:?}, {after:?}"));
    }
    drop(tokens);
    result
}

fn join(
    members: &mut Members,
    site: &impl Site,
    subject: &Subject,
    executor: &Executor,
) -> Vec<Token> {
    let registry = subject.connect(site.endpoint(), executor);
    (0..WORKERS).map(|_| join_one(members, &registry, site.group(), executor)).collect()
}

/// A worker joins, for as long as the token is kept.
pub fn join_one(
    members: &mut Members,
    registry: &AnyRegistry,
    config: &Config,
    executor: &Executor,
) -> Token {
    let (_, consumer) = members.join(executor.discover(registry.clone(), config.clone()));
    executor.spawn(consumer)
}
