//! What the worker owns, as a picture that changes.

use std::io;
use std::time::Duration;

use n_and_i::{Change, Config, DrainWindow};

use crate::logging::LogSink;
use crate::terminal::screen::Screen;
use crate::terminal::text::{Line, Style, wrap};
use crate::throttle;
use crate::watch::Audience;
use crate::watch::lines::{plain, tests};

/// How many changes are remembered.
const KEPT: usize = 200;
/// The widest that a bar gets.
const WIDEST: usize = 60;

#[derive(Debug)]
pub(super) struct Live {
    log: LogSink,
    screen: Option<Screen>,
    group: String,
    /// The longest time that a lease can be left.
    full: Duration,
    change: Option<Change>,
    history: Vec<String>,
    /// The error that was logged last, and when.
    failure: Option<(Duration, String)>,
    /// How long a failure is shown.
    memory: Duration,
}

impl Live {
    pub(super) fn open(log: &LogSink, config: &Config) -> io::Result<Self> {
        let screen = Some(Screen::open()?);
        log.hold();
        Ok(Self {
            log: log.clone(),
            screen,
            group: format!(
                "group {:?}, layout {}, interval {:?}",
                config.name(),
                config.layout(),
                config.interval()
            ),
            full: config.interval() + config.timing().gap_length(),
            change: None,
            history: Vec::new(),
            failure: None,
            memory: (2 * config.interval()).max(2 * throttle::PERIOD),
        })
    }

    fn picture(&self, elapsed: Duration, (width, height): (usize, usize)) -> Vec<Line> {
        let room = width.saturating_sub(1);
        let header = Line::strong("n-and-i watch").then(Style::Faint, format!("  {}", self.group));
        let mut lines = vec![header, Line::new()];
        lines.extend(self.now(room));
        lines.push(Line::new());
        let failure = self.failure.as_ref().filter(|(at, _)| elapsed < *at + self.memory);
        if let Some((_, failure)) = failure {
            let text = format!("registrations fail: {failure}");
            lines.extend(wrap(&text, room).iter().map(|text| Line::new().then(Style::Bad, text)));
            lines.push(Line::new());
        }
        lines.push(Line::strong("CHANGES"));
        // The last line says how to end it.
        let left = height.saturating_sub(lines.len() + 1);
        let first = self.history.len().saturating_sub(left);
        lines.extend(self.history[first..].iter().map(|text| Line::new().then(Style::Plain, text)));
        lines.resize(height.saturating_sub(1), Line::new());
        lines.push(Line::new().then(Style::Faint, "Ctrl-C ends"));
        lines
    }

    /// What holds at this moment: two lines.
    fn now(&self, room: usize) -> [Line; 2] {
        let Some(change) = &self.change else {
            return [Line::strong("starting"), Line::new()];
        };
        let left = |left: Duration| format!("{:.1} s", left.as_secs_f64());
        match change.lease() {
            Some(lease) if !lease.remaining().is_zero() => {
                let remaining = lease.remaining();
                let width = room.saturating_sub(20).min(WIDEST);
                let part = remaining.div_duration_f64(self.full).min(1.0);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    clippy::cast_precision_loss,
                    reason = "small and not negative"
                )]
                let full = (part * width as f64).round() as usize;
                let bar = "█".repeat(full) + &"░".repeat(width - full);
                let owns = Line::new().then(Style::Good, format!("owns {}", lease.share()));
                [
                    owns.then(Style::Plain, format!("  {}  token {}", tests(lease), lease.token())),
                    Line::new()
                        .then(Style::Faint, "lease ")
                        .then(Style::Good, bar)
                        .then(Style::Plain, format!(" {} left", left(remaining))),
                ]
            }
            Some(_) => {
                [Line::new().then(Style::Bad, "owns nothing: the lease is over"), Line::new()]
            }
            None => {
                let drain = change.drain_window().map(DrainWindow::remaining);
                let drain = drain.filter(|drain| !drain.is_zero());
                let drain = drain.map_or_else(Line::new, |drain| {
                    let text = format!("{} to finish what was begun", left(drain));
                    Line::new().then(Style::Middling, text)
                });
                let reason = change.reason().map(|reason| reason.to_string()).unwrap_or_default();
                [Line::new().then(Style::Middling, format!("owns nothing: {reason}")), drain]
            }
        }
    }
}

impl Audience for Live {
    fn tell(&mut self, elapsed: Duration, change: Change) -> io::Result<()> {
        self.history.push(plain(elapsed, &change));
        if self.history.len() > KEPT {
            self.history.remove(0);
        }
        self.change = Some(change);
        Ok(())
    }

    fn look(&mut self, elapsed: Duration) -> io::Result<()> {
        if let Some(note) = self.log.take_notes().pop() {
            self.failure = Some((elapsed, note));
        }
        let size = Screen::size();
        let picture = self.picture(elapsed, size);
        self.screen.as_mut().map_or(Ok(()), |screen| screen.show(&picture, size))
    }

    fn close(&mut self) -> io::Result<()> {
        let closed = self.screen.take().map_or(Ok(()), Screen::close);
        self.log.release();
        closed
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // If it was closed before, this does nothing.
        self.screen = None;
        self.log.release();
    }
}
