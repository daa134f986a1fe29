//! Groups in one process: a worker joins, another crashes, and everything can be watched.

mod audience;
mod group;
mod history;
mod keys;
mod ledger;
mod lines;
mod live;
mod narration;
mod picture;
mod side;
mod summary;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use n_and_i::{MemoryRegistry, Registry};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use crate::arguments::Demo;
use crate::demo::audience::{Audience, Scene, Told};
use crate::demo::group::{Group, Report};
use crate::demo::lines::{Json, Plain};
use crate::demo::live::Live;
use crate::demo::narration::Turn;
use crate::demo::side::Side;
use crate::logging::LogSink;
use crate::signals::Signals;
use crate::terminal::screen;

/// How often the groups are looked at if nothing happens.
const TICK: Duration = Duration::from_millis(50);
/// Timers are not exact enough for less.
const SHORTEST_PAUSE: Duration = Duration::from_millis(2);

/// Runs the demo. The exit code tells whether a key ever had two owners.
pub(crate) async fn run(demo: Demo, log: &LogSink) -> io::Result<ExitCode> {
    match demo.redis.clone() {
        Some(redis) => Play::new(&redis, demo, log)?.run().await,
        None => Play::new(&MemoryRegistry::new(), demo, log)?.run().await,
    }
}

/// The groups with the same number in both lists are one.
struct Play<R> {
    demo: Demo,
    groups: Vec<Group<R>>,
    sides: Vec<Side>,
    reports: UnboundedReceiver<Report>,
    turn: Turn,
    start: Instant,
    signals: Signals,
    audience: Box<dyn Audience>,
}

impl<R: Registry + Clone> Play<R> {
    fn new(registry: &R, demo: Demo, log: &LogSink) -> io::Result<Self> {
        let audience: Box<dyn Audience> = if demo.json {
            Box::new(Json)
        } else if screen::is_usable() {
            Box::new(Live::open(log, &demo)?)
        } else {
            Box::new(Plain)
        };
        let (sender, reports) = unbounded_channel();
        let numbered = demo.groups.iter().cloned().enumerate();
        let group = |(number, config)| Group::new(number, registry.clone(), config, sender.clone());
        let side = |config| Side::new(config, demo.workers, demo.length);
        Ok(Self {
            groups: numbered.map(group).collect(),
            sides: demo.groups.iter().cloned().map(side).collect(),
            reports,
            turn: Turn::Start,
            start: Instant::now(),
            signals: Signals::listen()?,
            audience,
            demo,
        })
    }

    async fn run(mut self) -> io::Result<ExitCode> {
        self.audience.begin(&self.demo)?;
        self.play().await?;
        self.end().await
    }

    /// What happens to the groups: to all the same at the same time, so that they can be
    /// compared. Returns early if a signal comes.
    async fn play(&mut self) -> io::Result<()> {
        let Demo { workers, length, interval, .. } = self.demo;
        // One shortly after another, so that they register in this order in every group.
        let pause = Some(interval / 10 / u32::try_from(workers).unwrap_or(u32::MAX));
        let pause = pause.filter(|pause| *pause >= SHORTEST_PAUSE).unwrap_or_default();
        for _ in 0..workers {
            self.groups.iter_mut().for_each(Group::join);
            if !pause.is_zero() && self.until(self.start.elapsed() + pause).await? {
                return Ok(());
            }
        }
        if self.until(length / 3).await? || self.until(self.middle(length / 3)).await? {
            return Ok(());
        }
        self.join()?;
        let second = length / 3 * 2;
        if self.until(second).await? || self.until(self.middle(second)).await? {
            return Ok(());
        }
        self.crash().await?;
        self.until(length).await?;
        Ok(())
    }

    /// When, next after this time, half of the workers have registered in an interval. A worker
    /// that comes then takes a place in the middle. Not after the next turn.
    fn middle(&self, after: Duration) -> Duration {
        let middle = self.sides[0].next_middle(self.demo.workers, after);
        middle.min(after + self.demo.length / 3)
    }

    /// Watches the groups until this time since the start. True if a signal ended it earlier.
    async fn until(&mut self, time: Duration) -> io::Result<bool> {
        let time = self.start + time;
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = self.signals.wait() => return Ok(true),
                () = sleep_until(time) => return Ok(false),
                Some(report) = self.reports.recv() => self.hear(&report),
                _ = ticks.tick() => {}
            }
            self.look()?;
        }
    }

    fn join(&mut self) -> io::Result<()> {
        self.look()?;
        self.turn = Turn::Join(self.demo.workers);
        self.groups.iter_mut().for_each(Group::join);
        for side in &mut self.sides {
            side.ledger.join(self.start.elapsed());
            side.history.turn();
        }
        self.look()
    }

    async fn crash(&mut self) -> io::Result<()> {
        self.look()?;
        // One in the middle: those before it keep their place, those after it move up. In a
        // group that began with one it is the one that joined.
        let worker = (self.demo.workers / 2).max(1);
        self.turn = Turn::Crash(worker);
        for group in &mut self.groups {
            group.crash(worker).await;
        }
        for side in &mut self.sides {
            side.ledger.crash(worker, self.start.elapsed());
            side.history.turn();
        }
        self.look()
    }

    /// Takes in what a worker was handed, and whatever else is there by now.
    fn hear(&mut self, report: &Report) {
        let Report { group, worker, change } = report;
        self.sides[*group].hear(*worker, change, self.start.elapsed());
        while let Ok(Report { group, worker, change }) = self.reports.try_recv() {
            self.sides[group].hear(worker, &change, self.start.elapsed());
        }
    }

    /// Checks the groups, and shows what happened and how things are.
    fn look(&mut self) -> io::Result<()> {
        let elapsed = self.start.elapsed();
        self.tell(elapsed, Side::look)?;
        self.audience.look(&Scene {
            demo: &self.demo,
            elapsed,
            sides: &self.sides,
            turn: self.turn,
        })
    }

    /// Tells what there is to tell of each group.
    fn tell<E>(&mut self, elapsed: Duration, events: E) -> io::Result<()>
    where
        E: Fn(&mut Side, Duration) -> Vec<ledger::Event>,
    {
        for (number, side) in self.sides.iter_mut().enumerate() {
            let rebalance = side.rebalance();
            for event in events(side, elapsed) {
                let worker = side.ledger.name(event.worker);
                self.audience.tell(&Told { side: number, rebalance, worker, event })?;
            }
        }
        Ok(())
    }

    async fn end(mut self) -> io::Result<ExitCode> {
        let elapsed = self.start.elapsed();
        let summaries: Vec<_> = self.sides.iter().map(|side| side.summary(elapsed)).collect();
        self.audience.close()?;
        self.groups.drain(..).for_each(Group::stop);
        while let Some(Report { group, worker, change }) = self.reports.recv().await {
            // What was handed out before is not told any more.
            if change.lease().is_none() {
                self.sides[group].hear(worker, &change, self.start.elapsed());
            }
        }
        self.tell(self.start.elapsed(), |side, elapsed| side.ledger.settle(elapsed))?;
        self.audience.summarize(&summaries, self.start.elapsed())?;
        let conflicts: u64 = summaries.iter().map(|summary| summary.conflicts).sum();
        Ok(if conflicts == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
