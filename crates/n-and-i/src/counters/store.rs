//! The counter layout as plain data: what the script does, without Redis.

use n_and_i_core::{Reply, ServerTime, Stamp, Timing};

use crate::layout::{Refusal, interval_millis, kept_until};

/// One group's keys in the counter layout, and what the script does with them.
///
/// [`MemoryRegistry`](crate::MemoryRegistry) is made of it; a simulation can lose its keys, one
/// at a time or together, step its time and change its server.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Store {
    /// In the order in which they were created; few, since they expire.
    counters: Vec<Counter>,
    guard: Option<Guard>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Counter {
    interval: u64,
    value: u32,
    expires: ServerTime,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Guard {
    timing_millis: u64,
    interval: u64,
    count: u32,
    stamp: Stamp,
    replicas: Option<u32>,
    previous: Option<Stamp>,
    server: u64,
    expires: ServerTime,
}

impl Store {
    /// A group that nobody has registered in.
    pub const fn new() -> Self {
        Self { counters: Vec::new(), guard: None }
    }

    /// Makes one registration.
    ///
    /// `server` is any number that changes whenever the server may have lost its latest writes,
    /// as Redis's replication id does.
    ///
    /// # Errors
    /// If the script would refuse it.
    pub fn register(
        &mut self,
        at: ServerTime,
        server: u64,
        timing: Timing,
        stamp: Stamp,
        not_after: Option<ServerTime>,
    ) -> Result<Reply, Refusal> {
        if not_after.is_some_and(|limit| at > limit) {
            return Err(Refusal::TooLate);
        }
        let millis = interval_millis(timing);
        let interval = timing.interval_at(at);
        let guard = self.guard.filter(|guard| guard.expires >= at);
        if let Some(guard) = guard
            && guard.timing_millis != millis
        {
            return Err(Refusal::Interval(guard.timing_millis));
        }
        let same = guard.filter(|guard| guard.interval == interval);
        let mut next = match same {
            Some(guard) => guard,
            None => self.opened(guard, interval, at, server, millis),
        };
        let value = self.increment(at, timing, false);
        if same.is_none_or(|guard| value <= guard.count) {
            next.stamp = stamp;
            self.touch(interval, kept_until(at, timing));
        }
        next.count = value;
        next.expires = kept_until(at, timing);
        self.guard = Some(next);
        Ok(Reply {
            interval,
            index: value - 1,
            replicas: next.replicas,
            at,
            stamp: next.stamp,
            previous_stamp: next.previous,
        })
    }

    /// The guard of an interval that begins with this registration.
    fn opened(
        &self,
        guard: Option<Guard>,
        interval: u64,
        at: ServerTime,
        server: u64,
        timing_millis: u64,
    ) -> Guard {
        let replicas = interval.checked_sub(1).and_then(|before| self.value(before, at));
        let previous = guard.filter(|guard| {
            guard.interval.checked_add(1) == Some(interval)
                && guard.server == server
                && replicas.is_some_and(|replicas| replicas >= guard.count)
        });
        Guard {
            timing_millis,
            interval,
            count: 0,
            stamp: Stamp::from_u128(0),
            replicas,
            previous: previous.map(|guard| guard.stamp),
            server,
            expires: at,
        }
    }

    /// What a worker does that knows only the counters: INCR, and PEXPIRE if `expire` or if it
    /// made the counter. Returns the counter's value.
    pub fn increment(&mut self, at: ServerTime, timing: Timing, expire: bool) -> u32 {
        let interval = timing.interval_at(at);
        self.counters.retain(|counter| counter.expires >= at);
        let kept = kept_until(at, timing);
        if let Some(counter) =
            self.counters.iter_mut().rev().find(|counter| counter.interval == interval)
        {
            counter.value = counter.value.saturating_add(1);
            if expire {
                counter.expires = kept;
            }
            counter.value
        } else {
            self.counters.push(Counter { interval, value: 1, expires: kept });
            1
        }
    }

    /// The value of an interval's counter.
    pub fn value(&self, interval: u64, at: ServerTime) -> Option<u32> {
        let counter = self.counters.iter().rev().find(|counter| counter.interval == interval)?;
        (counter.expires >= at).then_some(counter.value)
    }

    /// The interval length that the guard names, unless it has expired.
    pub fn interval_millis(&self, at: ServerTime) -> Option<u64> {
        self.guard.filter(|guard| guard.expires >= at).map(|guard| guard.timing_millis)
    }

    /// Whether every key has expired.
    pub fn is_expired(&self, at: ServerTime) -> bool {
        self.guard.is_none_or(|guard| guard.expires < at)
            && self.counters.iter().all(|counter| counter.expires < at)
    }

    /// Loses the counter of an interval, as by DEL or eviction.
    pub fn lose_counter(&mut self, interval: u64) {
        self.counters.retain(|counter| counter.interval != interval);
    }

    /// Loses the guard.
    pub fn lose_guard(&mut self) {
        self.guard = None;
    }

    /// Loses everything, as by FLUSHALL or a restart without persistence.
    pub fn clear(&mut self) {
        self.counters.clear();
        self.guard = None;
    }

    fn touch(&mut self, interval: u64, expires: ServerTime) {
        for counter in &mut self.counters {
            if counter.interval == interval {
                counter.expires = expires;
            }
        }
    }
}
