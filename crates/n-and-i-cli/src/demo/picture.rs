//! The whole picture: what is known goes in, lines come out.

mod panel;
mod strip;
mod timeline;
mod workers;

use std::time::Duration;

use n_and_i::{Reason, Rebalance, Share};

use crate::demo::picture::panel::Room;
use crate::terminal::text::{Line, Style, wrap};

/// Everything that is to be seen.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    /// The groups in a few words.
    pub(crate) groups: String,
    pub(crate) elapsed: Duration,
    pub(crate) length: Duration,
    pub(crate) headline: String,
    pub(crate) meaning: String,
    /// Keys to show the owners of, as many as [`Layout::panel`] says.
    pub(crate) keys: Vec<String>,
    /// One for each group.
    pub(crate) panels: Vec<Panel>,
    /// What to mark below the share over time.
    pub(crate) marks: Vec<(Duration, String)>,
}

/// What is to be seen of one group.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) rebalance: Rebalance,
    pub(crate) workers: Vec<Row>,
    /// The longest time that a lease can be left.
    pub(crate) full_lease: Duration,
    /// The share of all keys that have an owner now.
    pub(crate) share: f64,
    pub(crate) mean: Option<f64>,
    /// What was lost by a join and a crash, in intervals of the whole group.
    pub(crate) losses: Vec<f64>,
    /// The share over time, in as many columns as [`Layout::columns`] says.
    pub(crate) columns: Vec<Option<f64>>,
    /// What happened, latest last.
    pub(crate) events: Vec<Line>,
    pub(crate) conflicts: u64,
}

/// One worker.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) state: State,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum State {
    /// Its driver has not said anything yet.
    Unheard,
    Owns {
        share: Share,
        left: Duration,
    },
    Idle(Reason),
    /// The lease is over, and the worker is being told.
    LeaseOver,
    Crashed,
}

/// Lines that the sentences take, so that what is below does not jump about.
const SENTENCE_LINES: usize = 3;
/// Between two panels.
const RULE: &str = " │ ";
/// A panel that is narrower does not stand next to another.
const NARROWEST: usize = 36;
/// Lines of events, with their title.
const EVENTS: std::ops::RangeInclusive<usize> = 4..=13;
/// Lines of a panel's workers, with their title, that come before other things.
const FIRST_ROWS: usize = 7;

/// What goes where on a terminal of a certain width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Layout {
    width: usize,
    /// Whether the panels stand next to each other, not one above the other.
    beside: bool,
    /// How wide a panel is, and how many keys it shows.
    pub(crate) panel: usize,
    /// How many columns the share over time has.
    pub(crate) columns: usize,
}

impl Layout {
    pub(crate) fn new(width: usize, panels: usize) -> Self {
        // What is written to the last column of a terminal may get lost.
        let room = width.saturating_sub(1);
        let rules = RULE.chars().count() * panels.saturating_sub(1);
        let panel = room.saturating_sub(rules) / panels.max(1);
        let beside = panel >= NARROWEST;
        let panel = if beside { panel } else { room };
        let columns = room.saturating_sub(timeline::LABEL).clamp(10, 120);
        Self { width, beside, panel: panel.clamp(1, 120), columns }
    }
}

