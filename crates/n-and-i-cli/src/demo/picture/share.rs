//! The share of the tasks that have an owner, over time.

use crate::demo::history::scaled;
use crate::demo::picture::Picture;
use crate::demo::text::{Line, Style};

const LEVELS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// A title, a line of bars, and a line of marks below it.
pub(super) fn draw(picture: &Picture) -> Vec<Line> {
    let mean = picture.mean.map(|mean| mean * 100.0);
    let mean = mean.map(|mean| format!(", {mean:.0} % on average since the first lease"));
    let title = format!(
        "SHARE OF TASKS WITH AN OWNER  {:.0} % now{}",
        picture.share * 100.0,
        mean.unwrap_or_default()
    );
    let mut bars = Line::new();
    for column in &picture.columns {
        bars = match column {
            Some(share) => bars.then(style(*share), LEVELS[level(*share)]),
            None => bars.then(Style::Plain, " "),
        };
    }
    vec![Line::strong(title), bars, marks(picture)]
}

fn marks(picture: &Picture) -> Line {
    let mut line = Line::new();
    for (time, text) in &picture.marks {
        let place = scaled(*time, picture.length, picture.columns.len());
        if line.width() <= place {
            line = line.up_to(place).then(Style::Faint, format!("↑ {text}"));
        }
    }
    line
}

fn style(share: f64) -> Style {
    if share >= 0.995 {
        Style::Good
    } else if share >= 0.005 {
        Style::Middling
    } else {
        Style::Bad
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 7")]
fn level(share: f64) -> usize {
    // The full bar is for the full share only.
    if share >= 0.995 { 7 } else { (share.clamp(0.0, 1.0) * 7.0) as usize }
}
