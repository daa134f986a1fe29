//! Random numbers that depend on the seed alone.

use rand::{Rng, RngExt as _, SeedableRng};
use rand_distr::Exp1;
use rand_xoshiro::Xoshiro256PlusPlus;

#[derive(Clone, Debug)]
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform in `0..1`.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double")]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.unit() < probability
    }

    /// Uniform in `low..high`; `low` if there is nothing between.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "spans of simulated time are far below 2^53"
    )]
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + (self.unit() * high.saturating_sub(low) as f64) as u64
    }

    /// Exponential with this mean.
    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        let one: f64 = self.0.sample(Exp1);
        mean * one
    }

    /// One of `0..count`; `count` must not be 0.
    pub(crate) fn index(&mut self, count: usize) -> usize {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        usize::try_from(self.0.next_u64() % count).unwrap_or(0)
    }
}
