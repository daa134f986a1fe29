//! The last step before the program: its process, which makes arrangements for its own end and
//! then becomes the program.

use std::ffi::OsString;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::Pid;

/// Becomes the program, unless the keeper is gone.
///
/// Standard input is where to write the error number if that fails; it is closed if it does not.
pub(super) fn run(keeper: Option<Pid>, words: Vec<OsString>) -> ExitCode {
    let Ok(status) = fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3) else {
        return ExitCode::FAILURE;
    };
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
            return refuse(status, error.raw_os_error());
        }
    }
    // It may have ended before that.
    if keeper.is_none() || rustix::process::getppid() != keeper {
        return ExitCode::FAILURE;
    }
    let mut words = words.into_iter();
    let Some(program) = words.next() else { return refuse(status, Errno::INVAL.raw_os_error()) };
    let error = Command::new(program).args(words).stdin(Stdio::null()).exec();
    // Without a number it was refused by the standard library: there is a zero byte in an argument.
    refuse(status, error.raw_os_error().unwrap_or(Errno::INVAL.raw_os_error()))
}

fn refuse(status: OwnedFd, errno: i32) -> ExitCode {
    // If nobody reads it, nobody is there to tell.
    let _ = write!(std::fs::File::from(status), "{errno}");
    ExitCode::FAILURE
}
