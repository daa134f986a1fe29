//! The legend of a picture: what of it occurs.

use n_and_i::Reason;
use n_and_i_sim::{Fault, Planned, State, Timeline};

use super::canvas::{Canvas, Drawn, Point, Style};
use super::layout::{LEGEND_ROW, Layout};
use super::{palette, rows};

const TEXT: Style = Style::new(11, palette::TEXT);
const SWATCH: Point = (24, 12);
/// Between a swatch and its text, and between entries.
const GAPS: (i32, i32) = (6, 18);

/// Why a worker owns nothing, unless it rebalances.
const OTHERS: [Reason; 4] =
    [Reason::Starting, Reason::Expired, Reason::ClockStepped, Reason::Stopped];

#[derive(Clone, Copy, Debug)]
enum Entry {
    Owns,
    KeepsServing,
    Rebalancing,
    Idle,
    Registration,
    Crash,
    Change,
    Fault,
    Boundary,
}

impl Entry {
    fn text(self, timeline: &Timeline) -> String {
        let text = match self {
            Self::Owns => "owns i of n, by index",
            Self::KeepsServing => "keeps serving, filled as far as it does",
            Self::Rebalancing => "owns nothing: rebalancing",
            Self::Idle => {
                let idle = |reason: &&Reason| {
                    timeline.spans.iter().any(|span| span.state == State::Idle(**reason))
                };
                let reasons: Vec<_> = OTHERS.iter().filter(idle).map(Reason::to_string).collect();
                return format!("owns nothing: {}", reasons.join(", "));
            }
            Self::Registration => "registers",
            Self::Crash => "crashes",
            Self::Change => "planned change",
            Self::Fault => "fault, named below",
            Self::Boundary => "an interval begins",
        };
        text.to_owned()
    }

    fn swatch(self, canvas: &Canvas<'_>, layout: &Layout, (x, y): Point) -> Drawn {
        let corners = [(x, y), (x + SWATCH.0, y + SWATCH.1)];
        let centre = (x + SWATCH.0 / 2, y + SWATCH.1 / 2);
        match self {
            Self::Owns => {
                for index in 0..3 {
                    let left = x + 8 * i32::try_from(index).unwrap_or(0);
                    let part = [(left, y), (left + 8, y + SWATCH.1)];
                    canvas.rectangle(part, palette::of_index(index))?;
                }
                Ok(())
            }
            Self::KeepsServing => rows::partly(canvas, corners, 0, 0.6),
            Self::Rebalancing => canvas.hatched(corners, palette::HATCH),
            Self::Idle => canvas.rectangle(corners, palette::IDLE),
            Self::Registration => rows::tick(canvas, (centre.0, y + 3), 6),
            Self::Crash => canvas.cross(centre, rows::cross_of(layout).min(5), palette::FAULT),
            Self::Change => canvas.ring(centre, 4, palette::PLANNED),
            Self::Fault => rows::wedge(canvas, (centre.0, centre.1 + 2)),
            Self::Boundary => {
                canvas.line(vec![(centre.0, y), (centre.0, y + SWATCH.1)], palette::GRID, 1)
            }
        }
    }
}

/// The entries, each with its place from where the legend begins.
pub(super) struct Legend(Vec<(Entry, String, Point)>);

impl Legend {
    pub(super) fn new(layout: &Layout, timeline: &Timeline) -> Self {
        let mut placed = Vec::new();
        let (mut x, mut row) = (0, 0);
        for entry in entries(timeline) {
            let text = entry.text(timeline);
            let width = SWATCH.0 + GAPS.0 + TEXT.width(&text);
            if x > 0 && x + width > layout.right - layout.left {
                (x, row) = (0, row + 1);
            }
            placed.push((entry, text, (x, row)));
            x += width + GAPS.1;
        }
        Self(placed)
    }

    pub(super) fn rows(&self) -> i32 {
        self.0.last().map_or(0, |(.., (_, row))| row + 1)
    }

    pub(super) fn draw(&self, canvas: &Canvas<'_>, layout: &Layout) -> Drawn {
        for (entry, text, (x, row)) in &self.0 {
            let (x, y) = (layout.left + x, layout.legend_top + row * LEGEND_ROW);
            entry.swatch(canvas, layout, (x, y))?;
            let at = (x + SWATCH.0 + GAPS.0, y + SWATCH.1 / 2);
            canvas.text(text, at, TEXT)?;
        }
        Ok(())
    }
}

/// What occurs in the picture.
fn entries(timeline: &Timeline) -> Vec<Entry> {
    let state = |wanted: fn(State) -> bool| timeline.spans.iter().any(|span| wanted(span.state));
    let settled = |state| matches!(state, State::Owns(share) if share.is_settled());
    let keeps = |state| matches!(state, State::Owns(share) if !share.is_settled());
    let rebalances = |state| matches!(state, State::Idle(Reason::Rebalancing));
    let idle = |state| matches!(state, State::Idle(reason) if reason != Reason::Rebalancing);
    let (changes, incidents) = (&timeline.changes, &timeline.incidents);
    let crashes = changes.iter().any(|change| change.what == Planned::Crash)
        || incidents.iter().any(|it| it.fault == Fault::Crash);
    [
        (Entry::Owns, state(settled)),
        (Entry::KeepsServing, state(keeps)),
        (Entry::Rebalancing, state(rebalances)),
        (Entry::Idle, state(idle)),
        (Entry::Registration, !timeline.registrations.is_empty()),
        (Entry::Change, changes.iter().any(|change| change.what != Planned::Crash)),
        (Entry::Crash, crashes),
        (Entry::Fault, incidents.iter().any(|it| it.fault != Fault::Crash)),
        (Entry::Boundary, !timeline.boundaries.is_empty()),
    ]
    .into_iter()
    .filter_map(|(entry, occurs)| occurs.then_some(entry))
    .collect()
}
