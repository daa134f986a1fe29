//! The share of the keys that have an owner, over time: the groups above each other, at the
//! same time in the same column.

use crate::demo::history::scaled;
use crate::demo::picture::panel::level;
use crate::demo::picture::{Panel, Picture};
use crate::terminal::text::{Line, Style};

/// How wide what stands before the bars is.
pub(super) const LABEL: usize = 14;
/// How many levels a bar has in one line.
const LEVELS: usize = 8;
const BLOCKS: [&str; LEVELS + 1] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// Bars of this height for each group, with what `heading` leaves room for: a line of
/// marks below them, a title above.
pub(super) fn draw(picture: &Picture, heading: usize, height: usize) -> Vec<Line> {
    if height == 0 {
        return Vec::new();
    }
    let mut lines = Vec::new();
    if heading > 1 {
        lines.push(Line::strong("SHARE OF KEYS WITH AN OWNER, over time"));
    }
    for panel in &picture.panels {
        lines.extend((0..height).map(|line| bars(panel, height, line)));
    }
    if heading > 0 {
        lines.push(marks(picture));
    }
    lines
}

fn bars(panel: &Panel, height: usize, line: usize) -> Line {
    let label = match line {
        0 => Line::strong(panel.rebalance.as_str()),
        1 => {
            let mean = panel.mean.map(|mean| format!("mean {:.1} %", mean * 100.0));
            Line::new().then(Style::Plain, mean.unwrap_or_default())
        }
        _ => Line::new(),
    };
    let mut bars = label.up_to(LABEL);
    let below = (height - 1 - line) * LEVELS;
    for column in &panel.columns {
        bars = match column {
            Some(share) => {
                // One level less than there is room for keeps the groups apart.
                let filled = filled(*share, height * LEVELS - 1).saturating_sub(below).min(LEVELS);
                bars.then(level(*share), BLOCKS[filled])
            }
            None => bars.then(Style::Plain, " "),
        };
    }
    bars
}

fn marks(picture: &Picture) -> Line {
    let columns = picture.panels.first().map_or(0, |panel| panel.columns.len());
    let mut line = Line::new();
    for (time, text) in &picture.marks {
        let place = LABEL + scaled(*time, picture.length, columns);
        if line.width() <= place {
            line = line.up_to(place).then(Style::Faint, format!("↑ {text}"));
        }
    }
    line
}

/// How many of the levels are filled: at least one, and all for the full share only.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a few dozen levels"
)]
fn filled(share: f64, levels: usize) -> usize {
    if share >= 0.995 { levels } else { 1 + (share.clamp(0.0, 1.0) * (levels - 1) as f64) as usize }
}
