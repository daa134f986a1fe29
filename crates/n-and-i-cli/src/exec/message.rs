//! What wrapper and keeper tell each other: a line of JSON each, over a socket.

use std::fmt;
use std::process::ExitCode;

use n_and_i::Instant;
use rustix::process::WaitStatus;
use serde::{Deserialize, Serialize};

/// What the wrapper tells the keeper. Times are of the clock that counts from the boot, which
/// is the same in all processes, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Order {
    /// The lease was renewed: the program may run until then.
    Until(u64),
    /// The lease is over: ask the program to end, and kill it then.
    Stop(u64),
}

/// What the keeper tells the wrapper.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Report {
    /// The program has this process, and leads its process group.
    Started { pid: i32 },
    /// The operating system did not start it, for the reason with this number. The last report.
    Refused { errno: i32 },
    /// It was not started, as the time is over. The last report.
    Late,
    /// It ended, and nothing that it started is left. The last report.
    Ended {
        exit: Exit,
        /// Whether anything was left at the deadline and had to be killed.
        killed: bool,
    },
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Exit {
    Code(i32),
    Signal(i32),
}

impl Exit {
    pub(super) fn of(status: WaitStatus) -> Option<Self> {
        let code = status.exit_status().map(Self::Code);
        code.or_else(|| status.terminating_signal().map(Self::Signal))
    }

    /// As a shell has it: the code, or 128 and the signal.
    pub(super) fn code(self) -> ExitCode {
        let code = match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
        };
        ExitCode::from(u8::try_from(code & 0xff).expect("it was masked"))
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

impl Order {
    pub(super) fn until(deadline: Instant) -> Self {
        Self::Until(deadline.as_nanos())
    }

    pub(super) fn stop(deadline: Instant) -> Self {
        Self::Stop(deadline.as_nanos())
    }
}

/// As a line.
pub(super) fn line(message: impl Serialize) -> String {
    let mut line = serde_json::to_string(&message).expect("a message can be written");
    line.push('\n');
    line
}
