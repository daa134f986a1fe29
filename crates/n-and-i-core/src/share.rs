//! Shares of the task space: what a worker may serve.

use core::fmt;
use core::num::NonZeroU32;

/// Index `i` of `n`, with `i < n`: one of `n` equal parts of the task space.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    i: u32,
    n: NonZeroU32,
}

impl Pair {
    /// The pair `(i, n)`, or none unless `i < n`.
    pub const fn new(i: u32, n: u32) -> Option<Self> {
        match NonZeroU32::new(n) {
            Some(count) if i < n => Some(Self { i, n: count }),
            _ => None,
        }
    }

    /// The index of this worker, from 0 to `n - 1`.
    pub const fn i(self) -> u32 {
        self.i
    }

    /// How many workers share the task space, at least 1.
    pub const fn n(self) -> u32 {
        self.n.get()
    }

    /// Whether the task with this number belongs to the pair: `task_id % n == i`.
    pub const fn owns(self, task_id: u64) -> bool {
        task_id % self.n.get() as u64 == self.i as u64
    }

    /// Whether the key with this hash belongs to the pair: `jump(hash, n) == i`, see
    /// [`Mapping::Jump`].
    pub const fn owns_hash(self, hash: u64) -> bool {
        jump(hash, self.n.get()) == self.i
    }

    /// Whether some task can belong to both pairs under this mapping.
    ///
    /// Under [`Mapping::Modulo`] that is so if the indices agree modulo the greatest common
    /// divisor of the counts (the Chinese remainder theorem). Under [`Mapping::Jump`] a key in
    /// a bucket of fewer is, among more, in the same one or in one of those added.
    pub const fn intersects(self, other: Self, mapping: Mapping) -> bool {
        match mapping {
            Mapping::Modulo => {
                let divisor = greatest_common_divisor(self.n(), other.n());
                self.i % divisor == other.i % divisor
            }
            Mapping::Jump => {
                let (fewer, more) =
                    if self.n() <= other.n() { (self, other) } else { (other, self) };
                fewer.i == more.i || more.i >= fewer.n()
            }
        }
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.i, self.n)
    }
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pair({self})")
    }
}

/// What a worker may serve: the tasks of one pair in a settled group, those that belong to two
/// pairs while it rebalances.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Share {
    pair: Pair,
    previous: Option<Pair>,
}

impl Share {
    /// The tasks of this pair.
    pub const fn of(pair: Pair) -> Self {
        Self { pair, previous: None }
    }

    /// The tasks that belong to both pairs; none if no task can, under any mapping. A share may
    /// be empty under one of them: see [`fraction`](Share::fraction).
    pub fn common(pair: Pair, previous: Pair) -> Option<Self> {
        if pair == previous {
            return Some(Self::of(pair));
        }
        let possible = |&mapping: &Mapping| pair.intersects(previous, mapping);
        let share = Self { pair, previous: Some(previous) };
        Mapping::ALL.iter().any(possible).then_some(share)
    }

    /// The pair that every task of the share belongs to. If there are two, the one that was the
    /// newer when the share was granted.
    pub const fn pair(self) -> Pair {
        self.pair
    }

    /// The other pair that every task of the share belongs to, the older when the share was
    /// granted; none if there is only one.
    pub const fn previous(self) -> Option<Pair> {
        self.previous
    }

    /// Whether the share is all of one pair.
    pub const fn is_settled(self) -> bool {
        self.previous.is_none()
    }

    /// Whether the task with this number belongs to the share: `task_id % n == i` for its
    /// pair or both of them ([`Mapping::Modulo`]).
    pub const fn owns(self, task_id: u64) -> bool {
        match self.previous {
            Some(previous) if !previous.owns(task_id) => false,
            _ => self.pair.owns(task_id),
        }
    }

    /// Whether the key with this hash belongs to the share ([`Mapping::Jump`]). `hash` should
    /// be spread evenly over all 64-bit numbers; numbers that count are not.
    pub const fn owns_hash(self, hash: u64) -> bool {
        match self.previous {
            Some(previous) if !previous.owns_hash(hash) => false,
            _ => self.pair.owns_hash(hash),
        }
    }

    /// Whether this key belongs to the share: [`owns_hash`](Self::owns_hash) of its XXH64
    /// with seed 0.
    #[cfg(feature = "keys")]
    pub fn owns_key(self, key: impl AsRef<[u8]>) -> bool {
        self.owns_hash(twox_hash::XxHash64::oneshot(0, key.as_ref()))
    }

