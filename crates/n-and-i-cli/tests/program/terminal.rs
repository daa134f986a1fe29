//! The program in a pseudo-terminal.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

use n_and_i_test_support::eventually;
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::child::program;

/// The program in a terminal of its own.
pub(crate) struct Terminal {
    child: Child,
    /// The program's side, kept open to ask for the terminal's modes.
    inner: OwnedFd,
    emulator: Arc<Mutex<vt100::Parser>>,
    outer: OwnedFd,
}

impl Terminal {
    pub(crate) fn start(arguments: &[&str], (rows, columns): (u16, u16), no_color: bool) -> Self {
        let outer = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&outer).unwrap();
        unlockpt(&outer).unwrap();
        let path = ptsname(&outer, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let inner = rustix::fs::open(path, flags, rustix::fs::Mode::empty()).unwrap();
        resize(&outer, rows, columns);

        let mut command = program(arguments);
        command.env("TERM", "xterm-256color");
        if no_color {
            command.env("NO_COLOR", "1");
        }
        let end = || Stdio::from(inner.try_clone().unwrap());
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();

        let emulator = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 200)));
        let shown = Arc::clone(&emulator);
        let mut pipe = File::from(outer.try_clone().unwrap());
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = pipe.read(&mut bytes) {
                shown.lock().unwrap().process(&bytes[..count]);
            }
        });
        Self { child, inner, emulator, outer }
    }

    pub(crate) fn screen(&self) -> vt100::Screen {
        self.emulator.lock().unwrap().screen().clone()
    }

    pub(crate) fn wait_for(&self, text: &str) -> vt100::Screen {
        eventually(text, || {
            let screen = self.screen();
            screen.contents().contains(text).then_some(screen)
        })
    }

    /// The terminal as it was before, with this left on it.
    pub(crate) fn given_back(&self, text: &str) -> vt100::Screen {
        eventually(&format!("the terminal is given back with {text:?}"), || {
            let screen = self.screen();
            let is_back = !screen.alternate_screen() && !screen.hide_cursor();
            (is_back && screen.contents().contains(text)).then_some(screen)
        })
    }

    pub(crate) fn resize(&self, rows: u16, columns: u16) {
        self.emulator.lock().unwrap().screen_mut().set_size(rows, columns);
        resize(&self.outer, rows, columns);
    }

    pub(crate) fn modes(&self) -> Termios {
        tcgetattr(&self.inner).unwrap()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub(crate) fn end(&mut self) -> ExitStatus {
        eventually("the program ends", || self.child.try_wait().unwrap())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Fails only if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn resize(terminal: &OwnedFd, rows: u16, columns: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).unwrap();
}
