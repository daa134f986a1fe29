//! Where everything of a picture has its place, in pixels.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Range;

use n_and_i_sim::{Fault, MembershipChange, Planned, Timeline};

use super::canvas::{Point, Style};
use super::palette::PLANNED;

const MARGIN: i32 = 20;
/// How wide the time is drawn, unless there is so much that intervals would be too narrow.
const USUAL_WIDTH: i32 = 820;
const LEAST_INTERVAL: i32 = 8;
pub(super) const TITLE: i32 = 24;
pub(super) const LINE: i32 = 16;
/// How high a row of names of planned changes is, and how many there may be.
const CHANGE_ROW: i32 = 16;
const CHANGE_ROWS: i32 = 3;
pub(super) const FAULT_ROW: i32 = 14;
const CURVE: i32 = 90;
pub(super) const LEGEND_ROW: i32 = 20;
/// Names of changes.
pub(super) const NAMES: Style = Style::new(11, PLANNED).bold();

/// Rows of workers, narrower the more there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    pub(super) pitch: i32,
    pub(super) bar: i32,
}

#[derive(Debug)]
pub(super) struct Layout {
    pub(super) width: i32,
    pub(super) height: i32,
    /// Where the time begins and ends.
    pub(super) left: i32,
    pub(super) right: i32,
    time: Range<u64>,
    pub(super) rows: Rows,
    /// The places of the workers that have a row, from above.
    pub(super) workers: Vec<usize>,
    /// The kinds of fault that have a row.
    pub(super) faults: Vec<Fault>,
    /// What is planned, where its name is written, if there is room.
    pub(super) names: Vec<Option<Name>>,
    pub(super) workers_top: i32,
    pub(super) faults_top: i32,
    pub(super) curve: Range<i32>,
    pub(super) legend_top: i32,
}

/// The name of a planned change.
#[derive(Debug)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) at: Point,
}

impl Layout {
    /// `time` is what is to be drawn, in nanoseconds; of the run there may be less.
    pub(super) fn new(timeline: &Timeline, time: Range<u64>, intervals: i32) -> Self {
        let workers: BTreeSet<_> = timeline.spans.iter().map(|span| span.worker).collect();
        let kinds: BTreeSet<_> = timeline.incidents.iter().map(|it| it.fault).collect();
        let rows = match workers.len() {
            0..=16 => Rows { pitch: 28, bar: 18 },
            17..=40 => Rows { pitch: 21, bar: 13 },
            _ => Rows { pitch: 16, bar: 9 },
        };
        let left = MARGIN + if kinds.is_empty() { 64 } else { 108 };
        let right = left + USUAL_WIDTH.max(LEAST_INTERVAL * intervals);
        let mut layout = Self {
            width: right + MARGIN + 4,
            height: 0,
            left,
            right,
            time,
            rows,
            workers: workers.into_iter().collect(),
            faults: kinds.into_iter().collect(),
            names: Vec::new(),
            workers_top: 0,
            faults_top: 0,
            curve: 0..0,
            legend_top: 0,
        };
        layout.names = layout.place_names(timeline);
        layout
    }

    /// Puts everything below the other, beneath a head of so many lines.
    pub(super) fn stack(&mut self, lines: usize, legend_rows: i32) {
        let lines = i32::try_from(lines).unwrap_or(i32::MAX);
        let names_top = MARGIN + TITLE + lines * LINE + 10;
        let rows = self.names.iter().flatten().map(|name| name.at.1 + 1).max().unwrap_or(0);
        self.workers_top = names_top + rows * CHANGE_ROW + 6;
        for name in self.names.iter_mut().flatten() {
            // The first of them is the lowest: its line is the shortest.
            name.at.1 = names_top + (rows - 1 - name.at.1) * CHANGE_ROW + CHANGE_ROW / 2;
        }
        let count = |length: usize| i32::try_from(length).unwrap_or(i32::MAX);
        self.faults_top = self.workers_top + count(self.workers.len()) * self.rows.pitch + 6;
        let faults = count(self.faults.len()) * FAULT_ROW;
        let curve = self.faults_top + faults + 34;
        self.curve = curve..curve + CURVE;
        self.legend_top = self.curve.end + 52;
        self.height = self.legend_top + legend_rows * LEGEND_ROW + MARGIN - 8;
    }

    /// The pixel of a time, at most where the picture ends.
    pub(super) fn x(&self, time: u64) -> i32 {
        let Range { start, end } = self.time;
        let width = u128::from((self.right - self.left).unsigned_abs());
        let since = u128::from(time.clamp(start, end) - start);
        let pixels = since * width / u128::from((end - start).max(1));
        self.left + i32::try_from(pixels).unwrap_or(0)
    }

    /// The bar of a worker: where it begins and ends, from above.
    pub(super) fn bar(&self, worker: usize) -> Option<Range<i32>> {
        let row = self.workers.iter().position(|place| *place == worker)?;
        let top = self.workers_top + i32::try_from(row).unwrap_or(0) * self.rows.pitch;
        let top = top + (self.rows.pitch - self.rows.bar) / 2;
        Some(top..top + self.rows.bar)
    }

    /// In which row each name of a change has room, if in any: `at.1` is the row, from below. No
    /// name covers another or the line that leads down from one.
    fn place_names(&self, timeline: &Timeline) -> Vec<Option<Name>> {
        let mut placed: Vec<(i32, Range<i32>, i32)> = Vec::new();
        let names = timeline.changes.iter().map(|change| {
            let text = name_of(change)?;
            let (line, half) = (self.x(change.at), NAMES.width(&text) / 2);
            let x = line.clamp(self.left + half, self.right - half);
            let room = x - half - 6..x + half + 6;
            let fits = |row: &i32| {
                placed.iter().all(|(other_line, other, other_row)| match other_row.cmp(row) {
                    Ordering::Equal => other.end <= room.start || room.end <= other.start,
                    Ordering::Less => !other.contains(&line),
                    Ordering::Greater => !room.contains(other_line),
                })
            };
            let row = (0..CHANGE_ROWS).find(fits)?;
            placed.push((line, room, row));
            Some(Name { text, at: (x, row) })
        });
        names.collect()
    }
}

fn name_of(change: &MembershipChange) -> Option<String> {
    let worker = change.worker?;
    let happens = match change.what {
        Planned::Restart => "is replaced",
        Planned::Join => "joins",
        Planned::Leave => "leaves",
        Planned::Crash => "crashes",
        _ => return None,
    };
    Some(format!("worker {worker} {happens}"))
}
