//! A worker's own clock in true time.

use n_and_i_core::Instant;

const MILLION: i64 = 1_000_000;

/// A clock that started at some reading and runs a little fast or slow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkerClock {
    /// The true time at which it read `origin`.
    start: u64,
    origin: u64,
    /// How much it runs fast, in millionths.
    fast: i64,
}

impl WorkerClock {
    pub(crate) fn new(start: u64, origin: u64, fast: i64) -> Self {
        Self { start, origin, fast }
    }

    /// What it reads at a true time.
    pub(crate) fn at(&self, now: u64) -> Instant {
        Instant::from_nanos(self.origin + scale(now.saturating_sub(self.start), self.fast))
    }

    /// The first true time at which it reads this or later.
    pub(crate) fn when(&self, reading: Instant) -> u64 {
        let elapsed = reading.as_nanos().saturating_sub(self.origin);
        // An estimate from below, then up to the first that is right: at most a step or two.
        let mut now = self.start + unscale(elapsed, self.fast);
        while self.at(now) < reading {
            now += 1;
        }
        now
    }
}

/// `span · (1 + fast / 10^6)`, rounded down.
fn scale(span: u64, fast: i64) -> u64 {
    if fast == 0 {
        return span;
    }
    let factor = u128::from((MILLION + fast).unsigned_abs());
    u64::try_from(u128::from(span) * factor / u128::from(MILLION.unsigned_abs()))
        .unwrap_or(u64::MAX)
}

/// The inverse of [`scale`], rounded down.
fn unscale(span: u64, fast: i64) -> u64 {
    if fast == 0 {
        return span;
    }
    let factor = u128::from((MILLION + fast).unsigned_abs());
    u64::try_from(u128::from(span) * u128::from(MILLION.unsigned_abs()) / factor)
        .unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_is_reached_at_the_first_moment_that_shows_it() {
        for fast in [-10_000, -1, 0, 1, 10_000] {
            let clock = WorkerClock::new(1_000, 77, fast);
            for reading in [77, 78, 1_000_000, 999_999_999_999] {
                let reading = Instant::from_nanos(reading);
                let when = clock.when(reading);
                assert!(clock.at(when) >= reading);
                assert!(when == 1_000 || clock.at(when - 1) < reading);
            }
        }
    }
}
