//! What is to be seen of one group.

use n_and_i::Rebalance;

use crate::demo::picture::{Panel, strip, workers};
use crate::terminal::text::{Line, Style};

/// How many lines there are for what, and how wide they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) width: usize,
    pub(super) titles: usize,
    pub(super) strip: usize,
    pub(super) rows: usize,
    pub(super) losses: usize,
    pub(super) events: usize,
}

pub(super) fn draw(panel: &Panel, keys: &[String], room: Room) -> Vec<Line> {
    let mut lines = Vec::new();
    if room.titles > 0 {
        lines.push(title(panel, room.width));
    }
    lines.extend(strip::draw(&panel.workers, keys, room.strip));
    let rows = workers::draw(&panel.workers, panel.full_lease, room.rows, room.width);
    // So that what is below does not jump about.
    let missing = room.rows - rows.len();
    lines.extend(rows);
    lines.extend(vec![Line::new(); missing]);
    if room.losses > 0 {
        lines.push(losses(&panel.losses));
    }
    if room.events > 1 {
        let first = panel.events.len().saturating_sub(room.events - 1);
        lines.push(Line::strong("EVENTS"));
        lines.extend_from_slice(&panel.events[first..]);
        lines.resize(lines.len() + room.events - 1 - (panel.events.len() - first), Line::new());
    }
    lines
}

fn title(panel: &Panel, width: usize) -> Line {
    let name = match panel.rebalance {
        Rebalance::StandDown => "STAND DOWN",
        Rebalance::KeepServing => "KEEP SERVING",
    };
    let share = format!("{:.0} % of keys served", panel.share * 100.0);
    let line = Line::strong(name).up_to(width.saturating_sub(share.len()));
    line.then(level(panel.share), share)
}

fn losses(losses: &[f64]) -> Line {
    let text = match losses {
        [] => "lost: nothing yet by join or crash".to_owned(),
        [join] => format!("lost: join {join:.2} intervals"),
        [join, crash, ..] => format!("lost: join {join:.2}, crash {crash:.2} intervals"),
    };
    Line::new().then(if losses.is_empty() { Style::Faint } else { Style::Plain }, text)
}

/// How good it is that so many of the keys have an owner.
pub(super) fn level(share: f64) -> Style {
    if share >= 0.995 {
        Style::Good
    } else if share >= 0.005 {
        Style::Middling
    } else {
        Style::Bad
    }
}
