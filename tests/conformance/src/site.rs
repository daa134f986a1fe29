//! Where a group's registrations are counted.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use n_and_i::{Config, Layout, scripts};
use redis::{FromRedisValue, Value};

use crate::endpoint::Endpoint;

/// What a row breaks and repairs: one server, or several that are one to their clients. All are stopped when it is
/// dropped.
pub trait Site {
    /// Where clients find it.
    fn endpoint(&self) -> &Endpoint;

    /// The group that is being looked at.
    fn group(&self) -> &Config;

    /// Looks at another group from now on.
    fn look_at(&mut self, group: Config);

    /// The servers' clock: seconds and microseconds, as TIME gives them.
    fn time(&mut self) -> (u64, u64);

    /// How many registrations of the group its intervals have, as far as those who count them remember. None if
    /// they do not answer.
    fn counters(&mut self) -> Vec<(u64, u32)>;

    /// The number of the group's present interval.
    fn present_interval(&mut self) -> u64 {
        let (seconds, micros) = self.time();
        let length = u64::try_from(self.group().interval().as_micros()).unwrap_or(u64::MAX);
        (seconds * 1_000_000 + micros) / length
    }

    /// Waits until this interval of the group has begun.
    fn wait_for_interval(&mut self, interval: u64) {
        while self.present_interval() < interval {
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Adds the present counters, by interval, to those that were read before.
    fn read_counters(&mut self, known: &mut BTreeMap<u64, u32>) {
        for (interval, value) in self.counters() {
            let counter = known.entry(interval).or_default();
            *counter = value.max(*counter);
        }
    }
}

/// What the server that `ask` asks has counted for the group.
///
/// # Panics
/// If the group's keys are not as its layout has them.
pub fn counted(group: &Config, mut ask: impl FnMut(&[&str]) -> Option<Value>) -> Vec<(u64, u32)> {
    if group.layout() == Layout::Slots {
        let line = ask(&["HGET", &scripts::guard_key(group), "group"]);
        let line = line.and_then(read::<Option<String>>).flatten();
        return line.map_or_else(Vec::new, |line| counts_of(&line));
    }
    let keys = ask(&["KEYS", &format!("{}[0-9]*", group.tag())]);
    let keys: Vec<String> = keys.and_then(read).unwrap_or_default();
    let value = |key: String| {
        let interval = key[group.tag().len()..].parse().expect("the number of an interval");
        // None if it has expired meanwhile or is no counter.
        Some((interval, ask(&["GET", &key]).and_then(read::<Option<u32>>)??))
    };
    keys.into_iter().filter_map(value).collect()
}

/// The open interval and the one before it.
fn counts_of(line: &str) -> Vec<(u64, u32)> {
    let words: Vec<&str> = line.split(' ').collect();
    let interval: u64 = words[2].parse().expect("the number of an interval");
    let mut counts = vec![(interval, words[4].parse().expect("a count"))];
    // -1 if it is not known.
    counts.extend(words[10].parse().ok().map(|closing| (interval - 1, closing)));
    counts
}

fn read<T: FromRedisValue>(value: Value) -> Option<T> {
    redis::from_redis_value(value).ok()
}
