//! What happened in a group over time, for a picture or an evaluation of its own.

use std::collections::BTreeMap;
use std::ops::Range;

use n_and_i_core::{Mapping, Reason, Share};

use crate::claims::Claim;
use crate::faults::Fault;
use crate::plan::Planned;

/// What happened in a group within some time: see
/// [`Scenario::with_timeline`](crate::Scenario::with_timeline).
///
/// Every time is in nanoseconds of true time since the run began, as in a [`Claim`].
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Timeline {
    /// When the timeline begins.
    pub from: u64,
    /// When it ends: at the end of the run if that came before.
    pub until: u64,
    /// What each worker did, by place, then by time. Those of one worker follow each other without
    /// a gap from its start to its end, and are cut off where the timeline begins and ends.
    pub spans: Vec<Span>,
    /// The registrations that the server counted, also if the answer was lost.
    pub registrations: Vec<Registration>,
    /// The faults as they happened. Some last longer than the moment at which they begin.
    pub incidents: Vec<Incident>,
    /// The planned changes of membership.
    pub changes: Vec<MembershipChange>,
    /// The share of the key space that had an owner, 0 to 1, under the scenario's mapping: from each
    /// time to the next it was this much. Begins at [`from`](Self::from); empty if that is the end.
    pub served: Vec<(u64, f64)>,
    /// When an interval began by the server's clock, which may step.
    pub boundaries: Vec<u64>,
}

/// What one worker did for some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Span {
    /// The worker, by its place.
    pub worker: usize,
    /// Tells the worker from those who had the place before it.
    pub life: u32,
    /// Since when, in nanoseconds.
    pub from: u64,
    /// Until when, in nanoseconds.
    pub until: u64,
    /// What it did.
    pub state: State,
}

/// What a worker owns, or why nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// It owned nothing. One whose lease ended while it stood still has
    /// [expired](Reason::Expired) since then, though it did not know yet.
    Idle(Reason),
    /// It owned this.
    Owns(Share),
}

/// A registration that the server counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Registration {
    /// Who registered, by its place.
    pub worker: usize,
    /// When it was counted, in nanoseconds.
    pub at: u64,
}

/// A fault that happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Incident {
    /// Its kind.
    pub fault: Fault,
    /// The worker that it struck or brought, by its place; none if it struck the server.
    pub worker: Option<usize>,
    /// When, in nanoseconds.
    pub at: u64,
}

/// A planned change of membership.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MembershipChange {
    /// Its kind.
    pub what: Planned,
    /// Who joined, was asked to stop or crashed, by its place; none if nobody could be.
    pub worker: Option<usize>,
    /// When, in nanoseconds.
    pub at: u64,
}

/// Writes down what happens within a window of time.
#[derive(Debug)]
pub(crate) struct Recorder {
    window: Range<u64>,
    /// How long an interval is.
    interval: u64,
    spans: Vec<Span>,
    registrations: Vec<Registration>,
    incidents: Vec<Incident>,
    changes: Vec<MembershipChange>,
    /// Since when the server's clock has been ahead of true time by how much, in microseconds.
    clock: Vec<(u64, i64)>,
}

impl Recorder {
    /// For these intervals, with a server whose clock is that far ahead, in microseconds.
    pub(crate) fn new(intervals: Range<u64>, interval: u64, ahead: i64) -> Self {
        let at = |count: u64| count.saturating_mul(interval);
        Self {
            window: at(intervals.start)..at(intervals.end),
            interval,
            spans: Vec::new(),
            registrations: Vec::new(),
            incidents: Vec::new(),
            changes: Vec::new(),
            clock: vec![(0, ahead)],
        }
    }

    /// A lease is over, of which the worker learns `now`.
    pub(crate) fn owned(&mut self, claim: &Claim, now: u64) {
        let Claim { worker, life, from, until, .. } = *claim;
        self.span(Span { worker, life, from, until, state: State::Owns(claim.share) });
        let state = State::Idle(Reason::Expired);
        self.span(Span { worker, life, from: until, until: now, state });
    }

