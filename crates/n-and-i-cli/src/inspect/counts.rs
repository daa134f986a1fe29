//! How many registered in each interval, and what that says of the group.

use std::collections::BTreeMap;

use serde::Serialize;

/// How many closed intervals are remembered.
const KEPT: usize = 100;
/// How many of them count for whether a group flaps.
const RECENT: usize = 8;

/// Of the intervals that have closed.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Of an interval, in ms.
    length: u64,
    closed: BTreeMap<u64, u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    Absent,
    Starting,
    Settled,
    Changing,
    Flapping,
}

impl State {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Starting => "starting",
            Self::Settled => "settled",
            Self::Changing => "changing",
            Self::Flapping => "flapping",
        }
    }
}

/// The interval that takes registrations.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(super) struct Open {
    pub(super) interval: u64,
    /// How many have registered so far.
    pub(super) count: u64,
    /// Which part of it has passed, from 0 to 1.
    pub(super) passed: f64,
    /// Whether leases can rest on the one before; none as long as nobody has registered.
    pub(super) rests: Option<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub(super) struct Closed {
    pub(super) interval: u64,
    pub(super) count: u64,
}

impl Counts {
    /// Takes in what is known of closed intervals of this length.
    pub(super) fn note(&mut self, length: u64, closed: &[Closed]) {
        if length != self.length {
            *self = Self { length, closed: BTreeMap::new() };
        }
        for Closed { interval, count } in closed {
            self.closed.insert(*interval, *count);
        }
        while self.closed.len() > KEPT {
            self.closed.pop_first();
        }
    }

    /// The closed intervals without a gap up to the one before this, oldest first.
    pub(super) fn before(&self, open: u64) -> Vec<Closed> {
        let mut next = open;
        let mut found: Vec<_> = self
            .closed
            .range(..open)
            .rev()
            .map_while(|(interval, count)| {
                let follows = interval + 1 == next;
                next = *interval;
                follows.then_some(Closed { interval: *interval, count: *count })
            })
            .collect();
        found.reverse();
        found
    }
}

/// What the group is like, with these intervals before the open one.
pub(super) fn state(closed: &[Closed], open: &Open) -> State {
    let counts: Vec<_> = closed.iter().map(|closed| closed.count).collect();
    let [.., before, last] = *counts else { return State::Starting };
    if reversals(&counts[counts.len().saturating_sub(RECENT)..]) >= 2 {
        return State::Flapping;
    }
    let agree = before == last && last > 0 && open.count <= last;
    if agree && open.rests != Some(false) { State::Settled } else { State::Changing }
}

/// How often a rise follows a fall or a fall a rise.
fn reversals(counts: &[u64]) -> usize {
    let steps = counts.windows(2).map(|two| two[1].cmp(&two[0]));
    let steps: Vec<_> = steps.filter(|step| step.is_ne()).collect();
    steps.windows(2).filter(|two| two[0] != two[1]).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(counts: &[u64]) -> Vec<Closed> {
        (10..).zip(counts).map(|(interval, count)| Closed { interval, count: *count }).collect()
    }

    fn state_of(counts: &[u64], open: u64) -> State {
        let closed = closed(counts);
        let open = Open { interval: 99, count: open, passed: 0.5, rests: Some(true) };
        state(&closed, &open)
    }

    #[test]
    fn two_intervals_that_agree_are_settled() {
        assert_eq!(state_of(&[], 3), State::Starting);
        assert_eq!(state_of(&[3], 3), State::Starting);
        assert_eq!(state_of(&[3, 3], 0), State::Settled);
        assert_eq!(state_of(&[2, 3, 3], 3), State::Settled);
    }

    #[test]
    fn a_change_is_seen_in_the_open_interval_too() {
        assert_eq!(state_of(&[3, 4], 0), State::Changing);
        assert_eq!(state_of(&[3, 3], 4), State::Changing);
        assert_eq!(state_of(&[0, 0], 0), State::Changing);
        let lost = Open { interval: 99, count: 3, passed: 0.5, rests: Some(false) };
        assert_eq!(state(&closed(&[3, 3]), &lost), State::Changing);
    }

    #[test]
    fn a_restart_does_not_flap_and_two_in_a_row_do() {
        assert_eq!(state_of(&[3, 2, 3], 3), State::Changing);
        assert_eq!(state_of(&[3, 2, 2, 3, 3], 3), State::Settled);
        assert_eq!(state_of(&[3, 4, 5, 6, 7], 8), State::Changing);
        assert_eq!(state_of(&[3, 2, 3, 2], 3), State::Flapping);
        assert_eq!(state_of(&[3, 3, 2, 2, 3, 3, 2, 2], 2), State::Flapping);
        // Long ago.
        assert_eq!(state_of(&[3, 2, 3, 2, 2, 2, 2, 2, 2, 2, 2], 2), State::Settled);
    }

    #[test]
    fn only_intervals_in_a_row_are_shown() {
        let mut counts = Counts::default();
        counts.note(1000, &[Closed { interval: 5, count: 1 }]);
        counts.note(1000, &closed(&[3, 4]));
        assert_eq!(counts.before(12), closed(&[3, 4]));
        assert_eq!(counts.before(11), closed(&[3]));
        assert_eq!(counts.before(13), []);
        counts.note(2000, &[]);
        assert_eq!(counts.before(12), []);
    }

    #[test]
    fn old_ones_are_forgotten() {
        let mut counts = Counts::default();
        counts.note(1, &closed(&[1; KEPT + 20]));
        assert_eq!(counts.before(10 + KEPT as u64 + 20).len(), KEPT);
    }
}
