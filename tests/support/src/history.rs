//! Who owned what when, and whether that kept the promise.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use n_and_i::{BootClock, Change, Clock, DrainWindow, Instant, Lease, Mapping, Pair, Share};

/// All leases of a group on one clock, as the consumers saw them.
#[derive(Debug, Default)]
pub struct History {
    spans: Mutex<Vec<Span>>,
}

/// One worker's holding of one share.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The worker.
    pub worker: usize,
    /// What it held.
    pub share: Share,
    /// The fencing token.
    pub token: u64,
    /// When the consumer was handed it.
    pub from: Instant,
    /// When it ended; the latest time it is known to last while it is held.
    pub until: Instant,
    /// Until when it was told that it may finish its work.
    pub drain_until: Option<Instant>,
    held: bool,
}

impl History {
    /// The worker was handed a lease just now. Returns the span's number.
    pub fn begin(&self, worker: usize, lease: &Lease) -> usize {
        let from = BootClock.now();
        let span = Span {
            worker,
            share: lease.share(),
            token: lease.token(),
            from,
            until: from,
            drain_until: None,
            held: true,
        };
        let mut spans = self.lock();
        spans.push(span);
        spans.len() - 1
    }

    /// The span's lease ends at this time as things stand.
    pub fn extend(&self, number: usize, ends: Instant) {
        let span = &mut self.lock()[number];
        span.until = span.until.max(ends);
    }

    /// The worker was handed another change just now.
    pub fn end(&self, number: usize, drain_until: Option<Instant>) {
        let now = BootClock.now();
        let span = &mut self.lock()[number];
        span.until = span.until.min(now);
        span.drain_until = drain_until;
        span.held = false;
    }

    /// All spans so far, by the time they began.
    pub fn spans(&self) -> Vec<Span> {
        self.lock().clone()
    }

    /// Checks every two spans of different workers whose shares can have a task in common: they do
    /// not overlap, nor does the later begin within the other's drain window, and the later has
    /// the greater token.
    ///
    /// # Panics
    /// If that does not hold, with both spans.
    pub fn check(&self) {
        let spans = self.spans();
        for (position, a) in spans.iter().enumerate() {
            for b in &spans[position + 1..] {
                let (first, second) = if a.from <= b.from { (a, b) } else { (b, a) };
                let in_common = |mapping: &Mapping| first.share.intersects(second.share, *mapping);
                if first.worker == second.worker || !Mapping::ALL.iter().any(in_common) {
                    continue;
                }
                assert!(first.until <= second.from, "two owners: {first} and {second}");
                let drained = first.drain_until.is_none_or(|drained| drained <= second.from);
                assert!(drained, "owned within the drain window: {first} and {second}");
                assert!(first.token < second.token, "tokens do not rise: {first} and {second}");
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Span>> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Until when what was lost with the change may be finished.
pub(crate) fn drain_deadline(change: &Change) -> Option<Instant> {
    change.drain_window().map(DrainWindow::deadline)
}

/// The pairs of these workers, in their order, if together they own everything: each one index.
pub(crate) fn everything(leases: impl Iterator<Item = Option<Lease>>) -> Option<Vec<Pair>> {
    let settled = |lease: Option<Lease>| Some(lease?.share()).filter(|share| share.is_settled());
    let pairs: Vec<Pair> =
        leases.map(|lease| settled(lease).map(Share::pair)).collect::<Option<_>>()?;
    let mut indices: Vec<u32> = pairs.iter().map(|pair| pair.i()).collect();
    indices.sort_unstable();
    let whole = indices.iter().zip(0..).all(|(&i, expected)| i == expected);
    let agreed = pairs.iter().all(|pair| pair.n() as usize == pairs.len());
    (whole && agreed).then_some(pairs)
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = |at: Instant| at.as_nanos() / 1_000_000;
        write!(
            f,
            "worker {} with {} and token {} from {} ms to {} ms{}",
            self.worker,
            self.share,
            self.token,
            milliseconds(self.from),
            milliseconds(self.until),
            if self.held { " (held)" } else { "" },
        )?;
        match self.drain_until {
            Some(drain_until) => write!(f, ", drained by {} ms", milliseconds(drain_until)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(spans: &[(usize, u64, u64, u64, Option<u64>)]) -> History {
        let share = Share::of(Pair::new(0, 1).unwrap());
        let at = Instant::from_nanos;
        let span = |&(worker, token, from, until, drained): &(usize, u64, u64, u64, _)| Span {
            worker,
            share,
            token,
            from: at(from),
            until: at(until),
            drain_until: Option::map(drained, at),
            held: false,
        };
        History { spans: Mutex::new(spans.iter().map(span).collect()) }
    }

    #[test]
    fn a_kept_promise_passes() {
        history(&[(0, 1, 0, 10, Some(15)), (1, 2, 15, 20, None), (0, 3, 20, 30, None)]).check();
        history(&[(0, 1, 0, 10, None), (0, 1, 5, 20, None)]).check();
    }

    #[test]
    #[should_panic(expected = "two owners")]
    fn an_overlap_is_found_in_any_order() {
        history(&[(1, 2, 9, 20, None), (0, 1, 0, 10, None)]).check();
    }

    #[test]
    #[should_panic(expected = "drain window")]
    fn a_lease_within_a_drain_window_is_found() {
        history(&[(0, 1, 0, 10, Some(16)), (1, 2, 15, 20, None)]).check();
    }

    #[test]
    #[should_panic(expected = "tokens do not rise")]
    fn an_equal_token_is_found() {
        history(&[(0, 2, 0, 10, None), (1, 2, 15, 20, None)]).check();
    }
}
