//! How much of the key space had an owner, over time.

use std::collections::VecDeque;
use std::time::Duration;

/// In how many parts of the demo's length the share is kept.
const PARTS: usize = 480;
/// Fractions of the key space that add up to all of it do so but for rounding.
const WHOLE: f64 = 1.0 - 1e-6;

/// The share served over time.
#[derive(Debug)]
pub(crate) struct History {
    length: Duration,
    interval: Duration,
    parts: Vec<Mean>,
    last: Duration,
    /// The share since then.
    share: f64,
    first_ownership: Option<Duration>,
    since_first: Mean,
    worst: Worst,
    /// What was not served from each turn to the next, in seconds.
    losses: Vec<f64>,
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
    pub(crate) fn new(length: Duration, interval: Duration) -> Self {
        Self {
            length,
            interval,
            parts: vec![Mean::default(); PARTS],
            last: Duration::ZERO,
            share: 0.0,
            first_ownership: None,
            since_first: Mean::default(),
            worst: Worst::default(),
            losses: Vec::new(),
        }
    }

    /// From now on the share is this.
    pub(crate) fn record(&mut self, now: Duration, share: f64) {
        let time = now.saturating_sub(self.last);
        let before = std::mem::replace(&mut self.share, share);
        if self.first_ownership.is_some() {
            self.since_first.add(before, time);
        } else if share > 0.0 {
            self.first_ownership = Some(now);
        }
        self.worst.add(before, time, self.interval);
        if share >= WHOLE {
            self.worst.counts = true;
        }
        if let Some(loss) = self.losses.last_mut() {
            *loss += (1.0 - before) * time.as_secs_f64();
        }
        let (first, last) = (self.part(self.last), self.part(now));
        // A part of the length may be shorter than the time between two records.
        for part in &mut self.parts[first..=last] {
            part.add(before, time / u32::try_from(last - first + 1).unwrap_or(1));
        }
        self.last = now;
    }

    /// What is not served from here on is lost by something new.
    pub(crate) fn turn(&mut self) {
        self.losses.push(0.0);
    }

    fn part(&self, time: Duration) -> usize {
        scaled(time, self.length, PARTS).min(PARTS - 1)
    }

    /// The share now.
    pub(crate) fn share(&self) -> f64 {
        self.share
    }

    /// When anything was owned first.
    pub(crate) fn first_ownership(&self) -> Option<Duration> {
        self.first_ownership
    }

    /// The mean since then.
    pub(crate) fn mean(&self) -> Option<f64> {
        self.since_first.get()
    }

    /// The least mean over one interval, any, since everything was owned first.
    pub(crate) fn least(&self) -> Option<f64> {
        self.worst.least
    }

    /// What was lost from each turn to the next, or until now, in intervals of the whole group.
    pub(crate) fn losses(&self) -> Vec<f64> {
        self.losses.iter().map(|loss| loss / self.interval.as_secs_f64()).collect()
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

/// The least mean over the length of one interval.
#[derive(Debug, Default)]
struct Worst {
    /// Whether what is added counts.
    counts: bool,
    /// What the last interval was made up of.
    recent: VecDeque<Mean>,
    sum: Mean,
    least: Option<f64>,
}

impl Worst {
    fn add(&mut self, share: f64, time: Duration, interval: Duration) {
        if !self.counts {
            return;
        }
        let mut added = Mean::default();
        added.add(share, time);
        self.recent.push_back(added);
        self.sum.add(share, time);
        let mut excess = self.sum.covered - interval.as_secs_f64();
        if excess < 0.0 {
            return;
        }
        while let Some(first) = self.recent.front_mut() {
            let part = (excess / first.covered).min(1.0);
            let left_out = Mean { served: first.served * part, covered: first.covered.min(excess) };
            if left_out.covered > 0.0 {
                first.served -= left_out.served;
                first.covered -= left_out.covered;
                self.sum.served -= left_out.served;
                self.sum.covered -= left_out.covered;
                excess -= left_out.covered;
            }
            if first.covered > 0.0 {
                break;
            }
            self.recent.pop_front();
        }
        let mean = (self.sum.served / interval.as_secs_f64()).clamp(0.0, 1.0);
        self.least = Some(self.least.map_or(mean, |least| least.min(mean)));
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

    fn history() -> History {
        History::new(SECOND * 10, SECOND * 2)
    }

    fn close(left: Option<f64>, right: f64) -> bool {
        left.is_some_and(|left| (left - right).abs() < 1e-9)
    }

    #[test]
    fn the_mean_counts_from_the_first_ownership() {
        let mut history = history();
        history.record(SECOND * 2, 0.0);
        assert_eq!((history.mean(), history.first_ownership()), (None, None));
        history.record(SECOND * 3, 0.5);
        history.record(SECOND * 4, 1.0);
        history.record(SECOND * 7, 0.0);
        assert_eq!(history.first_ownership(), Some(SECOND * 3));
        assert!(close(history.mean(), 0.875));
    }

    #[test]
    fn the_least_is_that_of_any_one_interval_since_everything_was_owned() {
        let mut history = history();
        history.record(SECOND, 0.5);
        history.record(SECOND * 2, 1.0);
        history.record(SECOND * 3, 0.25);
        assert_eq!(history.least(), None);
        history.record(SECOND * 7 / 2, 1.0);
        assert_eq!(history.least(), None, "no interval is over");
        history.record(SECOND * 5, 1.0);
        assert!(close(history.least(), 0.8125));
        history.record(SECOND * 9, 0.0);
        history.record(SECOND * 10, 1.0);
        assert!(close(history.least(), 0.5));
        history.record(SECOND * 20, 0.0);
        history.record(SECOND * 40, 0.0);
        assert!(close(history.least(), 0.0));
    }

    #[test]
    fn losses_are_counted_in_intervals_from_turn_to_turn() {
        let mut history = history();
        history.record(SECOND * 2, 1.0);
        assert!(history.losses().is_empty());
        history.record(SECOND * 3, 1.0);
        history.turn();
        history.record(SECOND * 4, 0.25);
        history.record(SECOND * 6, 1.0);
        assert!(close(history.losses().first().copied(), 0.75));
        history.turn();
        history.record(SECOND * 7, 0.0);
        history.record(SECOND * 8, 0.0);
        let losses = history.losses();
        assert!(close(losses.first().copied(), 0.75) && close(losses.last().copied(), 0.5));
        assert_eq!(losses.len(), 2);
    }

    #[test]
    fn columns_fill_from_the_left() {
        let mut history = history();
        for second in 1..=5 {
            history.record(SECOND * second, if second > 1 { 1.0 } else { 0.0 });
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
