//! The slots layout in memory.

use std::collections::BTreeMap;

use n_and_i_core::{Reply, ServerTime, Stamp, Timing};

use crate::layout::{Refusal, interval_millis, kept_until};
use crate::registry::WorkerId;

/// One group's hash, as [`REGISTER`](super::REGISTER) and [`RELEASE`](super::RELEASE) keep it: the
/// same answers to the same registrations at the same times. It can be lost only as a whole.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Store {
    group: Option<Group>,
    workers: BTreeMap<WorkerId, Place>,
    /// By index; none where nobody is written down.
    holders: Vec<Option<Holder>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Group {
    timing_millis: u64,
    interval: u64,
    /// Counts intervals as long as one follows the other, and skips one where they do not.
    position: u64,
    count: u32,
    /// One more than the highest index taken.
    top: u32,
    /// No lower index is free for who is new.
    free: u32,
    /// Whether an index was given back after the interval had closed.
    gaps: bool,
    stamp: Stamp,
    closing: Option<u32>,
    previous: Option<Stamp>,
    server: u64,
    expires: ServerTime,
}

/// Where a worker registered last.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Place {
    position: u64,
    index: u32,
    is_gone: bool,
}

/// Who took an index last.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Holder {
    position: u64,
    worker: WorkerId,
    gave_back: bool,
}

impl Store {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes one registration. `server` as for the
    /// [counters](crate::counters::Store::register).
    ///
    /// # Errors
    /// If the script would refuse it.
    pub fn register(
        &mut self,
        at: ServerTime,
        server: u64,
        timing: Timing,
        worker: WorkerId,
        stamp: Stamp,
        not_after: Option<ServerTime>,
    ) -> Result<Reply, Refusal> {
        if not_after.is_some_and(|limit| at > limit) {
            return Err(Refusal::TooLate);
        }
        if self.is_expired(at) {
            self.clear();
        }
        let mut group = self.opened(at, server, timing, stamp)?;
        let place = self.workers.get(&worker).copied();
        if place.is_some_and(|place| place.is_gone) {
            return Err(Refusal::Gone);
        }
        let index = match place {
            // Asked again: the same answer.
            Some(place) if place.position == group.position => place.index,
            place => {
                group.count = group.count.saturating_add(1);
                let kept = place.filter(|place| {
                    place.position + 1 == group.position
                        && group.closing.is_some_and(|closing| place.index < closing)
                });
                kept.map_or_else(|| self.next_free(&mut group), |place| place.index)
            }
        };
        group.top = group.top.max(index + 1);
        self.take(index, worker, &group);
        self.forget_two(&group);
        group.expires = kept_until(at, timing);
        self.group = Some(group);
        Ok(Reply {
            interval: group.interval,
            index,
            replicas: group.closing,
            at,
            stamp: group.stamp,
            previous_stamp: group.previous,
        })
    }

    /// The group in the interval that is open now.
    fn opened(
        &self,
        at: ServerTime,
        server: u64,
        timing: Timing,
        stamp: Stamp,
    ) -> Result<Group, Refusal> {
        let timing_millis = interval_millis(timing);
        let interval = timing.interval_at(at);
        let mut opened = Group {
            timing_millis,
            interval,
            position: 1,
            count: 0,
            top: 0,
            free: 0,
            gaps: false,
            stamp,
            closing: None,
            previous: None,
            server,
            expires: at,
        };
        let Some(group) = self.group else { return Ok(opened) };
        if group.timing_millis != timing_millis {
            return Err(Refusal::Interval(group.timing_millis));
        }
        if group.interval == interval {
            return Ok(group);
        }
        if group.interval.checked_add(1) == Some(interval) {
            opened.position = group.position + 1;
            opened.closing = Some(group.count);
            // A server that was promoted or restarted may have lost the end of what it counted.
            opened.previous = (group.server == server).then_some(group.stamp);
            // If nobody left a gap the next newcomer is the first after all others.
            if group.top == group.count && !group.gaps {
                opened.free = group.count;
            }
        } else {
            opened.position = group.position + 2;
        }
        Ok(opened)
    }

