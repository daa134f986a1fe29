//! A row for each worker.

use std::time::Duration;

use crate::demo::history::scaled;
use crate::demo::ledger::MAPPING;
use crate::demo::picture::{Row, State};
use crate::terminal::text::{Line, Style};

const LONGEST_BAR: usize = 16;
const LEASE: &str = "LEASE";
const PERCENT: usize = 8;

/// How wide the columns are.
#[derive(Clone, Copy)]
struct Columns {
    name: usize,
    pairs: usize,
    bar: usize,
}

impl Columns {
    fn new(rows: &[Row], width: usize) -> Self {
        let name = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
        // Two pairs with the greatest numbers that there can be.
        let digits = rows.len().to_string().len();
        let pairs = 4 * digits + "_ of _ and _ of _".len() - 4;
        let bar = width.saturating_sub(name + 2 + pairs + 2 + PERCENT).min(LONGEST_BAR);
        // A bar that is hardly to be seen only takes the room of what can be read.
        Self { name, pairs, bar: if bar < 4 { 0 } else { bar } }
    }
}

/// A title and a row for each worker, in at most `room` lines: what does not fit is summed up.
pub(super) fn draw(rows: &[Row], full_lease: Duration, room: usize, width: usize) -> Vec<Line> {
    if room < 2 {
        return Vec::new();
    }
    let columns = Columns::new(rows, width);
    let Columns { name, pairs, bar } = columns;
    let shown = if rows.len() < room { rows.len() } else { room - 2 };
    let lease = if bar < LEASE.len() { "" } else { LEASE };
    let title = format!("{:name$}  {:pairs$} {lease:bar$} {:>PERCENT$}", "", "i of n", "KEYS");
    let mut lines = vec![Line::new().then(Style::Faint, title)];
    for (number, row) in rows[..shown].iter().enumerate() {
        let line = Line::new().then(Style::Worker(number), format!("{:name$}  ", row.name));
        lines.push(state(line, number, row.state, full_lease, columns));
    }
    if shown < rows.len() {
        lines.push(Line::new().then(Style::Faint, the_rest(&rows[shown..])));
    }
    lines
}

fn state(line: Line, number: usize, state: State, full_lease: Duration, columns: Columns) -> Line {
    match state {
        State::Unheard => line,
        State::Owns { share, left } => {
            let cells = scaled(left, full_lease, columns.bar).min(columns.bar);
            let part = share.fraction(MAPPING) * 100.0;
            let style = match share.previous() {
                None => Style::Strong,
                Some(_) if part > 0.0 => Style::Plain,
                Some(_) => Style::Middling,
            };
            line.then(style, format!("{:pairs$} ", share.to_string(), pairs = columns.pairs))
                .then(Style::Worker(number), "█".repeat(cells))
                .then(Style::Faint, "░".repeat(columns.bar - cells))
                .then(style, format!(" {part:width$.1} %", width = PERCENT - 2))
        }
        State::Idle(reason) => line.then(Style::Middling, format!("owns nothing: {reason}")),
        State::LeaseOver => line.then(Style::Middling, "owns nothing: lease over"),
        State::Crashed => line.then(Style::Bad, "crashed"),
    }
}

fn the_rest(rows: &[Row]) -> String {
    let count = |wanted: fn(&State) -> bool| rows.iter().filter(|row| wanted(&row.state)).count();
    let crashed = count(|state| matches!(state, State::Crashed));
    let settled = count(|state| matches!(state, State::Owns { share, .. } if share.is_settled()));
    let partly = count(|state| matches!(state, State::Owns { .. })) - settled;
    let idle = rows.len() - settled - partly - crashed;
    let counts = [(settled, "settled"), (partly, "part"), (idle, "idle"), (crashed, "crashed")];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<_> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    format!("{} more: {}", rows.len(), counts.join(", "))
}
