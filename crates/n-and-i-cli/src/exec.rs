//! Any program as a worker: it runs while the worker owns something.
//!
//! Three processes, one below the other: the wrapper, which is the worker and holds the lease; the
//! [keeper](keep), which ends the program in time also if the wrapper does not, being stopped or
//! gone; and the program, a process group of its own, which [first](launch) arranges to be killed
//! if the keeper is gone.

mod alarm;
mod backoff;
mod children;
mod keep;
mod keeper;
mod launch;
mod message;
mod program;
mod wrapper;

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use n_and_i::{Config, Instant};
use n_and_i_redis::RedisRegistry;
use rustix::process::{Pid, Signal};

use crate::exec::keep::Job;

pub(crate) use crate::exec::wrapper::run;

/// First arguments by which this program is a keeper or launches what is kept. Nobody else is
/// to use them.
const KEEP: &str = "__keep";
const LAUNCH: &str = "__launch";

/// A program and the group that it is to work for.
#[derive(Debug)]
pub(crate) struct Exec {
    pub(crate) config: Config,
    pub(crate) redis: RedisRegistry,
    pub(crate) stop: Signal,
    pub(crate) restart: Restart,
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
}

/// What to do when the program ends by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Restart {
    OnExit,
    Never,
}

impl Restart {
    pub(crate) const ALL: [Self; 2] = [Self::OnExit, Self::Never];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::OnExit => "on-exit",
            Self::Never => "never",
        }
    }
}

/// Does what the process is for if it is a keeper or a launcher.
pub(crate) fn role() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    let role = words.next()?;
    if role != KEEP && role != LAUNCH {
        return None;
    }
    let numbers: Vec<u64> = words
        .by_ref()
        .take_while(|word| word != "--")
        .map_while(|word| word.to_str()?.parse().ok())
        .collect();
    let words = words.collect();
    let done = match numbers[..] {
        [stop, until, grace] if role == KEEP => keep(stop, until, grace, words),
        [keeper] if role == LAUNCH => Ok(launch::run(pid(keeper), words)),
        _ => Err(io::Error::from(io::ErrorKind::InvalidInput)),
    };
    Some(done.unwrap_or_else(|error| {
        // With standard error gone too there is nobody to tell.
        let _ = writeln!(io::stderr(), "n-and-i: cannot keep the program: {error}");
        ExitCode::FAILURE
    }))
}

fn keep(stop: u64, until: u64, grace: u64, words: Vec<OsString>) -> io::Result<ExitCode> {
    let stop = i32::try_from(stop).ok().and_then(Signal::from_named_raw);
    let stop = stop.ok_or(io::ErrorKind::InvalidInput)?;
    let (until, grace) = (Instant::from_nanos(until), Duration::from_nanos(grace));
    keep::run(&Job { stop, until, grace, words })
}

fn pid(number: u64) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

/// This program, to be run with other arguments. Also if its file was replaced meanwhile.
fn this_program() -> io::Result<Command> {
    let path = if cfg!(any(target_os = "linux", target_os = "android")) {
        PathBuf::from("/proc/self/exe")
    } else {
        std::env::current_exe()?
    };
    let mut command = Command::new(path);
    command.arg0("n-and-i");
    Ok(command)
}
