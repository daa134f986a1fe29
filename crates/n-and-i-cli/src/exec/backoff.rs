//! How long to wait before a program that ended by itself is started again.

use std::time::Duration;

/// After a run as long as this the next end counts as the first one.
const HEALTHY: Duration = Duration::from_secs(10);
const SHORTEST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(30);

/// Twice as long after each short run.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    delay: Duration,
}

impl Backoff {
    /// The time to wait after a run that took this long.
    pub(super) fn after(&mut self, run: Duration) -> Duration {
        let next = if run < HEALTHY { self.delay * 2 } else { SHORTEST };
        self.delay = next.clamp(SHORTEST, LONGEST);
        self.delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_runs_are_followed_by_longer_and_longer_waits() {
        let mut backoff = Backoff::default();
        let waits: Vec<_> = (0..10).map(|_| backoff.after(Duration::ZERO).as_millis()).collect();
        assert_eq!(waits, [200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000]);
        assert_eq!(backoff.after(HEALTHY), SHORTEST);
        assert_eq!(backoff.after(HEALTHY / 2), SHORTEST * 2);
    }
}
