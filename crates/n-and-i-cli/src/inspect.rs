//! Looking at a group and at the Redis that keeps it, without taking part.

mod counts;
mod guard;
mod preflight;
mod report;
mod server;
mod source;
mod view;

use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use n_and_i::{Config, Layout};
use redis::Client;

use crate::inspect::counts::{Counts, State, state};
use crate::inspect::guard::Guard;
use crate::inspect::preflight::findings;
use crate::inspect::report::Report;
use crate::inspect::source::{Reading, Source, Unanswered};
use crate::inspect::view::View;
use crate::signals::Signals;

/// What to look at, and for how long.
#[derive(Debug)]
pub(crate) struct Inspection {
    /// Names the keys; its interval and layout mean nothing.
    pub(crate) config: Config,
    pub(crate) client: Client,
    /// The layout that the group has to have; none for any.
    pub(crate) layout: Option<Layout>,
    pub(crate) length: Length,
    pub(crate) json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Length {
    /// One look, or two if the first does not tell much.
    Once,
    /// Until so many intervals have closed.
    Intervals(u32),
    Endless,
}

/// How long there is between two looks, at an interval of eight times that.
const PAUSE: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(50)..=Duration::from_millis(500);

/// Looks, and tells. The exit code says whether anything is wrong.
pub(crate) async fn run(inspection: Inspection) -> io::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let mut view = View::open(&inspection)?;
    let mut watcher = Watcher::new(inspection);
    let mut first = None;
    loop {
        let report = tokio::select! {
            report = watcher.look() => report,
            () = signals.wait() => break,
        };
        view.show(&report)?;
        first = first.or(report.interval());
        if watcher.is_over(first, &report) {
            view.conclude(&report)?;
            return Ok(if report.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        tokio::select! {
            () = tokio::time::sleep(watcher.pause()) => {}
            () = signals.wait() => break,
        }
    }
    view.close()?;
    Ok(ExitCode::SUCCESS)
}

struct Watcher {
    inspection: Inspection,
    source: Source,
    counts: Counts,
    start: Instant,
    /// Of the group, as last seen.
    interval: Option<Duration>,
}

impl Watcher {
    fn new(inspection: Inspection) -> Self {
        let source = Source::new(inspection.client.clone(), inspection.config.clone());
        Self {
            inspection,
            source,
            counts: Counts::default(),
            start: Instant::now(),
            interval: None,
        }
    }

    async fn look(&mut self) -> Report {
        let answer = self.source.read(self.inspection.layout).await;
        let elapsed = self.start.elapsed();
        match answer {
            Ok(reading) => self.report(elapsed, reading),
            Err(error) => self.failed(elapsed, &error),
        }
    }

    fn report(&mut self, elapsed: Duration, reading: Reading) -> Report {
        let (mut closed, mut is) = (Vec::new(), State::Absent);
        if let (Guard::Group(_, line), Some(open)) = (reading.guard, reading.open) {
            self.interval = Some(Duration::from_millis(line.length));
            self.counts.note(line.length, &reading.closed);
            closed = self.counts.before(open.interval);
            is = state(&closed, &open);
        }
        let findings = findings(&reading, is, self.inspection.layout);
        Report::new(elapsed, &self.inspection.config, reading, closed, is, findings)
    }

    fn failed(&self, elapsed: Duration, error: &Unanswered) -> Report {
        Report::failed(elapsed, &self.inspection.config, error.to_string())
    }

    /// Whether that was the last look.
    fn is_over(&self, first: Option<u64>, report: &Report) -> bool {
        let has_closed = |count: u32| match (first, report.interval()) {
            (Some(first), Some(now)) => now >= first + u64::from(count),
            // Without an interval there is nothing to wait for.
            _ => true,
        };
        match self.inspection.length {
            // The next interval may tell more.
            Length::Once if report.is_starting() => has_closed(1),
            Length::Once => true,
            Length::Endless => false,
            Length::Intervals(count) => has_closed(count),
        }
    }

    fn pause(&self) -> Duration {
        let eighth = self.interval.map_or(*PAUSE.end(), |interval| interval / 8);
        eighth.clamp(*PAUSE.start(), *PAUSE.end())
    }
}
