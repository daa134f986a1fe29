//! The rows of a picture: what each worker does, and what happens to it.

use std::ops::Range;

use n_and_i::{Mapping, Reason, Share};
use n_and_i_sim::{Fault, Planned, Span, State, Timeline};
use plotters::style::WHITE;

use super::canvas::{Canvas, Drawn, Point, Style};
use super::layout::{FAULT_ROW, Layout, NAMES};
use super::palette;

/// How high a bar is at least to be written on.
const READABLE: i32 = 12;
/// How wide a bar is at least.
const LEAST: i32 = 2;
/// Names of workers and faults.
const HEAD: Style = Style::new(11, palette::TEXT).ending();

pub(super) fn draw(
    canvas: &Canvas<'_>,
    layout: &Layout,
    timeline: &Timeline,
    mapping: Mapping,
) -> Drawn {
    for &worker in &layout.workers {
        let bar = bar_of(layout, worker);
        canvas.text(&format!("worker {worker}"), (layout.left - 8, middle(&bar)), HEAD)?;
    }
    draw_lines(canvas, layout, timeline)?;
    for span in &timeline.spans {
        draw_span(canvas, layout, span, mapping)?;
    }
    for registration in &timeline.registrations {
        let (x, bar) = (layout.x(registration.at), bar_of(layout, registration.worker));
        tick(canvas, (x, bar.end), tick_of(layout))?;
    }
    draw_faults(canvas, layout, timeline)?;
    draw_changes(canvas, layout, timeline)
}

/// How long the tick of a registration is.
pub(super) fn tick_of(layout: &Layout) -> i32 {
    (layout.rows.pitch - layout.rows.bar) / 2
}

/// A registration, below the bar.
pub(super) fn tick(canvas: &Canvas<'_>, (x, y): Point, length: i32) -> Drawn {
    canvas.rectangle([(x, y), (x + 2, y + length)], palette::TICK)
}

/// What struck a worker, above the bar.
pub(super) fn wedge(canvas: &Canvas<'_>, (x, y): Point) -> Drawn {
    canvas.polygon(vec![(x - 4, y - 5), (x + 4, y - 5), (x, y + 2)], palette::FAULT)
}

/// What is served of two pairs: the bar is filled by how much it is of what was served before.
pub(super) fn partly(canvas: &Canvas<'_>, corners: [Point; 2], index: u32, kept: f64) -> Drawn {
    let [(left, top), (right, bottom)] = corners;
    let colour = palette::of_index(index);
    canvas.rectangle(corners, palette::pale(colour))?;
    // Never all of it, so that it can be told from one that has settled.
    let full = bottom - pixels(kept.min(0.85) * f64::from(bottom - top));
    canvas.rectangle([(left, full), (right, bottom)], colour)
}

#[expect(clippy::cast_possible_truncation, reason = "the height of a bar at most")]
fn pixels(length: f64) -> i32 {
    length.round() as i32
}

/// Workers without a row have nothing to draw.
fn bar_of(layout: &Layout, worker: usize) -> Range<i32> {
    layout.bar(worker).unwrap_or(layout.faults_top..layout.faults_top)
}

fn middle(bar: &Range<i32>) -> i32 {
    i32::midpoint(bar.start, bar.end)
}

