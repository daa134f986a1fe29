//! The demo as a picture that changes.

use std::io::{self, Write};
use std::time::Duration;

use n_and_i::{Lease, Reason};

use crate::arguments::Demo;
use crate::demo::audience::{Audience, Scene};
use crate::demo::ledger::{Claim, Event, Standing, What};
use crate::demo::narration::{Situation, Turn, narrate};
use crate::demo::picture::{Picture, Row, State};
use crate::demo::screen::Screen;
use crate::demo::summary::Summary;
use crate::demo::text::{Line, Style};
use crate::logging::LogSink;
use crate::throttle;

/// How often the picture is drawn at most.
const FRAME: Duration = Duration::from_millis(45);
/// How many entries the event log keeps.
const ENTRIES: usize = 100;
/// How many workers an entry names.
const NAMES: usize = 10;

/// The live view.
#[derive(Debug)]
pub(crate) struct Live {
    log: LogSink,
    screen: Option<Screen>,
    group: String,
    entries: Vec<Entry>,
    marks: Vec<(Duration, String)>,
    drawn: Option<Duration>,
    /// When an error was logged last.
    failed: Option<Duration>,
}

/// Something that happened, to several workers in a row perhaps.
#[derive(Debug)]
struct Entry {
    elapsed: Duration,
    workers: Vec<String>,
    what: Happened,
}

#[derive(PartialEq, Eq, Debug)]
enum Happened {
    Joins,
    Crashes,
    Owns { n: u32 },
    Idles(Reason),
    Logged(String),
}

impl Live {
    pub(crate) fn open(log: &LogSink) -> io::Result<Self> {
        let screen = Some(Screen::open()?);
        log.hold();
        Ok(Self {
            log: log.clone(),
            screen,
            group: String::new(),
            entries: Vec::new(),
            marks: Vec::new(),
            drawn: None,
            failed: None,
        })
    }

    fn enter(&mut self, elapsed: Duration, worker: &str, what: Happened) {
        match self.entries.last_mut() {
            Some(last) if last.what == what => last.workers.push(worker.to_owned()),
            _ => self.entries.push(Entry { elapsed, workers: vec![worker.to_owned()], what }),
        }
        if self.entries.len() > ENTRIES {
            self.entries.remove(0);
        }
    }

    /// Whether registrations fail, as far as the log knows: it is told of a repeated error
    /// now and then, and they are repeated once per interval at least.
    fn is_failing(&self, scene: &Scene<'_>) -> bool {
        let recent = (2 * scene.demo.config.interval()).max(2 * throttle::PERIOD);
        self.failed.is_some_and(|failed| scene.elapsed < failed + recent)
    }
}

impl Audience for Live {
    fn begin(&mut self, demo: &Demo) -> io::Result<()> {
        let place = if demo.redis.is_some() { "in Redis" } else { "in memory" };
        let (name, interval) = (demo.config.name(), demo.config.interval());
        self.group = format!("group {name:?} {place}, interval {interval:?}");
        Ok(())
    }

    fn event(&mut self, event: &Event, worker: &str) -> io::Result<()> {
        // The workers' last words come when the picture is closed.
        if self.screen.is_none() {
            return Ok(());
        }
        let what = match event.what {
            What::Joins => {
                self.marks.push((event.elapsed, format!("{worker} joins")));
                Happened::Joins
            }
            What::Crashes => {
                self.marks.push((event.elapsed, format!("{worker} crashes")));
                Happened::Crashes
            }
            What::Owns { pair, .. } => Happened::Owns { n: pair.n() },
            What::Idles { reason, .. } => Happened::Idles(reason),
        };
        self.enter(event.elapsed, worker, what);
        self.drawn = None;
        Ok(())
    }

    fn look(&mut self, scene: &Scene<'_>) -> io::Result<()> {
        for note in self.log.take_notes() {
            self.failed = Some(scene.elapsed);
            self.enter(scene.elapsed, "", Happened::Logged(note));
        }
        let is_due = self.drawn.is_none_or(|drawn| scene.elapsed >= drawn + FRAME);
        let failing = self.is_failing(scene);
        let Some(screen) = self.screen.as_mut().filter(|_| is_due) else { return Ok(()) };
        self.drawn = Some(scene.elapsed);
        let size = Screen::size();
        let mut picture = picture(scene, size.0, failing);
        picture.group.clone_from(&self.group);
        picture.marks.clone_from(&self.marks);
        picture.events = self.entries.iter().map(line).collect();
        screen.show(&picture.draw(size.0, size.1), size)
    }

