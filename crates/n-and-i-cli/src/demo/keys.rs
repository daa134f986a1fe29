//! A sample of keys, to show who owns them.

use n_and_i::{Pair, Share};

/// How many keys there are to choose from: the more, the more even the parts are.
const KEYS: std::ops::RangeInclusive<usize> = 1024..=8192;
/// How many keys times workers are tried, if that leaves keys enough.
const TRIES: usize = 400_000;

/// Keys in the order of their owners in the settled group: those of worker 0 come first. At the
/// end of each worker's keys are those that move when one more joins.
#[derive(Debug)]
pub(crate) struct Keys(Vec<String>);

impl Keys {
    /// A sample for a group of so many workers and one more.
    pub(crate) fn sample(workers: usize) -> Self {
        let count = (TRIES / workers.max(1)).clamp(*KEYS.start(), *KEYS.end());
        let workers = u32::try_from(workers).unwrap_or(u32::MAX);
        let mut keys: Vec<_> = (0..count).map(|number| format!("key-{number}")).collect();
        keys.sort_by_cached_key(|key| (owner(key, workers), owner(key, workers + 1)));
        Self(keys)
    }

    /// So many of them at equal distances, each as often as it takes if there are not that many.
    pub(crate) fn spread(&self, count: usize) -> impl Iterator<Item = &str> {
        (0..count).map(move |number| &*self.0[(2 * number + 1) * self.0.len() / (2 * count)])
    }
}

/// Which of so many owns the key.
fn owner(key: &str, workers: u32) -> Option<u32> {
    (0..workers).find(|i| Pair::new(*i, workers).is_some_and(|pair| Share::of(pair).owns_key(key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The owners of some keys among so many workers.
    fn owners(keys: &Keys, count: usize, workers: u32) -> String {
        let letter = |key| char::from(b'A' + u8::try_from(owner(key, workers).unwrap()).unwrap());
        keys.spread(count).map(letter).collect()
    }

    #[test]
    fn each_worker_has_its_part_and_gives_some_away() {
        let keys = Keys::sample(5);
        assert_eq!(owners(&keys, 30, 5), "AAAAAABBBBBBCCCCCCDDDDDDEEEEEE");
        assert_eq!(owners(&keys, 30, 6), "AAAAAFBBBBBFCCCCCFDDDDDFEEEEEF");
    }

    #[test]
    fn any_number_can_be_shown() {
        for (workers, count) in [(1, 0), (1, 1), (3, 10), (100, 120), (5, 2000)] {
            assert_eq!(Keys::sample(workers).spread(count).count(), count);
        }
    }
}