    /// The lowest index that was free in the closed interval and is not taken in the open one; if
    /// there is none, the next one above.
    fn next_free(&self, group: &mut Group) -> u32 {
        let closing = group.closing.unwrap_or(0);
        let is_taken = |index: u32| {
            self.holder(index).is_some_and(|holder| {
                !holder.gave_back
                    && (holder.position == group.position
                        || (holder.position + 1 == group.position && index < closing))
            })
        };
        let mut index = group.free;
        while is_taken(index) {
            index += 1;
        }
        group.free = index + 1;
        index
    }

    fn holder(&self, index: u32) -> Option<Holder> {
        self.holders.get(position_of(index)).copied().flatten()
    }

    /// Writes down who has the index now.
    fn take(&mut self, index: u32, worker: WorkerId, group: &Group) {
        let place = position_of(index);
        if self.holders.len() <= place {
            self.holders.resize(place + 1, None);
        }
        let holder = Holder { position: group.position, worker, gave_back: false };
        let before = self.holders[place].replace(holder);
        if let Some(before) = before.filter(|before| before.worker != worker) {
            self.forget_worker(before, index);
        }
        self.workers.insert(worker, Place { position: group.position, index, is_gone: false });
    }

    /// Forgets the highest indices if nobody has them any more, two at most.
    fn forget_two(&mut self, group: &Group) {
        let lowest = position_of(group.top.max(group.closing.unwrap_or(0)));
        for _ in 0..2 {
            if self.holders.len() > lowest
                && let Some(holder) = self.holders.pop().flatten()
            {
                let index = u32::try_from(self.holders.len()).unwrap_or(u32::MAX);
                self.forget_worker(holder, index);
            }
        }
    }

    /// Forgets a worker, unless it has had another index since.
    fn forget_worker(&mut self, holder: Holder, index: u32) {
        let is_stale = |place: &Place| {
            place.index == index && (place.is_gone || place.position == holder.position)
        };
        if self.workers.get(&holder.worker).is_some_and(is_stale) {
            self.workers.remove(&holder.worker);
        }
    }

    /// A worker leaves in order.
    pub fn release(&mut self, at: ServerTime, timing: Timing, worker: WorkerId) {
        let timing_millis = interval_millis(timing);
        if self.is_expired(at) {
            return;
        }
        let (Some(group), Some(place)) = (&mut self.group, self.workers.get_mut(&worker)) else {
            return;
        };
        if group.timing_millis != timing_millis || place.is_gone {
            return;
        }
        let interval = timing.interval_at(at);
        if group.interval == interval && place.position == group.position {
            // The open interval does not count it any more.
            group.count = group.count.saturating_sub(1);
            group.free = group.free.min(place.index);
        } else if group.interval == interval && place.position + 1 == group.position {
            group.free = group.free.min(place.index);
        } else if group.interval.checked_add(1) == Some(interval)
            && place.position == group.position
        {
            // Closed, though nobody has registered since: its count is what others rest on.
            group.gaps = true;
        } else {
            return;
        }
        place.is_gone = true;
        let gave_back = Holder { position: place.position, worker, gave_back: true };
        self.holders[position_of(place.index)] = Some(gave_back);
    }

    /// Whether the key has expired.
    pub fn is_expired(&self, at: ServerTime) -> bool {
        self.group.is_none_or(|group| group.expires < at)
    }

    /// The interval length of the group, unless it has expired.
    pub fn interval_millis(&self, at: ServerTime) -> Option<u64> {
        self.group.filter(|_| !self.is_expired(at)).map(|group| group.timing_millis)
    }

    /// How many workers and indices are written down.
    pub fn size(&self) -> (usize, usize) {
        (self.workers.len(), self.holders.iter().flatten().count())
    }

    /// Loses everything, as by DEL, FLUSHALL, eviction or a restart without persistence.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

fn position_of(index: u32) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}