    /// A worker owned nothing until now.
    pub(crate) fn idled(&mut self, (worker, life): (usize, u32), why: Reason, time: Range<u64>) {
        let state = State::Idle(why);
        self.span(Span { worker, life, from: time.start, until: time.end, state });
    }

    fn span(&mut self, mut span: Span) {
        span.from = span.from.max(self.window.start);
        span.until = span.until.min(self.window.end);
        if span.from < span.until {
            self.spans.push(span);
        }
    }

    pub(crate) fn registered(&mut self, worker: usize, at: u64) {
        if self.window.contains(&at) {
            self.registrations.push(Registration { worker, at });
        }
    }

    pub(crate) fn happened(&mut self, fault: Fault, worker: Option<usize>, at: u64) {
        if self.window.contains(&at) {
            self.incidents.push(Incident { fault, worker, at });
        }
    }

    pub(crate) fn changed(&mut self, what: Planned, worker: Option<usize>, at: u64) {
        if self.window.contains(&at) {
            self.changes.push(MembershipChange { what, worker, at });
        }
    }

    /// The server's clock is now that far ahead, in microseconds.
    pub(crate) fn stepped(&mut self, at: u64, ahead: i64) {
        self.clock.push((at, ahead));
    }

    /// What was written down in a run that ended then.
    pub(crate) fn finish(mut self, end: u64, mapping: Mapping) -> Timeline {
        self.spans.sort_by_key(|span| (span.worker, span.from));
        let until = self.window.end.min(end);
        let from = self.window.start.min(until);
        Timeline {
            served: served(&self.spans, from..until, mapping),
            boundaries: self.boundaries(from..until),
            from,
            until,
            spans: self.spans,
            registrations: self.registrations,
            incidents: self.incidents,
            changes: self.changes,
        }
    }

    fn boundaries(&self, window: Range<u64>) -> Vec<u64> {
        let interval = self.interval;
        let ends = self.clock.iter().skip(1).map(|(at, _)| *at).chain([window.end]);
        let mut boundaries = Vec::new();
        for (&(since, ahead), end) in self.clock.iter().zip(ends) {
            let from = since.max(window.start);
            let phase = (i128::from(ahead) * 1_000 + i128::from(from)) % i128::from(interval);
            let phase = u64::try_from(phase).unwrap_or(0);
            let mut time = if phase == 0 { from } else { from + interval - phase };
            while time < end.min(window.end) {
                boundaries.push(time);
                time += interval;
            }
        }
        boundaries
    }
}

/// How much of the key space had an owner, from each moment at which that changes.
fn served(spans: &[Span], window: Range<u64>, mapping: Mapping) -> Vec<(u64, f64)> {
    // What begins and ends, by time. Added up anew at each, so that nothing is lost by rounding.
    let mut moments: BTreeMap<u64, Vec<(usize, Option<f64>)>> = BTreeMap::new();
    if !window.is_empty() {
        moments.insert(window.start, Vec::new());
    }
    for span in spans {
        let State::Owns(share) = span.state else { continue };
        // Spans of one worker are in order: where one ends and the next begins, that comes last.
        let share = share.fraction(mapping);
        moments.entry(span.from).or_default().push((span.worker, Some(share)));
        moments.entry(span.until).or_default().push((span.worker, None));
    }
    moments.remove(&window.end);
    let mut owned = BTreeMap::new();
    let mut served: Vec<(u64, f64)> = Vec::new();
    for (time, changes) in moments {
        for (worker, share) in changes {
            match share {
                Some(share) => owned.insert(worker, share),
                None => owned.remove(&worker),
            };
        }
        let sum = owned.values().sum::<f64>().clamp(0.0, 1.0);
        if served.last().is_none_or(|(_, last)| (last - sum).abs() > 1e-12) {
            served.push((time, sum));
        }
    }
    served
}
