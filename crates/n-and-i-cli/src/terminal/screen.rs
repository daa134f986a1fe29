//! The terminal: taken over, drawn on, given back.

use std::env;
use std::io::{self, IsTerminal, Write};

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::queue;
use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, DisableLineWrap, EnableLineWrap,
    EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
};

use crate::terminal::paint::paint;
use crate::terminal::text::Line;

/// Whether standard output can show a picture that changes.
pub(crate) fn is_usable() -> bool {
    io::stdout().is_terminal() && env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether text may have colours, if a terminal shows it.
pub(crate) fn has_colours() -> bool {
    env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A picture on the terminal. Dropped, it gives the terminal back as it was.
#[derive(Debug)]
pub(crate) struct Screen {
    /// What is on the terminal, and for which size it was drawn.
    shown: Vec<String>,
    size: (usize, usize),
    colours: bool,
    _input: Option<quiet::Input>,
}

impl Screen {
    pub(crate) fn open() -> io::Result<Self> {
        let input = quiet::Input::quieten();
        let screen =
            Self { shown: Vec::new(), size: (0, 0), colours: has_colours(), _input: input };
        let mut output = Vec::new();
        queue!(output, EnterAlternateScreen, Hide, DisableLineWrap)?;
        write(&output)?;
        Ok(screen)
    }

    /// Width and height.
    pub(crate) fn size() -> (usize, usize) {
        match terminal_size() {
            Some((width, height)) if width > 0 && height > 0 => (width.into(), height.into()),
            _ => (80, 24),
        }
    }

    /// Shows these lines. Only what is new is sent, in one piece, so that nothing flickers.
    pub(crate) fn show(&mut self, lines: &[Line], size: (usize, usize)) -> io::Result<()> {
        let mut output = Vec::new();
        queue!(output, BeginSynchronizedUpdate)?;
        if size != self.size {
            queue!(output, Clear(ClearType::All))?;
            self.shown.clear();
            self.size = size;
        }
        let lines: Vec<_> = lines.iter().map(|line| paint(line, size.0, self.colours)).collect();
        for (number, line) in lines.iter().enumerate() {
            if self.shown.get(number) != Some(line) {
                let row = u16::try_from(number).unwrap_or(u16::MAX);
                queue!(output, MoveTo(0, row), Print(line), Clear(ClearType::UntilNewLine))?;
            }
        }
        queue!(output, EndSynchronizedUpdate)?;
        self.shown = lines;
        write(&output)
    }

    /// Gives the terminal back and leaves the last picture on it.
    pub(crate) fn close(mut self) -> io::Result<()> {
        let mut lines = std::mem::take(&mut self.shown);
        drop(self);
        // The last line says how to end the program.
        lines.pop();
        while lines.last().is_some_and(|line| line.trim_end().is_empty()) {
            lines.pop();
        }
        lines.push(String::new());
        lines.iter().try_for_each(|line| writeln!(io::stdout(), "{line}"))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let mut output = Vec::new();
        // If the terminal is gone there is nothing to give back.
        let _ = queue!(output, EnableLineWrap, Show, LeaveAlternateScreen);
        let _ = write(&output);
    }
}

fn write(output: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(output)?;
    stdout.flush()
}

/// Of the terminal that is written to, whichever the process was started from.
#[cfg(unix)]
fn terminal_size() -> Option<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some((size.ws_col, size.ws_row))
}

#[cfg(not(unix))]
fn terminal_size() -> Option<(u16, u16)> {
    crossterm::terminal::size().ok()
}

/// Keys that are pressed must not show up in the picture.
#[cfg(unix)]
mod quiet {
    use std::io::{self, IsTerminal};

    use rustix::termios::{
        LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
    };

    /// What is typed is not echoed, and Ctrl-Z does not leave a stopped program's picture
    /// behind, until this is dropped.
    #[derive(Debug)]
    pub(super) struct Input {
        before: Termios,
    }

    impl Input {
        /// None if standard input is no terminal.
        pub(super) fn quieten() -> Option<Self> {
            let before = io::stdin().is_terminal().then(|| tcgetattr(io::stdin()).ok())??;
            let mut quiet = before.clone();
            quiet.local_modes -= LocalModes::ECHO;
            quiet.special_codes[SpecialCodeIndex::VSUSP] = 0;
            tcsetattr(io::stdin(), OptionalActions::Now, &quiet).ok()?;
            Some(Self { before })
        }
    }

    impl Drop for Input {
        fn drop(&mut self) {
            // What was typed meanwhile is not for the shell.
            let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &self.before);
        }
    }
}

#[cfg(not(unix))]
mod quiet {
    #[derive(Debug)]
    pub(super) struct Input;

    impl Input {
        pub(super) fn quieten() -> Option<Self> {
            None
        }
    }
}
