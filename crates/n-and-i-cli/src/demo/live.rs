//! The demo as a picture that changes.

use std::io::{self, Write};
use std::time::Duration;

use n_and_i::{Lease, Reason};

use crate::arguments::Demo;
use crate::demo::audience::{Audience, Scene, Told};
use crate::demo::keys::Keys;
use crate::demo::ledger::{Claim, Standing, What};
use crate::demo::narration::{Situation, Standings, Turn, narrate};
use crate::demo::picture::{Layout, Panel, Picture, Row, State};
use crate::demo::side::Side;
use crate::demo::summary::{self, Summary};
use crate::logging::LogSink;
use crate::terminal::screen::Screen;
use crate::terminal::text::{Line, Style};
use crate::throttle;

/// How often the picture is drawn at most.
const FRAME: Duration = Duration::from_millis(45);
/// How many entries the event log of a group keeps.
const ENTRIES: usize = 100;
/// How many workers an entry names.
const NAMES: usize = 6;

/// The live view.
#[derive(Debug)]
pub(crate) struct Live {
    log: LogSink,
    screen: Option<Screen>,
    /// The groups in a few words.
    groups: String,
    keys: Keys,
    /// What happened in each group.
    entries: Vec<Vec<Entry>>,
    marks: Vec<(Duration, String)>,
    drawn: Option<Duration>,
    /// The error that was logged last, and when.
    failure: Option<(Duration, String)>,
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
    /// It owns all of one pair.
    Settles {
        n: u32,
    },
    /// It owns what two pairs have in common.
    KeepsPart,
    Idles(Reason),
}

impl Live {
    pub(crate) fn open(log: &LogSink, demo: &Demo) -> io::Result<Self> {
        let place = if demo.redis.is_some() { "in Redis" } else { "in memory" };
        let groups = match &*demo.groups {
            [one] => format!("group {:?}", one.name()),
            several => format!("the same in {} groups", several.len()),
        };
        let layout = demo.layout_note();
        let groups = format!("{groups} {place}{layout}, interval {:?}", demo.interval);
        let screen = Some(Screen::open()?);
        log.hold();
        Ok(Self {
            log: log.clone(),
            screen,
            groups,
            keys: Keys::sample(demo.workers),
            entries: demo.groups.iter().map(|_| Vec::new()).collect(),
            marks: Vec::new(),
            drawn: None,
            failure: None,
        })
    }

    fn enter(&mut self, side: usize, elapsed: Duration, worker: &str, what: Happened) {
        let entries = &mut self.entries[side];
        match entries.last_mut() {
            Some(last) if last.what == what => last.workers.push(worker.to_owned()),
            _ => entries.push(Entry { elapsed, workers: vec![worker.to_owned()], what }),
        }
        if entries.len() > ENTRIES {
            entries.remove(0);
        }
    }

    /// Why registrations fail, as far as the log knows: it is told of a repeated error
    /// now and then, and they are repeated once per interval at least.
    fn failure(&self, scene: &Scene<'_>) -> Option<&str> {
        let recent = (2 * scene.demo.interval).max(2 * throttle::PERIOD);
        let failure = self.failure.as_ref().filter(|(at, _)| scene.elapsed < *at + recent);
        failure.map(|(_, error)| &**error)
    }

    fn picture(&self, scene: &Scene<'_>, layout: Layout) -> Picture {
        let sides = scene.sides.iter().zip(&self.entries);
        let panels: Vec<_> = sides.map(|(side, entries)| panel(side, entries, layout)).collect();
        let who = match scene.turn {
            Turn::Start => "",
            Turn::Join(worker) | Turn::Crash(worker) => scene.sides[0].ledger.name(worker),
        };
        let crashed = usize::from(matches!(scene.turn, Turn::Crash(_)));
        let (headline, meaning) = narrate(&Situation {
            turn: scene.turn,
            who,
            running: panels[0].workers.len() - crashed,
            groups: panels.iter().map(standings).collect(),
            failure: self.failure(scene),
        });
        Picture {
            groups: self.groups.clone(),
            elapsed: scene.elapsed,
            length: scene.demo.length,
            headline,
            meaning,
            keys: self.keys.spread(layout.panel).map(str::to_owned).collect(),
            panels,
            marks: self.marks.clone(),
        }
    }
}

impl Audience for Live {
    fn begin(&mut self, _: &Demo) -> io::Result<()> {
        Ok(())
    }

    fn tell(&mut self, news: &Told<'_>) -> io::Result<()> {
        // The workers' last words come when the picture is closed.
        if self.screen.is_none() {
            return Ok(());
        }
        let Told { side, worker, event, .. } = *news;
        let what = match event.what {
            What::Joins => {
                self.mark(side, event.elapsed, format!("{worker} joins"));
                Happened::Joins
            }
            What::Crashes => {
                self.mark(side, event.elapsed, format!("{worker} crashes"));
                Happened::Crashes
            }
            What::Owns { owned, .. } if owned.share.is_settled() => {
                Happened::Settles { n: owned.share.pair().n() }
            }
            What::Owns { .. } => Happened::KeepsPart,
            What::Idles { reason, .. } => Happened::Idles(reason),
        };
        self.enter(side, event.elapsed, worker, what);
        self.drawn = None;
        Ok(())
    }

