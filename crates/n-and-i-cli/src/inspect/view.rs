//! Telling what is seen: lines, JSON, a picture.

use std::io::{self, IsTerminal, Write};

use crate::inspect::report::Report;
use crate::inspect::{Inspection, Length};
use crate::terminal::paint::paint;
use crate::terminal::screen::{self, Screen};
use crate::terminal::text::{Line, Style};

/// Where reports go.
#[derive(Debug)]
pub(super) struct View {
    json: bool,
    length: Length,
    /// Redraws in place.
    screen: Option<Screen>,
    last: Option<Report>,
}

impl View {
    pub(super) fn open(inspection: &Inspection) -> io::Result<Self> {
        let live = inspection.length == Length::Endless && !inspection.json && screen::is_usable();
        let screen = if live { Some(Screen::open()?) } else { None };
        Ok(Self { json: inspection.json, length: inspection.length, screen, last: None })
    }

    /// What is seen now.
    pub(super) fn show(&mut self, report: &Report) -> io::Result<()> {
        if self.length != Length::Endless {
            return Ok(());
        }
        if let Some(screen) = &mut self.screen {
            let size = Screen::size();
            return screen.show(&picture(report, size), size);
        }
        if self.last.as_ref().is_none_or(|last| report.differs_from(last)) {
            self.last = Some(report.clone());
            let line = if self.json { json(report)? } else { report.line() };
            writeln!(io::stdout(), "{line}")?;
        }
        Ok(())
    }

    /// The last report, which is the only one.
    pub(super) fn conclude(self, report: &Report) -> io::Result<()> {
        let mut stdout = io::stdout();
        if self.json {
            return writeln!(stdout, "{}", json(report)?);
        }
        let colours = stdout.is_terminal() && screen::has_colours();
        let mut lines = report.lines(usize::MAX).into_iter();
        lines.try_for_each(|line| writeln!(stdout, "{}", paint(&line, usize::MAX, colours)))
    }

    pub(super) fn close(self) -> io::Result<()> {
        self.screen.map_or(Ok(()), Screen::close)
    }
}

fn json(report: &Report) -> io::Result<String> {
    serde_json::to_string(report).map_err(io::Error::other)
}

/// The report and the counts as bars, on as many lines as there are.
fn picture(report: &Report, (width, height): (usize, usize)) -> Vec<Line> {
    let mut lines = vec![Line::strong("n-and-i inspect"), Line::new(), report.bars(width)];
    lines.extend(report.lines(width.saturating_sub(1)));
    lines.resize(height.saturating_sub(1), Line::new());
    lines.push(Line::new().then(Style::Faint, "Ctrl-C ends"));
    lines
}
