//! Where a group's registrations are counted.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use n_and_i::Config;

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

    /// The present counters of the group, as key and value, read from those who count it. None if they do not
    /// answer.
    fn counters(&mut self) -> Vec<(String, u32)>;

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
        let tag = self.group().tag().len();
        for (key, value) in self.counters() {
            let interval = key[tag..].parse().expect("the number of an interval");
            let counter = known.entry(interval).or_default();
            *counter = value.max(*counter);
        }
    }
}