    /// How much of the task space this is under a mapping, from 0 to 1.
    pub fn fraction(self, mapping: Mapping) -> f64 {
        let Some(previous) = self.previous else { return 1.0 / f64::from(self.pair.n()) };
        if !self.pair.intersects(previous, mapping) {
            return 0.0;
        }
        let (n, previous_n) = (self.pair.n(), previous.n());
        match mapping {
            Mapping::Modulo => {
                let divisor = greatest_common_divisor(n, previous_n);
                f64::from(divisor) / (f64::from(n) * f64::from(previous_n))
            }
            // It stays where it is, or moves to one that was added wherever it was.
            Mapping::Jump if self.pair.i == previous.i => 1.0 / f64::from(n.max(previous_n)),
            Mapping::Jump => 1.0 / (f64::from(n) * f64::from(previous_n)),
        }
    }

    /// Whether some task can belong to both shares under a mapping: if every pair of the one
    /// intersects every pair of the other. (For pairs that is enough under both mappings.)
    pub fn intersects(self, other: Self, mapping: Mapping) -> bool {
        let pairs = |share: Self| [Some(share.pair), share.previous].into_iter().flatten();
        let possible = |share: Self| {
            share.previous.is_none_or(|previous| share.pair.intersects(previous, mapping))
        };
        let meet = |ours: Pair| pairs(other).all(|theirs| ours.intersects(theirs, mapping));
        possible(self) && possible(other) && pairs(self).all(meet)
    }

    /// Whether all that belongs to `other` certainly belongs to this share too.
    pub(crate) fn covers(self, other: Self) -> bool {
        let known = |pair: Pair| other.pair == pair || other.previous == Some(pair);
        known(self.pair) && self.previous.is_none_or(known)
    }
}

impl From<Pair> for Share {
    fn from(pair: Pair) -> Self {
        Self::of(pair)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.pair)?;
        self.previous.map_or(Ok(()), |previous| write!(f, " and {previous}"))
    }
}

impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Share({self})")
    }
}

/// How tasks are spread over `n` workers. All workers that share a source of tasks must
/// use the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mapping {
    /// Task `x` goes to `x % n`. Exact and easily computed by whoever makes the tasks, in a
    /// query too; when `n` changes nearly all tasks move.
    Modulo,
    /// Key `x` goes to `jump(hash(x), n)`, jump consistent hashing as J. Lamping and E. Veach
    /// give it in "A Fast, Minimal Memory, Consistent Hash Algorithm" (2014, arXiv:1406.2294).
    /// When `n` grows by one, one key in `n + 1` moves, and when it shrinks by one, one in `n`.
    Jump,
}

impl Mapping {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Modulo, Self::Jump];

    /// The mapping in one lower-case word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Modulo => "modulo",
            Self::Jump => "jump",
        }
    }
}

impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a worker does while its group's membership changes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Rebalance {
    /// Own nothing until two intervals agree on a pair.
    #[default]
    StandDown,
    /// Own what belongs to the pairs of both intervals. As exclusive, with the same
    /// registrations; workers of both kinds can be in one group.
    KeepServing,
}

impl Rebalance {
    /// What a worker may serve while these two pairs are in force.
    pub(crate) fn share(self, pair: Pair, previous: Pair) -> Option<Share> {
        match self {
            Self::StandDown => (pair == previous).then_some(Share::of(pair)),
            Self::KeepServing => Share::common(pair, previous),
        }
    }

    /// The mode in lower-case words joined by `-`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StandDown => "stand-down",
            Self::KeepServing => "keep-serving",
        }
    }
}

impl fmt::Display for Rebalance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

const fn greatest_common_divisor(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The bucket of `hash` among `buckets`, at least one.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "as the paper has it: all values are positive, and exact up to 2^53"
)]
const fn jump(hash: u64, buckets: u32) -> u32 {
    let (mut state, mut bucket, mut next) = (hash, 0, 0);
    while next < buckets as u64 {
        bucket = next;
        state = state.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
        let divisor = ((state >> 33) + 1) as f64;
        next = ((bucket + 1) as f64 * ((1_u64 << 31) as f64 / divisor)) as u64;
    }
    bucket as u32
}
