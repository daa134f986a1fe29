//! Three wrappers through faults: no task is ever two children's, each has its drain window, and
//! nothing is left.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use n_and_i_test_support::{RedisServer, eventually};
use rustix::process::{Pid, Signal};
use tempfile::TempDir;

use crate::child::Program;
use crate::exec::processes::{number, runs, send, wait_until_gone};
use crate::exec::words;

const TASK_LOCKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/exec/task-locks.sh");

/// Wrappers of a group, and what their children write.
struct Workers {
    server: RedisServer,
    directory: TempDir,
}

/// A line of the log: `what pid i/n token more`.
#[derive(Debug)]
struct Entry {
    what: String,
    pid: Pid,
    pair: (u64, u64),
    token: u64,
    more: String,
}

impl Workers {
    fn start(&self, manner: &str) -> Program {
        let url = self.server.url();
        let directory = self.directory.path().to_str().unwrap();
        Program::start(&words(&url, "1s", &["--", TASK_LOCKS, directory, manner]))
    }

    fn log(&self) -> Vec<Entry> {
        read(self.directory.path())
    }

    /// Waits until as many children as that work at the same time, on a pair each of their own.
    /// Returns their processes, sorted by index.
    fn settled(&self, count: u64) -> Vec<Pid> {
        eventually(&format!("{count} settle"), || {
            let working = self.working();
            let mut pairs: Vec<_> = working.values().map(|(pair, _)| *pair).collect();
            pairs.sort_unstable();
            let expected: Vec<_> = (0..count).map(|i| (i, count)).collect();
            let mut pids: Vec<_> =
                working.into_iter().map(|(pid, (pair, _))| (pair, pid)).collect();
            pids.sort_unstable_by_key(|(pair, _)| *pair);
            (pairs == expected).then(|| pids.into_iter().map(|(_, pid)| pid).collect())
        })
    }

    /// The children that work at this moment and were not asked to end, with pair and manner.
    fn working(&self) -> HashMap<Pid, ((u64, u64), String)> {
        let mut working = HashMap::new();
        for entry in self.log() {
            match entry.what.as_str() {
                "working" => drop(working.insert(entry.pid, (entry.pair, entry.more))),
                _ => drop(working.remove(&entry.pid)),
            }
        }
        working.retain(|pid, _| runs(*pid));
        working
    }
}

fn read(directory: &Path) -> Vec<Entry> {
    let log = fs::read_to_string(directory.join("log")).unwrap_or_default();
    // The last line may not be all there yet.
    let whole = log.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().map(|line| entry(line).unwrap_or_else(|| panic!("{line}"))).collect()
}

fn entry(line: &str) -> Option<Entry> {
    let mut words = line.split(' ');
    let (what, pid, pair) = (words.next()?.to_owned(), number(words.next()?)?, words.next()?);
    let (i, n) = pair.split_once('/')?;
    let (token, more) = (words.next()?.parse().ok()?, words.next()?.to_owned());
    Some(Entry { what, pid, pair: (i.parse().ok()?, n.parse().ok()?), token, more })
}

#[test]
fn three_wrappers_stay_exclusive_whatever_happens_to_them() {
    let server = RedisServer::start();
    let workers = Workers { server, directory: tempfile::tempdir().unwrap() };
    let mut first = workers.start("polite");
    let second = workers.start("polite");
    let third = workers.start("stubborn");
    let pids = workers.settled(3);

    // A child. It is started again on the same pair, as the lease is live.
    let polite = workers.working().into_iter().find(|(_, (_, manner))| manner == "polite");
    let (killed, (pair, _)) = polite.expect("there are two");
    send(killed, Signal::KILL);
    wait_until_gone(&[killed]);
    let again = workers.settled(3);
    assert_eq!(again.iter().filter(|pid| pids.contains(pid)).count(), 2, "{again:?} {pids:?}");
    let entries = workers.log();
    let replaced = entries.iter().rfind(|entry| entry.what == "working").expect("one works");
    assert_eq!(replaced.pair, pair, "{entries:?}");

    // A wrapper that is asked to end, with the child's exit code.
    first.signal(Signal::TERM);
    assert_eq!(first.end().code(), Some(0), "{:?}", first.stderr());
    workers.settled(2);

    // Another one comes, and a wrapper is killed.
    let fourth = workers.start("polite");
    let before = workers.settled(3);
    second.signal(Signal::KILL);
    let cut_off =
        eventually("its child is gone", || before.iter().copied().find(|pid| !runs(*pid)));
    workers.settled(2);

    // The server stands still until all have lost what they owned and all children have ended,
    // which takes up to two intervals.
    let before = workers.settled(2);
    workers.server.suspend();
    wait_until_gone(&before);
    workers.server.resume();
    workers.settled(2);

    let mut rest = [third, fourth];
    for worker in &rest {
        worker.signal(Signal::TERM);
    }
    let codes = rest.each_mut().map(|worker| worker.end().code());
    assert_eq!(codes, [Some(128 + 9), Some(0)]);

    check(&workers.log(), &[killed, cut_off]);
}

/// What must hold of all that was written, with these children killed by the test.
fn check(entries: &[Entry], killed: &[Pid]) {
    let of = |what: &'static str| entries.iter().filter(move |entry| entry.what == what);
    let conflicts: Vec<_> = of("CONFLICT").collect();
    assert!(conflicts.is_empty(), "{conflicts:?} of {entries:#?}");
    let working: Vec<_> = of("working").collect();
    assert!(working.len() > 8, "{entries:#?}");
    for child in working {
        assert!(!runs(child.pid), "left behind: {child:?}");
        if killed.contains(&child.pid) {
            continue;
        }
        let is = |entry: &&Entry| entry.pid == child.pid && entry.token == child.token;
        assert_eq!(of("asked").filter(is).count(), 1, "asked to end: {child:?} {entries:#?}");
        let finished = usize::from(child.more == "polite");
        assert_eq!(of("finished").filter(is).count(), finished, "{child:?} {entries:#?}");
    }
}
