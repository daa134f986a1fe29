//! A group in one process: a worker joins, another crashes, and everything can be watched.

mod audience;
mod group;
mod history;
mod ledger;
mod lines;
mod live;
mod narration;
mod paint;
mod picture;
mod screen;
mod summary;
mod text;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use n_and_i::{Lease, MemoryRegistry, Registry};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use crate::arguments::Demo;
use crate::demo::audience::{Audience, Scene};
use crate::demo::group::{Group, Report};
use crate::demo::history::History;
use crate::demo::ledger::{Ledger, News};
use crate::demo::lines::{Json, Plain};
use crate::demo::live::Live;
use crate::demo::narration::Turn;
use crate::demo::summary::Summary;
use crate::logging::LogSink;
use crate::signals::Signals;

/// How often the group is looked at if nothing happens.
const TICK: Duration = Duration::from_millis(50);

/// Runs the demo. The exit code tells whether a task ever had two owners.
pub(crate) async fn run(demo: Demo, log: &LogSink) -> io::Result<ExitCode> {
    match demo.redis.clone() {
        Some(redis) => Play::new(redis, demo, log)?.run().await,
        None => Play::new(MemoryRegistry::new(), demo, log)?.run().await,
    }
}

struct Play<R> {
    demo: Demo,
    group: Group<R>,
    ledger: Ledger<Lease>,
    history: History,
    turn: Turn,
    start: Instant,
    signals: Signals,
    audience: Box<dyn Audience>,
}

impl<R: Registry + Clone> Play<R> {
    fn new(registry: R, demo: Demo, log: &LogSink) -> io::Result<Self> {
        let audience: Box<dyn Audience> = if demo.json {
            Box::new(Json)
        } else if screen::is_usable() {
            Box::new(Live::open(log)?)
        } else {
            Box::new(Plain)
        };
        Ok(Self {
            group: Group::new(registry, demo.config.clone()),
            ledger: Ledger::new(demo.config.interval()),
            history: History::new(demo.length),
            turn: Turn::Start,
            start: Instant::now(),
            signals: Signals::listen()?,
            audience,
            demo,
        })
    }

    async fn run(mut self) -> io::Result<ExitCode> {
        for _ in 0..self.demo.workers {
            self.ledger.enter();
            self.group.join();
        }
        self.audience.begin(&self.demo)?;
        let length = self.demo.length;
        let ended = self.until(length / 3).await?;
        if !ended {
            self.join()?;
        }
        let ended = ended || self.until(length / 3 * 2).await?;
        if !ended {
            self.crash().await?;
        }
        if !ended {
            self.until(length).await?;
        }
        self.end().await
    }

    /// Watches the group until this time since the start. True if a signal ended it earlier.
    async fn until(&mut self, time: Duration) -> io::Result<bool> {
        let time = self.start + time;
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = self.signals.wait() => return Ok(true),
                () = sleep_until(time) => return Ok(false),
                report = self.group.next() => self.hear(report),
                _ = ticks.tick() => {}
            }
            self.look()?;
        }
    }

    fn join(&mut self) -> io::Result<()> {
        self.look()?;
        let worker = self.ledger.join(self.start.elapsed());
        self.turn = Turn::Join(worker);
        self.group.join();
        self.look()
    }

    async fn crash(&mut self) -> io::Result<()> {
        self.look()?;
        // The second worker: in a group that began with one it is the one that joined.
        let worker = 1;
        self.group.crash(worker).await;
        self.turn = Turn::Crash(worker);
        self.ledger.crash(worker, self.start.elapsed());
        self.look()
    }

    /// Takes in what a worker was handed, and whatever else is there by now.
    fn hear(&mut self, report: Report) {
        let mut next = Some(report);
        while let Some(Report { worker, change }) = next {
            let stage = change.stage();
            let holds = change.owned().cloned();
            self.ledger.hear(worker, News { holds, stage }, self.start.elapsed());
            next = self.group.try_next();
        }
    }

    /// Checks the group, and shows what happened and how things are.
    fn look(&mut self) -> io::Result<()> {
        let elapsed = self.start.elapsed();
        let events = self.ledger.settle(elapsed);
        self.ledger.check();
        self.history.record(elapsed, self.ledger.share());
        for event in events {
            self.audience.event(&event, self.ledger.name(event.worker))?;
        }
        self.audience.look(&Scene {
            demo: &self.demo,
            elapsed,
            ledger: &self.ledger,
            history: &self.history,
            turn: self.turn,
        })
    }

    async fn end(mut self) -> io::Result<ExitCode> {
        let summary = Summary {
            elapsed: self.start.elapsed(),
            interval: self.demo.config.interval(),
            changes: self.ledger.changes(),
            share_mean: self.history.mean(),
            first_ownership: self.history.first_ownership(),
            conflicts: self.ledger.conflicts(),
        };
        self.audience.close()?;
        let mut last_words = self.group.stop();
        while let Some(report) = last_words.recv().await {
            let Report { worker, change } = report;
            let stage = change.stage();
            if let Some(reason) = change.reason() {
                let news = News { holds: Err(reason), stage };
                self.ledger.hear(worker, news, self.start.elapsed());
            }
        }
        for event in self.ledger.settle(self.start.elapsed()) {
            self.audience.event(&event, self.ledger.name(event.worker))?;
        }
        self.audience.summarize(&summary, self.start.elapsed())?;
        Ok(if summary.conflicts == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
