//! A run as a picture in SVG: a row for each worker, and below what share of the tasks had an owner.

mod canvas;
mod curve;
mod layout;
mod legend;
mod palette;
mod rows;

use std::io;

use canvas::{Canvas, Drawn, Style};
use layout::{LINE, Layout, TITLE};
use legend::Legend;
use n_and_i_sim::Timeline;

use crate::simulate::report::Report;
use crate::simulate::{Settings, Show};

const HEADING: Style = Style::new(16, palette::TEXT).bold();
const COMMAND: Style = Style::new(11, palette::QUIET);
const ALARM: Style = Style::new(11, palette::FAULT).bold();

/// Draws what is shown of a run.
pub(super) fn draw(report: &Report<'_>, timeline: &Timeline, show: &Show) -> io::Result<String> {
    let settings = report.settings;
    let interval = u64::try_from(settings.interval.as_nanos()).unwrap_or(u64::MAX);
    let range = show.intervals();
    let time = range.start * interval..range.end * interval;
    let count = i32::try_from(show.count()).unwrap_or(i32::MAX);
    let mut layout = Layout::new(timeline, time, count);
    let head = Head::new(report, show, layout.right - layout.left);
    let legend = Legend::new(&layout, timeline);
    layout.stack(head.lines(), legend.rows());

    let mut svg = String::new();
    let canvas = Canvas::new(&mut svg, (layout.width, layout.height))?;
    head.draw(&canvas, &layout)?;
    curve::grid(&canvas, &layout, timeline)?;
    curve::draw(&canvas, &layout, timeline)?;
    rows::draw(&canvas, &layout, timeline, settings.mapping)?;
    curve::axis(&canvas, &layout, show, settings.interval)?;
    legend.draw(&canvas, &layout)?;
    canvas.finish()?;
    drop(canvas);
    Ok(svg)
}

/// What is drawn, and the command that draws it again.
struct Head {
    title: String,
    command: Vec<String>,
    alarm: Vec<String>,
}

impl Head {
    fn new(report: &Report<'_>, show: &Show, width: i32) -> Self {
        let settings = report.settings;
        let command = format!("{settings} --show {show}");
        Self {
            title: title(settings),
            command: wrapped(&command, " --", width, COMMAND),
            alarm: wrapped(&report.violation().unwrap_or_default(), " ", width, ALARM),
        }
    }

    fn lines(&self) -> usize {
        self.command.len() + self.alarm.len()
    }

    fn draw(&self, canvas: &Canvas<'_>, layout: &Layout) -> Drawn {
        let mut at = (layout.left, TITLE);
        canvas.text(&self.title, at, HEADING)?;
        at.1 += TITLE;
        let command = self.command.iter().map(|line| (line, COMMAND));
        for (line, style) in command.chain(self.alarm.iter().map(|line| (line, ALARM))) {
            canvas.text(line, at, style)?;
            at.1 += LINE;
        }
        Ok(())
    }
}

fn title(settings: &Settings) -> String {
    let s = if settings.workers == 1 { "" } else { "s" };
    format!(
        "{} worker{s}, {}, {}, seed {}",
        settings.workers,
        settings.course.name(),
        settings.rebalancing,
        settings.seed
    )
}

/// In lines that are not too wide, broken only where there is this between.
fn wrapped(text: &str, between: &str, width: i32, style: Style) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in text.split(between).filter(|part| !part.is_empty()) {
        let more = format!("{between}{part}");
        match lines.last_mut() {
            Some(line) if style.width(line) + style.width(&more) <= width => line.push_str(&more),
            Some(_) => lines.push(more.trim_start().to_owned()),
            None => lines.push(part.to_owned()),
        }
    }
    lines
}