impl Picture {
    /// The lines for a terminal of this layout and height: at most `height` of them, to be cut
    /// to its width.
    pub(crate) fn draw(&self, layout: Layout, height: usize) -> Vec<Line> {
        let width = layout.width;
        let mut sentences = self.sentences(width);
        let panels = self.panels.len();
        // How many lines it takes to give each panel one.
        let unit = if layout.beside { 1 } else { panels };
        let mut left = height.saturating_sub(2);
        let mut take = |wish: usize| {
            let taken = wish.min(left);
            left -= taken;
            taken
        };
        // What there has to be comes first, then everything grows as far as there is room.
        let most_workers = self.panels.iter().map(|panel| panel.workers.len()).max();
        let wanted_rows = 1 + most_workers.unwrap_or(0);
        let titles = take(unit);
        let mut strip = take(unit) / unit;
        let mut bars = take(panels) / panels;
        let heading = take(2);
        let story = take(sentences.len());
        let losses = take(unit) / unit;
        let mut rows = take(wanted_rows.min(4) * unit) / unit;
        rows += take(wanted_rows.min(FIRST_ROWS).saturating_sub(rows) * unit) / unit;
        bars += take(panels) / panels;
        let mut gaps = take(2);
        strip += take(unit) / unit;
        gaps += take(1);
        let events = take(EVENTS.start() * unit) / unit;
        rows += take(wanted_rows.saturating_sub(rows) * unit) / unit;
        let events = events + take((EVENTS.end() - EVENTS.start()) * unit) / unit;
        bars += take(2 * panels) / panels;
        sentences.truncate(story);

        let room = Room { width: layout.panel, titles: titles / unit, strip, rows, losses, events };
        let drawn = self.panels.iter().map(|panel| panel::draw(panel, &self.keys, room));
        let sections = [
            sentences,
            if layout.beside { beside(drawn, layout.panel) } else { drawn.flatten().collect() },
            timeline::draw(self, heading, bars),
        ];
        let mut lines = vec![self.header(width)];
        for (number, section) in sections.into_iter().enumerate() {
            // Gaps are dropped from the top.
            if number + gaps >= 3 && !section.is_empty() {
                lines.push(Line::new());
            }
            lines.extend(section);
        }
        lines.truncate(height.saturating_sub(1));
        lines.resize(height.saturating_sub(1), Line::new());
        lines.push(self.footer(width));
        lines
    }

    fn header(&self, width: usize) -> Line {
        let time =
            format!("{:.1} s of {:.1} s", self.elapsed.as_secs_f64(), self.length.as_secs_f64());
        let line = Line::strong("n-and-i demo").then(Style::Faint, format!("  {}  ", self.groups));
        line.up_to(width.saturating_sub(time.len() + 1)).then(Style::Faint, time)
    }

    fn sentences(&self, width: usize) -> Vec<Line> {
        let all = format!("{} {}", self.headline, self.meaning);
        let mut headline = self.headline.chars().count();
        let mut lines = Vec::new();
        for text in wrap(&all, width.saturating_sub(1).max(10)) {
            let (strong, plain): (Vec<_>, Vec<_>) =
                text.chars().enumerate().partition(|(place, _)| *place < headline);
            headline = headline.saturating_sub(text.chars().count() + 1);
            let text =
                |part: Vec<(usize, char)>| part.into_iter().map(|(_, c)| c).collect::<String>();
            lines.push(Line::strong(text(strong)).then(Style::Plain, text(plain)));
        }
        lines.resize(lines.len().max(SENTENCE_LINES), Line::new());
        lines
    }

    fn footer(&self, width: usize) -> Line {
        let conflicts: u64 = self.panels.iter().map(|panel| panel.conflicts).sum();
        let style = if conflicts == 0 { Style::Good } else { Style::Bad };
        let line = Line::new().then(style, format!("keys with two owners: {conflicts}"));
        let end = "Ctrl-C ends the demo";
        let place = width.saturating_sub(end.len() + 1);
        if place <= line.width() { line } else { line.up_to(place).then(Style::Faint, end) }
    }
}

/// Panels of this width next to each other.
fn beside(panels: impl Iterator<Item = Vec<Line>>, width: usize) -> Vec<Line> {
    let panels: Vec<_> = panels.collect();
    let height = panels.iter().map(Vec::len).max().unwrap_or(0);
    let line = |number| {
        let mut line = Line::new();
        for (place, panel) in panels.iter().enumerate() {
            if place > 0 {
                line = line.then(Style::Faint, RULE);
            }
            let empty = Line::new();
            let end = line.width() + width;
            line = line.followed_by(panel.get(number).unwrap_or(&empty), width).up_to(end);
        }
        line
    };
    (0..height).map(line).collect()
}

#[cfg(test)]
mod tests;
