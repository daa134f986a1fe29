//! The log, on standard error.

use std::collections::VecDeque;
use std::env;
use std::fmt::Debug;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::terminal::screen::has_colours;
use crate::throttle::Throttle;

/// How many lines are kept while there is a picture on the terminal.
const HELD_LINES: usize = 1000;

/// Starts logging: what `-v` asks for, else what `RUST_LOG` does, else warnings and errors,
/// each now and then.
pub(crate) fn start(verbosity: u8, sink: &LogSink) {
    let asked = match verbosity {
        0 => from_environment(),
        1 => Some(levels(LevelFilter::INFO)),
        2 => Some(levels(LevelFilter::DEBUG)),
        _ => Some(levels(LevelFilter::TRACE)),
    };
    let throttle = asked.is_none().then(Throttle::default);
    let targets = asked.unwrap_or_else(|| levels(LevelFilter::WARN));
    let colours = io::stderr().is_terminal() && has_colours();
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(sink.clone())
        .with_ansi(colours)
        .with_filter(throttle)
        .with_filter(targets);
    let notes = Notes(sink.clone())
        .with_filter(Throttle::default())
        .with_filter(levels(LevelFilter::ERROR));
    // Fails only if it was done before.
    let _ = tracing_subscriber::registry().with(lines).with(notes).try_init();
}

fn levels(own: LevelFilter) -> Targets {
    Targets::new().with_default(LevelFilter::WARN.min(own)).with_target("n_and_i", own)
}

fn from_environment() -> Option<Targets> {
    let wish = env::var("RUST_LOG").ok().filter(|wish| !wish.is_empty())?;
    wish.parse()
        .inspect_err(|error| {
            let _ = writeln!(io::stderr(), "n-and-i: RUST_LOG is ignored, {error}");
        })
        .ok()
}

/// Where log lines go: to standard error, or nowhere yet while a picture is on the terminal.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogSink(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// There is a picture that lines would destroy.
    holding: bool,
    held: VecDeque<Vec<u8>>,
    dropped: usize,
    /// Errors in short, for the picture; none without one.
    notes: Option<Vec<String>>,
}

impl LogSink {
    /// From now on errors are [noted](LogSink::take_notes), and lines are held
    /// if standard error is a terminal.
    pub(crate) fn hold(&self) {
        let mut state = self.state();
        state.holding = io::stderr().is_terminal();
        state.notes = Some(Vec::new());
    }

    /// The errors since the last time.
    pub(crate) fn take_notes(&self) -> Vec<String> {
        self.state().notes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Writes what was held. Lines go straight to standard error again.
    pub(crate) fn release(&self) {
        let mut state = self.state();
        state.holding = false;
        state.notes = None;
        if state.dropped > 0 {
            let line = format!("({} earlier log lines left out)\n", state.dropped);
            state.held.push_front(line.into_bytes());
            state.dropped = 0;
        }
        for line in std::mem::take(&mut state.held) {
            // There is nowhere to report it to.
            let _ = io::stderr().write_all(&line);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MakeWriter<'_> for LogSink {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl Write for LogSink {
    /// Takes one whole line, as the formatter writes them.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut state = self.state();
        if !state.holding {
            drop(state);
            return io::stderr().write(line);
        }
        if state.held.len() == HELD_LINES {
            state.held.pop_front();
            state.dropped += 1;
        }
        state.held.push_back(line.to_vec());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Notes events for the picture.
struct Notes(LogSink);

impl<S: Subscriber> Layer<S> for Notes {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if let Some(notes) = &mut self.0.state().notes {
            let mut note = Note::default();
            event.record(&mut note);
            notes.push(if note.error.is_empty() { note.message } else { note.error });
        }
    }
}

/// An event's message, and its error, which says more.
#[derive(Default)]
struct Note {
    message: String,
    error: String,
}

impl Visit for Note {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            "error" => self.error = format!("{value:?}"),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_held_up_to_a_limit() {
        let mut sink = LogSink::default();
        sink.state().holding = true;
        for number in 0..HELD_LINES + 3 {
            sink.write_all(format!("{number}\n").as_bytes()).unwrap();
        }
        let state = sink.state();
        assert_eq!((state.held.len(), state.dropped), (HELD_LINES, 3));
        assert_eq!(state.held[0], b"3\n");
    }

    #[test]
    fn errors_are_noted_in_short() {
        let sink = LogSink::default();
        sink.state().notes = Some(Vec::new());
        let subscriber = tracing_subscriber::registry().with(Notes(sink.clone()));
        tracing::subscriber::with_default(subscriber, || {
            tracing::error!(error = %"refused", attempt = 1, "registration failed");
        });
        assert_eq!(sink.take_notes(), ["refused"]);
        assert!(sink.take_notes().is_empty());
    }
}
