//! Some keys in a row, each in the colour of its owner.

use crate::demo::picture::{Row, State};
use crate::terminal::text::{Line, Style};

/// This many lines: in the first the owners' names, if they are of one letter, a dot for a
/// key that nobody owns.
pub(super) fn draw(rows: &[Row], keys: &[String], height: usize) -> Vec<Line> {
    let mut lines = vec![Line::new(); height];
    if height == 0 {
        return lines;
    }
    for key in keys {
        // Two cannot own it, says the library; if they did, it must be seen.
        let mut owners = rows.iter().enumerate().filter(|(_, row)| row.owns(key));
        let owner = (owners.next(), owners.next());
        for (number, line) in lines.iter_mut().enumerate() {
            *line = match owner {
                (None, _) => std::mem::take(line).then(Style::Faint, "·"),
                (Some((worker, row)), None) if number == 0 && row.name.len() == 1 => {
                    std::mem::take(line).then(Style::Block(worker), &row.name)
                }
                (Some((worker, _)), None) => std::mem::take(line).then(Style::Worker(worker), "█"),
                (Some(_), Some(_)) => std::mem::take(line).then(Style::Bad, "!"),
            };
        }
    }
    lines
}

impl Row {
    fn owns(&self, key: &str) -> bool {
        matches!(self.state, State::Owns { share, .. } if share.owns_key(key))
    }
}
