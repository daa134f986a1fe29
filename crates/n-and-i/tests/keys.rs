//! Which share a key belongs to, as `docs/rebalancing.md` gives it for other languages.

use n_and_i::{Pair, Share};

const COUNTS: [u32; 5] = [1, 2, 3, 10, 1000];

/// Key, hash, and the index that owns it among each of the counts. Made with the reference
/// implementation of the hash and a transcription of the paper in another language.
const VECTORS: [(&str, u64, [u32; 5]); 7] = [
    ("", 0xef46_db37_51d8_e999, [0, 1, 2, 7, 332]),
    ("a", 0xd24e_c4f1_a98c_6e5b, [0, 1, 1, 8, 894]),
    ("abc", 0x44bc_2cf5_ad77_0999, [0, 0, 0, 6, 722]),
    ("user:1", 0xd9c7_c460_9e60_80f3, [0, 0, 2, 2, 182]),
    ("user:2", 0x337b_e5a0_c611_350a, [0, 0, 0, 0, 377]),
    ("grüße", 0xf6b7_05a5_92c4_dcda, [0, 1, 2, 2, 940]),
    ("The quick brown fox jumps over the lazy dog", 0x0b24_2d36_1fda_71bc, [0, 0, 0, 0, 76]),
];

#[test]
fn keys_go_where_the_test_vectors_say() {
    for (key, hash, indices) in VECTORS {
        for (n, index) in COUNTS.into_iter().zip(indices) {
            for i in 0..n {
                let share = Share::of(Pair::new(i, n).unwrap());
                assert_eq!(share.owns_key(key), i == index, "{key:?} for {i} of {n}");
                assert_eq!(share.owns_hash(hash), i == index, "{hash:016x} for {i} of {n}");
            }
        }
    }
}

/// The page is what others implement it from.
#[test]
fn the_documentation_has_the_same_vectors() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rebalancing.md");
    let page = std::fs::read_to_string(page).unwrap();
    for (key, hash, [one, two, three, ten, thousand]) in VECTORS {
        let row =
            format!("| `{key}` | `{hash:016x}` | {one} | {two} | {three} | {ten} | {thousand} |");
        assert!(page.contains(&row), "{row}");
    }
}
