//! A row for each worker.

use std::fmt::Write;
use std::time::Duration;

use crate::demo::history::scaled;
use crate::demo::picture::{Row, State};
use crate::demo::text::{Line, Style};

const BAR: usize = 12;

/// A title and a row for each worker, in at most `room` lines: what does not fit is summed up.
pub(super) fn draw(rows: &[Row], full_lease: Duration, room: usize) -> Vec<Line> {
    if room < 2 {
        return Vec::new();
    }
    let name = rows.iter().map(|row| row.name.len()).max().unwrap_or(0).max(6);
    let shown = if rows.len() < room { rows.len() } else { room - 2 };
    let title = format!("{:name$}  {:12} {:21}{}", "WORKER", "i of n", "LEASE LEFT", "OWNS TASKS");
    let mut lines = vec![Line::strong(title)];
    for (number, row) in rows[..shown].iter().enumerate() {
        let line = Line::new().then(Style::Worker(number), format!("{:name$}  ", row.name));
        lines.push(state(line, number, row.state, full_lease));
    }
    if shown < rows.len() {
        lines.push(Line::new().then(Style::Faint, the_rest(&rows[shown..])));
    }
    lines
}

fn state(line: Line, number: usize, state: State, full_lease: Duration) -> Line {
    match state {
        State::Unheard => line,
        State::Owns { pair, left } => {
            let cells = scaled(left, full_lease, BAR).min(BAR);
            let tasks: String = (0..4).fold(String::new(), |mut tasks, number| {
                let task = u64::from(pair.i()) + number * u64::from(pair.n());
                // Writing to a string cannot fail.
                let _ = write!(tasks, "{task}, ");
                tasks
            });
            line.then(Style::Strong, format!("{:12} ", pair.to_string()))
                .then(Style::Worker(number), "█".repeat(cells))
                .then(Style::Faint, "░".repeat(BAR - cells))
                .then(Style::Plain, format!(" {:6.2} s ", left.as_secs_f64()))
                .then(Style::Faint, format!("{tasks}..."))
        }
        State::Idle(reason) => line.then(Style::Middling, format!("idle ({reason})")),
        State::LeaseOver => line.then(Style::Middling, "idle (lease over)"),
        State::Crashed => line.then(Style::Bad, "crashed"),
    }
}

fn the_rest(rows: &[Row]) -> String {
    let count = |wanted: fn(&State) -> bool| rows.iter().filter(|row| wanted(&row.state)).count();
    let owners = count(|state| matches!(state, State::Owns { .. }));
    let crashed = count(|state| matches!(state, State::Crashed));
    let idle = rows.len() - owners - crashed;
    let mut text = format!("and {} more: {owners} own a share, {idle} idle", rows.len());
    if crashed > 0 {
        // Writing to a string cannot fail.
        let _ = write!(text, ", {crashed} crashed");
    }
    text
}
