//! What happens next: events in the order of their times, and one wake-up per worker, which may
//! be moved.
//!
//! What falls together happens in this order: events, as they were planned, then workers, by number.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use slab::Slab;

/// The time of a wake-up that is not planned.
const NEVER: u64 = u64::MAX;

#[derive(Debug)]
pub(crate) struct Agenda<E> {
    /// Times of events, how many were planned before each, and where they are kept.
    order: BinaryHeap<Reverse<(u64, u64, usize)>>,
    planned: u64,
    events: Slab<E>,
    wakes: Wakes,
    /// Who was woken last, as long as its wake-up is still the first of `wakes`: most are planned
    /// anew at once, which saves taking it out.
    woken: Option<usize>,
}

/// What is due next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Due<E> {
    Event(E),
    Wake(usize),
}

impl<E> Agenda<E> {
    pub(crate) fn new() -> Self {
        Self {
            order: BinaryHeap::new(),
            planned: 0,
            events: Slab::new(),
            wakes: Wakes { tree: vec![NEVER; 2] },
            woken: None,
        }
    }

    pub(crate) fn plan(&mut self, time: u64, event: E) {
        self.planned += 1;
        self.order.push(Reverse((time, self.planned, self.events.insert(event))));
    }

    /// Wakes the worker up at this time and not at the one planned before.
    pub(crate) fn wake_at(&mut self, worker: usize, time: u64) {
        self.woken = self.woken.filter(|woken| *woken != worker);
        self.wakes.set(worker, time);
    }

    /// Wakes the worker up at this time, or at the one planned before if that is earlier.
    pub(crate) fn wake_by(&mut self, worker: usize, time: u64) {
        let planned = if self.woken == Some(worker) { NEVER } else { self.wakes.get(worker) };
        self.wake_at(worker, time.min(planned));
    }

    pub(crate) fn never_wake(&mut self, worker: usize) {
        self.wake_at(worker, NEVER);
    }

    /// Takes what is due next, and when; none if that is after `end`.
    pub(crate) fn next(&mut self, end: u64) -> Option<(u64, Due<E>)> {
        if let Some(woken) = self.woken.take() {
            self.wakes.set(woken, NEVER);
        }
        let wake = self.wakes.first();
        let event = self.order.peek().map_or(NEVER, |Reverse((time, ..))| *time);
        if wake.min(event) > end {
            return None;
        }
        if wake < event {
            let worker = self.wakes.first_worker();
            self.woken = Some(worker);
            return Some((wake, Due::Wake(worker)));
        }
        let Reverse((time, _, key)) = self.order.pop()?;
        Some((time, Due::Event(self.events.remove(key))))
    }
}

/// The earliest of one time per worker. Their times are in the upper half of the tree; every
/// other node is the lesser of the two below it.
#[derive(Debug)]
struct Wakes {
    tree: Vec<u64>,
}

impl Wakes {
    fn first(&self) -> u64 {
        self.tree[1]
    }

    /// The worker whose time is the first.
    fn first_worker(&self) -> usize {
        let (leaves, first) = (self.tree.len() / 2, self.first());
        let mut node = 1;
        while node < leaves {
            node = 2 * node + usize::from(self.tree[2 * node] != first);
        }
        node - leaves
    }

    fn get(&self, worker: usize) -> u64 {
        self.tree.get(self.tree.len() / 2 + worker).copied().unwrap_or(NEVER)
    }

    fn set(&mut self, worker: usize, time: u64) {
        while worker >= self.tree.len() / 2 {
            self.grow();
        }
        let tree = self.tree.as_mut_slice();
        let (mut node, mut least) = (tree.len() / 2 + worker, time);
        while node > 1 && tree[node] != least {
            tree[node] = least;
            least = least.min(tree[node ^ 1]);
            node /= 2;
        }
        tree[node] = least;
    }

    fn grow(&mut self) {
        let leaves = self.tree.split_off(self.tree.len() / 2);
        self.tree = vec![NEVER; 4 * leaves.len()];
        for (worker, time) in leaves.into_iter().enumerate() {
            self.set(worker, time);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::random::Random;

    /// The same agenda, done the obvious way.
    #[derive(Default)]
    struct Plain {
        /// Also in the order in which they were planned.
        events: Vec<(u64, u32)>,
        wakes: BTreeMap<usize, u64>,
    }

    impl Plain {
        fn next(&mut self, end: u64) -> Option<(u64, Due<u32>)> {
            let event = self.events.iter().copied().min();
            let wake = self.wakes.iter().map(|(worker, time)| (*time, *worker)).min();
            let event_first = event.is_some_and(|(time, _)| wake.is_none_or(|wake| time <= wake.0));
            let (time, due) = match (event, wake) {
                (Some((time, event)), _) if event_first => (time, Due::Event(event)),
                (_, Some((time, worker))) => (time, Due::Wake(worker)),
                _ => return None,
            };
            if time > end {
                return None;
            }
            match due {
                Due::Event(event) => self.events.retain(|other| other.1 != event),
                Due::Wake(worker) => drop(self.wakes.remove(&worker)),
            }
            Some((time, due))
        }
    }

    #[test]
    fn it_gives_what_a_plain_list_gives() {
        for seed in 0..50 {
            let mut random = Random::new(seed);
            let (mut agenda, mut plain) = (Agenda::new(), Plain::default());
            for event in 0..2_000 {
                // Few times, so that many fall together.
                let (time, worker) = (random.between(0, 40), random.index(9));
                match random.index(8) {
                    0 | 1 => {
                        agenda.plan(time, event);
                        plain.events.push((time, event));
                    }
                    2 | 3 => {
                        agenda.wake_at(worker, time);
                        plain.wakes.insert(worker, time);
                    }
                    4 => {
                        agenda.wake_by(worker, time);
                        let planned = plain.wakes.entry(worker).or_insert(time);
                        *planned = time.min(*planned);
                    }
                    5 if time < 10 => {
                        agenda.never_wake(worker);
                        plain.wakes.remove(&worker);
                    }
                    _ => assert_eq!(agenda.next(35), plain.next(35), "seed {seed}"),
                }
            }
        }
    }

    #[test]
    fn what_comes_after_the_end_stays() {
        let mut agenda = Agenda::new();
        agenda.plan(7, 'a');
        agenda.wake_at(3, 8);
        assert_eq!(agenda.next(6), None);
        assert_eq!(agenda.next(7), Some((7, Due::Event('a'))));
        assert_eq!(agenda.next(7), None);
        assert_eq!(agenda.next(8), Some((8, Due::Wake(3))));
        assert_eq!(agenda.next(u64::MAX - 1), None);
    }
}