fn draw_span(canvas: &Canvas<'_>, layout: &Layout, span: &Span, mapping: Mapping) -> Drawn {
    // However short, it is seen, unless the next follows.
    let from = layout.x(span.from);
    let until = layout.x(span.until).max(from + LEAST);
    let bar = bar_of(layout, span.worker);
    let corners = [(from, bar.start), (until, bar.end)];
    let (labels, colour) = match span.state {
        State::Idle(Reason::Rebalancing) => return canvas.hatched(corners, palette::HATCH),
        State::Idle(reason) => {
            canvas.rectangle(corners, palette::IDLE)?;
            (vec![reason.to_string()], palette::QUIET)
        }
        State::Owns(share) => {
            let index = share.pair().i();
            let colour = palette::of_index(index);
            let short = index.to_string();
            if let Some(kept) = kept(share, mapping) {
                partly(canvas, corners, index, kept)?;
                // Most of the text is on the one colour or on the other.
                let on = if kept < 0.6 { palette::pale(colour) } else { colour };
                (vec![short], palette::on(on))
            } else {
                canvas.rectangle(corners, colour)?;
                (vec![share.to_string(), short], palette::on(colour))
            }
        }
    };
    // A gap, so that neighbours of one colour are two.
    canvas.rectangle([(until - 1, bar.start), (until, bar.end)], WHITE)?;
    let style = Style::new(layout.rows.bar.min(14) - 3, colour).centred();
    let fits = |text: &&String| style.width(text) + 10 <= until - from;
    match labels.iter().find(fits) {
        Some(text) if layout.rows.bar >= READABLE => {
            canvas.text(text, (i32::midpoint(from, until), middle(&bar)), style)
        }
        _ => Ok(()),
    }
}

/// How much of what it owned before a worker still serves, while it is in force for two pairs.
fn kept(share: Share, mapping: Mapping) -> Option<f64> {
    let before = Share::of(share.previous()?).fraction(mapping);
    Some(share.fraction(mapping) / before)
}

fn draw_faults(canvas: &Canvas<'_>, layout: &Layout, timeline: &Timeline) -> Drawn {
    for (row, fault) in (0..).zip(&layout.faults) {
        let middle = layout.faults_top + row * FAULT_ROW + FAULT_ROW / 2;
        canvas.text(fault.name(), (layout.left - 8, middle), HEAD)?;
        canvas.line(vec![(layout.left, middle), (layout.right, middle)], palette::GRID, 1)?;
        for incident in timeline.incidents.iter().filter(|it| it.fault == *fault) {
            let x = layout.x(incident.at);
            canvas.rectangle([(x - 1, middle - 4), (x + 1, middle + 4)], palette::FAULT)?;
        }
    }
    for incident in &timeline.incidents {
        let Some(bar) = incident.worker.and_then(|worker| layout.bar(worker)) else { continue };
        let x = layout.x(incident.at);
        if incident.fault == Fault::Crash {
            canvas.cross((x, middle(&bar)), cross_of(layout), palette::FAULT)?;
        } else {
            wedge(canvas, (x, bar.start))?;
        }
    }
    Ok(())
}

/// How far the cross of a crash reaches.
pub(super) fn cross_of(layout: &Layout) -> i32 {
    layout.rows.bar / 3
}

/// From the name of each change to its worker, behind what the others do.
fn draw_lines(canvas: &Canvas<'_>, layout: &Layout, timeline: &Timeline) -> Drawn {
    for (change, name) in timeline.changes.iter().zip(&layout.names) {
        let Some(bar) = change.worker.and_then(|worker| layout.bar(worker)) else { continue };
        let x = layout.x(change.at);
        let top = name.as_ref().map_or(layout.workers_top - 4, |name| name.at.1 + 7);
        canvas.line(vec![(x, top), (x, middle(&bar))], palette::PLANNED, 1)?;
    }
    Ok(())
}

fn draw_changes(canvas: &Canvas<'_>, layout: &Layout, timeline: &Timeline) -> Drawn {
    for change in &timeline.changes {
        let Some(bar) = change.worker.and_then(|worker| layout.bar(worker)) else { continue };
        let centre = (layout.x(change.at), middle(&bar));
        if change.what == Planned::Crash {
            canvas.cross(centre, cross_of(layout), palette::FAULT)?;
        } else {
            canvas.ring(centre, 4, palette::PLANNED)?;
        }
    }
    for name in layout.names.iter().flatten() {
        canvas.text(&name.text, name.at, NAMES.centred())?;
    }
    Ok(())
}