    fn look(&mut self, scene: &Scene<'_>) -> io::Result<()> {
        if let Some(note) = self.log.take_notes().pop() {
            self.failure = Some((scene.elapsed, note));
        }
        if self.drawn.is_some_and(|drawn| scene.elapsed < drawn + FRAME) {
            return Ok(());
        }
        let size = Screen::size();
        let layout = Layout::new(size.0, scene.sides.len());
        let picture = self.picture(scene, layout);
        let Some(screen) = &mut self.screen else { return Ok(()) };
        self.drawn = Some(scene.elapsed);
        screen.show(&picture.draw(layout, size.1), size)
    }

    fn close(&mut self) -> io::Result<()> {
        let closed = self.screen.take().map_or(Ok(()), Screen::close);
        self.log.release();
        closed
    }

    fn summarize(&mut self, summaries: &[Summary], _: Duration) -> io::Result<()> {
        let mut stdout = io::stdout();
        summary::lines(summaries).iter().try_for_each(|line| writeln!(stdout, "{line}"))
    }
}

impl Live {
    /// The same happens to all groups at the same time; one mark will do.
    fn mark(&mut self, side: usize, elapsed: Duration, text: String) {
        if side == 0 {
            self.marks.push((elapsed, text));
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // If it was closed before, this does nothing.
        self.screen = None;
        self.log.release();
    }
}

fn panel(side: &Side, entries: &[Entry], layout: Layout) -> Panel {
    let row = |(name, standing): (&str, &_)| Row { name: name.to_owned(), state: state(standing) };
    Panel {
        rebalance: side.rebalance(),
        workers: side.ledger.workers().map(row).collect(),
        full_lease: side.full_lease(),
        share: side.history.share(),
        mean: side.history.mean(),
        losses: side.history.losses(),
        columns: side.history.columns(layout.columns),
        events: entries.iter().map(line).collect(),
        conflicts: side.ledger.conflicts(),
    }
}

fn state(standing: &Standing<Lease>) -> State {
    match standing {
        Standing::Unheard => State::Unheard,
        Standing::Idle(reason) => State::Idle(*reason),
        // Asked of the lease itself: what is shown was true a moment ago at most.
        Standing::Holds(lease) => match Claim::remaining(lease) {
            Duration::ZERO => State::LeaseOver,
            left => State::Owns { share: lease.share(), left },
        },
        Standing::Crashed => State::Crashed,
    }
}

fn standings(panel: &Panel) -> Standings {
    let (mut counts, mut partly, mut reasons) = (Vec::new(), 0, Vec::new());
    for row in &panel.workers {
        match row.state {
            State::Owns { share, .. } if share.is_settled() => counts.push(share.pair().n()),
            State::Owns { .. } => partly += 1,
            State::Idle(reason) => reasons.push(reason),
            State::Unheard | State::LeaseOver | State::Crashed => {}
        }
    }
    let lost = panel.losses.last().copied().unwrap_or_default();
    Standings { rebalance: panel.rebalance, counts, partly, reasons, lost }
}

fn line(entry: &Entry) -> Line {
    let line = Line::new().then(Style::Faint, format!("{:5.1} s  ", entry.elapsed.as_secs_f64()));
    let names = names(&entry.workers);
    let s = if entry.workers.len() == 1 { "s" } else { "" };
    match &entry.what {
        Happened::Joins => line.then(Style::Strong, format!("{names} joins")),
        Happened::Crashes => line.then(Style::Bad, format!("{names} crashes")),
        Happened::Settles { n } => {
            line.then(Style::Good, format!("{names} own{s} one part of {n}"))
        }
        Happened::KeepsPart => line.then(Style::Plain, format!("{names} keep{s} a part")),
        Happened::Idles(reason) => line.then(Style::Middling, format!("{names} idle ({reason})")),
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
        assert_eq!(entry(1, Happened::Joins), "  1.3 s  W0 joins");
        assert_eq!(entry(1, Happened::Settles { n: 5 }), "  1.3 s  W0 owns one part of 5");
        assert_eq!(entry(2, Happened::Settles { n: 5 }), "  1.3 s  W0 W1 own one part of 5");
        assert_eq!(entry(1, Happened::KeepsPart), "  1.3 s  W0 keeps a part");
        assert_eq!(entry(2, Happened::KeepsPart), "  1.3 s  W0 W1 keep a part");
        let idle = Happened::Idles(Reason::Rebalancing);
        assert_eq!(entry(2, idle), "  1.3 s  W0 W1 idle (rebalancing)");
        let many = entry(14, Happened::Settles { n: 14 });
        assert!(many.ends_with("W5 and 8 more own one part of 14"), "{many}");
    }
}
