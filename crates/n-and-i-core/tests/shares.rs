//! Pairs and shares under both mappings, against counting.

use std::hash::Hasher;

use n_and_i_core::{Mapping, Pair, Share};

fn pair(i: u32, n: u32) -> Pair {
    Pair::new(i, n).expect("i < n")
}

fn pairs(most: u32) -> impl Iterator<Item = Pair> + Clone {
    (1..=most).flat_map(|n| (0..n).map(move |i| pair(i, n)))
}

/// Settled ones and those of two pairs, also such that no task can belong to.
fn shares(most: u32) -> Vec<Share> {
    let common = pairs(most).flat_map(|a| pairs(most).filter_map(move |b| Share::common(a, b)));
    common.collect()
}

fn owns(share: Share, mapping: Mapping, task: u64) -> bool {
    match mapping {
        Mapping::Modulo => share.owns(task),
        Mapping::Jump => share.owns_hash(task),
    }
}

/// Enough to tell shares of up to six workers apart: all residues, and hashes spread evenly
/// (the numbers from 0, mixed).
fn tasks(mapping: Mapping) -> Vec<u64> {
    let spread = |number: u64| {
        let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    match mapping {
        Mapping::Modulo => (0..60).collect(),
        Mapping::Jump => (0..60_000).map(spread).collect(),
    }
}

#[test]
fn each_task_belongs_to_exactly_one_pair_of_a_count() {
    for mapping in Mapping::ALL {
        for task in tasks(mapping).into_iter().take(100).chain([u64::from(u32::MAX), u64::MAX]) {
            for n in [1, 2, 3, 7, 100] {
                let owners = (0..n).filter(|&i| owns(Share::of(pair(i, n)), mapping, task));
                assert_eq!(owners.count(), 1, "{task} among {n} by {mapping}");
            }
        }
    }
    let last = pair(u32::MAX - 1, u32::MAX);
    assert!(last.owns(u64::from(u32::MAX) - 1) && !last.owns(u64::from(u32::MAX)));
}

#[test]
fn shares_intersect_if_a_task_can_belong_to_both() {
    for mapping in Mapping::ALL {
        let owned: Vec<(Share, Vec<bool>)> = shares(5)
            .into_iter()
            .map(|share| {
                let tasks = tasks(mapping);
                (share, tasks.into_iter().map(|task| owns(share, mapping, task)).collect())
            })
            .collect();
        for (a, tasks_of_a) in &owned {
            for (b, tasks_of_b) in &owned {
                let common = tasks_of_a.iter().zip(tasks_of_b).any(|(a, b)| *a && *b);
                assert_eq!(a.intersects(*b, mapping), common, "{a} with {b} by {mapping}");
            }
        }
    }
}

#[test]
fn a_share_is_as_large_as_it_says() {
    for mapping in Mapping::ALL {
        let tasks = tasks(mapping);
        for share in shares(6) {
            let owned = tasks.iter().filter(|&&task| owns(share, mapping, task)).count();
            let counted = f64::from(u32::try_from(owned).unwrap())
                / f64::from(u32::try_from(tasks.len()).unwrap());
            let fraction = share.fraction(mapping);
            // Five standard deviations; residues are exact.
            let error = match mapping {
                Mapping::Modulo => 1e-9,
                Mapping::Jump => 5.0 * (fraction * (1.0 - fraction) / 60_000.0).sqrt() + 1e-9,
            };
            let difference = (counted - fraction).abs();
            assert!(difference <= error, "{share} by {mapping}: {counted}, not {fraction}");
        }
    }
}

#[test]
fn pairs_that_no_mapping_gives_a_common_task_have_no_common_share() {
    for (i, n, previous_i, previous_n, common) in [
        (1, 3, 1, 3, Some("1 of 3")),
        (1, 3, 0, 3, None),
        (1, 4, 1, 3, Some("1 of 4 and 1 of 3")),
        // Even numbers and odd ones; but a key of the first of two may move to the last of four.
        (3, 4, 0, 2, Some("3 of 4 and 0 of 2")),
        (1, 4, 0, 2, None),
        (0, 2, 1, 4, None),
    ] {
        let share = Share::common(pair(i, n), pair(previous_i, previous_n));
        assert_eq!(share.map(|share| share.to_string()).as_deref(), common, "{i} of {n}");
        assert_eq!(share.is_some_and(Share::is_settled), (i, n) == (previous_i, previous_n));
    }
}

#[test]
fn a_share_names_its_pairs() {
    let settled = Share::from(pair(2, 3));
    assert_eq!((settled.pair(), settled.previous()), (pair(2, 3), None));
    let narrowed = Share::common(pair(2, 4), pair(2, 3)).expect("a part of 2 of 3 stays");
    assert_eq!((narrowed.pair(), narrowed.previous()), (pair(2, 4), Some(pair(2, 3))));
    assert_eq!(format!("{narrowed:?}"), "Share(2 of 4 and 2 of 3)");
    assert_eq!(Mapping::ALL.map(|mapping| mapping.to_string()), ["modulo", "jump"]);
}

/// Another implementation of jump consistent hashing, which takes hashers and no hashes.
#[test]
fn jumps_are_those_of_the_paper() {
    #[derive(Clone, Default)]
    struct Hash(u64);
    impl Hasher for Hash {
        fn finish(&self) -> u64 {
            self.0
        }
        fn write(&mut self, _: &[u8]) {
            unimplemented!("only numbers are hashed here")
        }
        fn write_u64(&mut self, hash: u64) {
            self.0 = hash;
        }
    }
    let reference = jumphash::CustomJumpHasher::new(Hash::default());
    for hash in tasks(Mapping::Jump).into_iter().take(2_000).chain([0, 1, u64::MAX]) {
        for n in [1, 2, 3, 10, 1_000, 1 << 31, u32::MAX] {
            let i = reference.slot(&hash, n);
            assert!(pair(i, n).owns_hash(hash), "{hash} among {n}");
        }
    }
}