    fn close(&mut self) -> io::Result<()> {
        let closed = self.screen.take().map_or(Ok(()), Screen::close);
        self.log.release();
        closed
    }

    fn summarize(&mut self, summary: &Summary, _: Duration) -> io::Result<()> {
        let mut stdout = io::stdout();
        summary.lines().iter().try_for_each(|line| writeln!(stdout, "{line}"))
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // If it was closed before, this does nothing.
        self.screen = None;
        self.log.release();
    }
}

fn picture(scene: &Scene<'_>, width: usize, failing: bool) -> Picture {
    let workers: Vec<Row> = scene
        .ledger
        .workers()
        .map(|(name, standing)| Row { name: name.to_owned(), state: state(standing) })
        .collect();
    let who = match scene.turn {
        Turn::Start => "",
        Turn::Join(worker) | Turn::Crash(worker) => scene.ledger.name(worker),
    };
    let (headline, meaning) = narrate(&situation(scene.turn, who, &workers, failing));
    let interval = scene.demo.config.interval();
    Picture {
        group: String::new(),
        elapsed: scene.elapsed,
        length: scene.demo.length,
        headline,
        meaning,
        workers,
        full_lease: interval + scene.demo.config.timing().gap_length(),
        share: scene.ledger.share(),
        mean: scene.history.mean(),
        columns: scene.history.columns(Picture::columns(width)),
        marks: Vec::new(),
        events: Vec::new(),
        conflicts: scene.ledger.conflicts(),
    }
}

fn state(standing: &Standing<Lease>) -> State {
    match standing {
        Standing::Unheard => State::Unheard,
        Standing::Idle(reason) => State::Idle(*reason),
        // Asked of the lease itself: what is shown was true a moment ago at most.
        Standing::Holds(lease) => match Claim::remaining(lease) {
            Duration::ZERO => State::LeaseOver,
            left => State::Owns { pair: Claim::pair(lease), left },
        },
        Standing::Crashed => State::Crashed,
    }
}

fn situation<'a>(turn: Turn, who: &'a str, workers: &[Row], failing: bool) -> Situation<'a> {
    let (mut counts, mut reasons, mut running) = (Vec::new(), Vec::new(), 0);
    for row in workers {
        match row.state {
            State::Crashed => continue,
            State::Owns { pair, .. } => counts.push(pair.n()),
            State::Idle(reason) => reasons.push(reason),
            State::Unheard | State::LeaseOver => {}
        }
        running += 1;
    }
    Situation { turn, who, running, counts, reasons, failing }
}

fn line(entry: &Entry) -> Line {
    let line = Line::new().then(Style::Faint, format!("{:7.1} s  ", entry.elapsed.as_secs_f64()));
    let names = names(&entry.workers);
    let one = entry.workers.len() == 1;
    match &entry.what {
        Happened::Joins => line.then(Style::Strong, format!("{names} joins")),
        Happened::Crashes => line.then(Style::Bad, format!("{names} crashes")),
        Happened::Owns { n } if one => {
            line.then(Style::Good, format!("{names} owns one of {n} shares"))
        }
        Happened::Owns { n } => {
            line.then(Style::Good, format!("{names} own one of {n} shares each"))
        }
        Happened::Idles(reason) => line.then(Style::Middling, format!("{names} idle ({reason})")),
        Happened::Logged(text) => line.then(Style::Bad, text),
    }
}

fn names(workers: &[String]) -> String {
    match workers.split_at_checked(NAMES) {
        Some((first, more)) if !more.is_empty() => {
            format!("{} and {} more", first.join(" "), more.len())
        }
        _ => workers.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(count: usize, what: Happened) -> String {
        let workers = (0..count).map(|number| format!("W{number}")).collect();
        let line = line(&Entry { elapsed: Duration::from_millis(1_300), workers, what });
        line.cut(80).map(|(_, text)| text).collect()
    }

    #[test]
    fn entries_read_as_sentences() {
        assert_eq!(entry(1, Happened::Joins), "    1.3 s  W0 joins");
        assert_eq!(entry(1, Happened::Owns { n: 5 }), "    1.3 s  W0 owns one of 5 shares");
        assert_eq!(entry(2, Happened::Owns { n: 5 }), "    1.3 s  W0 W1 own one of 5 shares each");
        let idle = Happened::Idles(Reason::Rebalancing);
        assert_eq!(entry(2, idle), "    1.3 s  W0 W1 idle (rebalancing)");
        let many = entry(14, Happened::Owns { n: 14 });
        assert!(many.ends_with("W9 and 4 more own one of 14 shares each"), "{many}");
    }
}
