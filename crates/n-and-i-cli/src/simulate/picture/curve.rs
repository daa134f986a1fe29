//! The lower part of a picture: the share of the tasks that had an owner, and the axis of time.

use std::time::Duration;

use n_and_i_sim::Timeline;

use super::canvas::{Canvas, Drawn, Style};
use super::layout::Layout;
use super::palette;
use crate::simulate::Show;
use crate::simulate::settings::duration;

const LABEL: Style = Style::new(11, palette::QUIET);
const HEADING: Style = Style::new(11, palette::TEXT).bold();
/// How far apart numbers below the axis are at least.
const APART: i32 = 40;

/// Faint lines where intervals begin, beneath everything else.
pub(super) fn grid(canvas: &Canvas<'_>, layout: &Layout, timeline: &Timeline) -> Drawn {
    for boundary in &timeline.boundaries {
        let x = layout.x(*boundary);
        // Not through the heading between the rows and the curve.
        for ends in
            [(layout.workers_top, layout.curve.start - 24), (layout.curve.start, layout.curve.end)]
        {
            canvas.line(vec![(x, ends.0), (x, ends.1)], palette::GRID, 1)?;
        }
    }
    Ok(())
}

pub(super) fn draw(canvas: &Canvas<'_>, layout: &Layout, timeline: &Timeline) -> Drawn {
    let (left, right) = (layout.left, layout.right);
    let mut heading = "Share of the tasks that had an owner".to_owned();
    if let Some(mean) = mean(timeline) {
        heading = format!("{heading}: {:.1} % on average in this picture", mean * 100.0);
    }
    canvas.text(&heading, (left, layout.curve.start - 14), HEADING)?;
    let steps = steps(layout, timeline);
    if let (Some(first), Some(last)) = (steps.first(), steps.last()) {
        let mut area = vec![(first.0, layout.curve.end)];
        area.extend(&steps);
        area.push((last.0, layout.curve.end));
        canvas.polygon(area, palette::UNDER_CURVE)?;
    }
    for (percent, share) in [(0, 0.0), (50, 0.5), (100, 1.0)] {
        let y = y(layout, share);
        canvas.line(vec![(left, y), (right, y)], palette::GRID, 1)?;
        canvas.text(&format!("{percent} %"), (left - 8, y), LABEL.ending())?;
    }
    if !steps.is_empty() {
        canvas.line(steps, palette::CURVE, 2)?;
    }
    Ok(())
}

pub(super) fn axis(canvas: &Canvas<'_>, layout: &Layout, show: &Show, interval: Duration) -> Drawn {
    let (left, right, bottom) = (layout.left, layout.right, layout.curve.end);
    canvas.line(vec![(left, bottom), (right, bottom)], palette::QUIET, 1)?;
    let (range, length) = (show.intervals(), u64::try_from(interval.as_nanos()).unwrap_or(0));
    let wide = |step: &u64| {
        let count = i64::try_from(show.count()).unwrap_or(i64::MAX);
        i64::from(right - left) * step.cast_signed() / count >= i64::from(APART)
    };
    let step = [1, 2, 5, 10, 20, 50].into_iter().find(wide).unwrap_or(100);
    for number in range.start..=range.end {
        let x = layout.x(number * length);
        let is_named = number.is_multiple_of(step);
        let tick = if is_named { 6 } else { 3 };
        canvas.line(vec![(x, bottom), (x, bottom + tick)], palette::QUIET, 1)?;
        if is_named {
            canvas.text(&number.to_string(), (x, bottom + 15), LABEL.centred())?;
        }
    }
    let title = format!("intervals of {} since the start", duration(interval));
    canvas.text(&title, (i32::midpoint(left, right), bottom + 33), LABEL.centred())
}

/// The curve, a step for each change.
fn steps(layout: &Layout, timeline: &Timeline) -> Vec<(i32, i32)> {
    let mut points: Vec<(i32, i32)> = Vec::new();
    for &(time, share) in &timeline.served {
        let (x, y) = (layout.x(time), y(layout, share));
        points.extend(points.last().map(|(_, before)| (x, *before)));
        points.push((x, y));
    }
    points.extend(points.last().map(|(_, last)| (layout.x(timeline.until), *last)));
    points.dedup();
    points
}

#[expect(clippy::cast_possible_truncation, reason = "a share is at most 1")]
fn y(layout: &Layout, share: f64) -> i32 {
    let height = f64::from(layout.curve.end - layout.curve.start);
    layout.curve.end - (share * height).round() as i32
}

/// Of the time that is shown.
#[expect(clippy::cast_precision_loss, reason = "rounded when it is shown")]
fn mean(timeline: &Timeline) -> Option<f64> {
    let ends = timeline.served.iter().skip(1).map(|(from, _)| *from).chain([timeline.until]);
    let served = timeline.served.iter().zip(ends);
    let sum: f64 = served.map(|(&(from, share), end)| share * (end - from) as f64).sum();
    let length = timeline.until - timeline.from;
    (length > 0).then(|| sum / length as f64)
}
