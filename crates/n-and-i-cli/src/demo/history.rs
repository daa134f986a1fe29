//! How much of the task space had an owner, over time.

use std::time::Duration;

/// In how many parts of the demo's length the share is kept.
const PARTS: usize = 480;

/// The share served over time.
#[derive(Debug)]
pub(crate) struct History {
    length: Duration,
    parts: Vec<Mean>,
    last: Duration,
    first_ownership: Option<Duration>,
    since_first: Mean,
}

/// A mean over time, in seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    served: f64,
    covered: f64,
}

impl Mean {
    fn add(&mut self, share: f64, time: Duration) {
        self.served += share * time.as_secs_f64();
        self.covered += time.as_secs_f64();
    }

    fn get(self) -> Option<f64> {
        (self.covered > 0.0).then(|| self.served / self.covered)
    }
}

impl History {
    pub(crate) fn new(length: Duration) -> Self {
        Self {
            length,
            parts: vec![Mean::default(); PARTS],
            last: Duration::ZERO,
            first_ownership: None,
            since_first: Mean::default(),
        }
    }

    /// From the last record to `now` the share was this.
    pub(crate) fn record(&mut self, now: Duration, share: f64) {
        let time = now.saturating_sub(self.last);
        if self.first_ownership.is_some() {
            self.since_first.add(share, time);
        } else if share > 0.0 {
            self.first_ownership = Some(now);
        }
        let (first, last) = (self.part(self.last), self.part(now));
        // A part of the length may be shorter than the time between two records.
        for part in &mut self.parts[first..=last] {
            part.add(share, time / u32::try_from(last - first + 1).unwrap_or(1));
        }
        self.last = now;
    }

    fn part(&self, time: Duration) -> usize {
        scaled(time, self.length, PARTS).min(PARTS - 1)
    }

    /// When anything was owned first.
    pub(crate) fn first_ownership(&self) -> Option<Duration> {
        self.first_ownership
    }

    /// The mean since then.
    pub(crate) fn mean(&self) -> Option<f64> {
        self.since_first.get()
    }

    /// The mean in each of `count` equal parts of the length; none in those to come.
    pub(crate) fn columns(&self, count: usize) -> Vec<Option<f64>> {
        let column = |number: usize| {
            let first = number * PARTS / count;
            let end = ((number + 1) * PARTS / count).max(first + 1);
            let mut mean = Mean::default();
            for part in &self.parts[first..end] {
                mean.served += part.served;
                mean.covered += part.covered;
            }
            mean.get()
        };
        (0..count).map(column).collect()
    }
}

/// Where `time` lies on a scale of `steps` for `length`: 0 at the start, `steps` at the end.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a quotient of lengths of time times a few hundred steps"
)]
pub(crate) fn scaled(time: Duration, length: Duration, steps: usize) -> usize {
    (time.div_duration_f64(length) * steps as f64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_mean_counts_from_the_first_ownership() {
        let mut history = History::new(SECOND * 10);
        history.record(SECOND * 2, 0.0);
        assert_eq!((history.mean(), history.first_ownership()), (None, None));
        history.record(SECOND * 3, 0.5);
        history.record(SECOND * 4, 0.5);
        history.record(SECOND * 7, 1.0);
        assert_eq!(history.first_ownership(), Some(SECOND * 3));
        assert!((history.mean().unwrap() - 0.875).abs() < 1e-9);
    }

    #[test]
    fn columns_fill_from_the_left() {
        let mut history = History::new(SECOND * 10);
        for second in 1..=5 {
            history.record(SECOND * second, if second > 2 { 1.0 } else { 0.0 });
        }
        let columns = history.columns(10);
        assert_eq!(columns[0], Some(0.0));
        assert!(columns[4].unwrap() > 0.9);
        assert_eq!(columns[6..], [None; 4]);
        assert_eq!(history.columns(1000).len(), 1000);
        history.record(SECOND * 100, 1.0);
        assert!(history.columns(3).iter().all(Option::is_some));
    }
}
