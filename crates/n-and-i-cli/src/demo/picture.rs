//! The whole picture: what is known goes in, lines come out.

mod share;
mod tasks;
mod workers;

use std::time::Duration;

use n_and_i::{Pair, Reason};

use crate::demo::text::{Line, Style, wrap};

/// Everything that is to be seen.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    /// The group in a few words.
    pub(crate) group: String,
    pub(crate) elapsed: Duration,
    pub(crate) length: Duration,
    pub(crate) headline: String,
    pub(crate) meaning: String,
    pub(crate) workers: Vec<Row>,
    /// The longest time that a lease can be left.
    pub(crate) full_lease: Duration,
    /// The share of all tasks that have an owner now.
    pub(crate) share: f64,
    pub(crate) mean: Option<f64>,
    /// The share over time, in as many columns as asked for: see [`Picture::columns`].
    pub(crate) columns: Vec<Option<f64>>,
    /// What to mark below the share over time.
    pub(crate) marks: Vec<(Duration, String)>,
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
        pair: Pair,
        left: Duration,
    },
    Idle(Reason),
    /// The lease is over, and the worker is being told.
    LeaseOver,
    Crashed,
}

impl Row {
    fn owns(&self, task: u64) -> bool {
        matches!(self.state, State::Owns { pair, .. } if pair.owns(task))
    }
}

/// Lines that the sentences take, so that what is below does not jump about.
const SENTENCE_LINES: usize = 3;
const MOST_EVENTS: usize = 12;
const LEAST_EVENTS: usize = 3;

impl Picture {
    /// How many columns of the share over time a terminal of this width has room for.
    pub(crate) fn columns(width: usize) -> usize {
        width.saturating_sub(2).clamp(10, 120)
    }

    /// The lines for a terminal of this size: at most `height` of them, to be cut to `width`.
    pub(crate) fn draw(&self, width: usize, height: usize) -> Vec<Line> {
        let sentences = self.sentences(width);
        let tasks = tasks::draw(&self.workers, width);
        let share = share::draw(self);
        // What there has to be comes first, then everything grows as far as there is room.
        let mut room = height.saturating_sub(2 + sentences.len() + tasks.len());
        let mut take = |wish: usize| {
            let taken = wish.min(room);
            room -= taken;
            taken
        };
        let mut rows = take(1 + self.workers.len().min(3));
        let mut events = take(1 + LEAST_EVENTS);
        let share_lines = if take(share.len()) == share.len() { share.len() } else { 0 };
        rows += take(self.workers.len().saturating_sub(3));
        let gaps = take(5);
        events += take(MOST_EVENTS - LEAST_EVENTS);

        let sections = [
            sentences,
            workers::draw(&self.workers, self.full_lease, rows),
            tasks,
            share[..share_lines].to_vec(),
            self.events(events),
        ];
        let mut lines = vec![self.header(width)];
        for (number, section) in sections.into_iter().enumerate() {
            // Gaps are dropped from the top.
            if number + gaps >= 5 && !section.is_empty() {
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
        let line = Line::strong("n-and-i demo").then(Style::Faint, format!("  {}  ", self.group));
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

    fn events(&self, room: usize) -> Vec<Line> {
        if room < 2 {
            return Vec::new();
        }
        let first = self.events.len().saturating_sub(room - 1);
        let mut lines = vec![Line::strong("EVENTS")];
        lines.extend_from_slice(&self.events[first..]);
        lines
    }

    fn footer(&self, width: usize) -> Line {
        let style = if self.conflicts == 0 { Style::Good } else { Style::Bad };
        let line = Line::new().then(style, format!("tasks with two owners: {}", self.conflicts));
        let end = "Ctrl-C ends the demo";
        let place = width.saturating_sub(end.len() + 1);
        if place <= line.width() { line } else { line.up_to(place).then(Style::Faint, end) }
    }
}

#[cfg(test)]
mod tests;
