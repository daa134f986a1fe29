//! The first tasks, each under the name of its owner.

use crate::demo::picture::Row;
use crate::demo::text::{Line, Style};

const TASKS: u64 = 60;
/// Tasks are shown in groups of this many.
const GROUP: usize = 10;

/// A title and lines of owners; a dot where there is none.
pub(super) fn draw(rows: &[Row], width: usize) -> Vec<Line> {
    let longest = rows.iter().map(|row| row.name.len()).max().unwrap_or(1);
    // Names of one letter need no space between them, only between groups.
    let cell = if longest == 1 { 1 } else { longest + 1 };
    let group = GROUP * cell + 1;
    let per_line = (width.saturating_sub(5) / group).max(1) * GROUP;
    let title = "TASKS by owner: task % n == i, a dot if nobody owns it";
    let mut lines = vec![Line::strong(title)];
    let tasks: Vec<u64> = (0..TASKS).collect();
    for tasks in tasks.chunks(per_line) {
        let mut line = Line::new().then(Style::Faint, format!("{:3} ", tasks[0]));
        for group in tasks.chunks(GROUP) {
            for task in group {
                line = owner(line, rows, *task, cell);
            }
            line = line.then(Style::Plain, " ");
        }
        lines.push(line);
    }
    lines
}

fn owner(line: Line, rows: &[Row], task: u64, cell: usize) -> Line {
    // Two cannot own it, says the library; if they did, it must be seen.
    let mut owners = rows.iter().enumerate().filter(|(_, row)| row.owns(task));
    match (owners.next(), owners.next()) {
        (None, _) => line.then(Style::Faint, format!("{:cell$}", "·")),
        (Some((number, row)), None) => {
            line.then(Style::Worker(number), format!("{:cell$}", row.name))
        }
        (Some(_), Some(_)) => line.then(Style::Bad, format!("{:cell$}", "!")),
    }
}
