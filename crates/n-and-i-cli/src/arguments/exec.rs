//! The arguments of `exec`.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, ValueHint};
use rustix::process::Signal;

use crate::arguments::{RedisArguments, RegistryArguments, config_error, duration, one_of};
use crate::exec::{Exec, Restart};

/// Run a program while this worker owns something, and tell it what by environment variables
///
/// Joins the group as one worker. While that owns something the program runs. When it does not
/// any more, because membership changed or Redis cannot be reached, the program's process group
/// gets the stop signal and has until the drain deadline; then it is killed with all that it
/// started. Nobody else is handed its tasks before. The program is started again when the worker
/// owns something again.
///
/// Runs until SIGINT or SIGTERM, which stop the program in the same way. If this process ends in any other
/// way or is stopped, the program is killed, at the drain deadline at the latest.
#[derive(Debug, Args)]
#[command(after_long_help = ENVIRONMENT)]
pub(super) struct ExecArguments {
    /// The group's name
    #[arg(long, value_hint = ValueHint::Other)]
    name: String,
    /// Length of an interval, the same for all workers of the group
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    interval: Duration,
    /// What asks the program to finish what it has begun and end
    #[arg(long, value_name = "SIGNAL", default_value = "TERM", value_parser = one_of(&STOP, Stop::as_str), ignore_case = true)]
    stop_signal: Stop,
    /// What to do when the program ends by itself
    ///
    /// on-exit: start it again, after 0.2 s and twice as long each time that it ran for less
    /// than 10 s, at most 30 s. never: leave the group and end with the program's exit code.
    #[arg(long, value_name = "WHEN", default_value = Restart::OnExit.as_str(), value_parser = one_of(&Restart::ALL, Restart::as_str))]
    restart: Restart,
    #[command(flatten)]
    redis: RedisArguments,
    #[command(flatten)]
    registry: RegistryArguments,
    /// The program and its arguments
    #[arg(last = true, required = true, value_hint = ValueHint::CommandWithArguments, value_names = ["PROGRAM", "ARGS"], num_args = 1..)]
    program: Vec<OsString>,
}

const ENVIRONMENT: &str = "\
Environment of the program:
  N_AND_I_I, N_AND_I_N   what it owns: the tasks with task % n == i
  N_AND_I_TOKEN          the fencing token: of two owners of one task, the later has the greater
  N_AND_I_STAGE          the number of the interval in which that was granted; a fencing token too,
                         as long as the interval stays the same
  N_AND_I_DRAIN_SECONDS  how long it has from the stop signal on, at least, such as 0.75

Its output is not touched; its standard input is empty.

Exit codes:
  the program's own, 128 + N if signal N ended it: after SIGINT or SIGTERM, or with --restart never
  0    asked to end while the program did not run
  1    the run failed
  2    wrong arguments
  126  the program cannot be started
  127  there is no such program

Examples:
  n-and-i exec --name mail-sender --interval 5s -- ./send-mails --verbose
  n-and-i exec --name mail-sender --interval 5s --restart never -- \\
    sh -c 'exec ./send-mails --shard \"$N_AND_I_I/$N_AND_I_N\"'";

impl ExecArguments {
    pub(super) fn check(self) -> Result<Exec, clap::Error> {
        let config = self.registry.config(&self.name, self.interval);
        let config = config.map_err(|error| config_error("exec", &error))?;
        let redis = self.redis.registry("exec")?;
        let (stop, restart) = (self.stop_signal.signal(), self.restart);
        let mut words = self.program.into_iter();
        let program = words.next().expect("at least one is required");
        Ok(Exec { config, redis, stop, restart, program, arguments: words.collect() })
    }
}

/// A signal by its name.
#[derive(Clone, Copy, Debug)]
struct Stop(&'static str, Signal);

const STOP: [Stop; 7] = [
    Stop("TERM", Signal::TERM),
    Stop("INT", Signal::INT),
    Stop("QUIT", Signal::QUIT),
    Stop("HUP", Signal::HUP),
    Stop("USR1", Signal::USR1),
    Stop("USR2", Signal::USR2),
    Stop("KILL", Signal::KILL),
];

impl Stop {
    fn as_str(self) -> &'static str {
        self.0
    }

    fn signal(self) -> Signal {
        self.1
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::arguments::{CommandLine, Task};

    fn parse(words: &[&str]) -> Result<Exec, clap::Error> {
        let command = ["n-and-i", "exec", "--name", "x", "--interval", "1s"];
        let line = CommandLine::try_parse_from(command.iter().chain(words))?;
        match line.command.check()? {
            Task::Exec(exec) => Ok(*exec),
            _ => unreachable!("exec was asked for"),
        }
    }

    #[test]
    fn what_follows_the_dashes_is_the_programs() {
        let exec = parse(&["--", "run", "--name", "-v", "--", "x"]).unwrap();
        assert_eq!(exec.program, "run");
        assert_eq!(exec.arguments, ["--name", "-v", "--", "x"]);
        assert_eq!((exec.stop, exec.restart), (Signal::TERM, Restart::OnExit));
    }

    #[test]
    fn a_program_is_needed_and_has_its_place() {
        for words in [&[][..], &["--"], &["run"]] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn signals_have_their_names_in_any_case() {
        for (name, signal) in [("INT", Signal::INT), ("usr1", Signal::USR1)] {
            assert_eq!(parse(&["--stop-signal", name, "--", "run"]).unwrap().stop, signal);
        }
        let error = parse(&["--stop-signal", "STOP", "--", "run"]).unwrap_err().to_string();
        assert!(error.contains("TERM, INT, QUIT"), "{error}");
    }
}
