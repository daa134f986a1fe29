//! The command line, checked.

mod simulate;

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{ArgAction, Args, CommandFactory, Parser, Subcommand};
use n_and_i::{Config, ConfigError};
use n_and_i_redis::RedisRegistry;

use crate::arguments::simulate::SimulateArguments;
use crate::connection;
use crate::simulate::Simulation;

/// What to do, every value checked.
#[derive(Debug)]
pub(crate) enum Task {
    Demo(Demo),
    Simulate(Box<Simulation>),
    Watch(Watch),
}

/// A group in one process.
#[derive(Debug)]
pub(crate) struct Demo {
    pub(crate) config: Config,
    pub(crate) workers: usize,
    pub(crate) length: Duration,
    /// The registry; none for the embedded one.
    pub(crate) redis: Option<RedisRegistry>,
    pub(crate) json: bool,
}

/// One worker of a real group.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) config: Config,
    pub(crate) redis: RedisRegistry,
    pub(crate) json: bool,
}

/// The task and how often `-v` was given. Ends the process with a message if the arguments
/// ask for help or make no sense.
pub(crate) fn parse() -> (Task, u8) {
    let line = CommandLine::parse();
    let verbosity = line.verbose;
    match line.command.check() {
        Ok(task) => (task, verbosity),
        Err(error) => error.exit(),
    }
}

/// Workers that share tasks by `task % n == i`, without a coordinator: i is which worker this
/// is, n how many there are. Both come from counting registrations per interval in Redis.
#[derive(Debug, Parser)]
#[command(name = "n-and-i", version, max_term_width = 100, after_help = LOGGING)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
    /// Log to standard error: -v info, -vv debug, -vvv trace
    #[arg(short, long, global = true, action = ArgAction::Count)]
    verbose: u8,
}

const LOGGING: &str = "\
Logs go to standard error, only warnings and errors unless -v or the environment variable
RUST_LOG (such as `debug` or `n_and_i=trace`) asks for more.

Example:
  n-and-i demo";

#[derive(Debug, Subcommand)]
enum Command {
    Demo(DemoArguments),
    Simulate(SimulateArguments),
    Watch(WatchArguments),
}

/// Show how a group shares tasks, takes in a new worker and gets over a crash
///
/// Runs a group in this process: a worker joins after a third of the time, another crashes
/// after two thirds. In a terminal there is a live view, otherwise a line per change. At the
/// end comes a summary; if a task ever had two owners, the exit code is 1.
#[derive(Debug, Args)]
#[command(after_long_help = DEMO_JSON)]
struct DemoArguments {
    /// How many workers start, 1 to 1000
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    workers: u16,
    /// Length of an interval: each worker registers once in each
    #[arg(long, value_name = "DURATION", default_value = "500ms", value_parser = duration)]
    interval: Duration,
    /// How long to run [default: 30 intervals]
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    length: Option<Duration>,
    #[arg(
        long,
        value_name = "URL",
        help = "Register in this Redis instead of in memory, such as redis://127.0.0.1:6379"
    )]
    redis: Option<String>,
    /// The group's name [default: demo, with Redis demo and a random number]
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    shared: SharedArguments,
}

const DEMO_JSON: &str = r#"With --json every line is an object:
  t_ms    milliseconds since the start
  event   "change", "join", "crash" or "summary"
  worker  A, B, C, ...; null in the summary
  i, n    what the worker owns from now on: the tasks with task % n == i; null if nothing
  reason  why it owns nothing: "starting", "rebalancing", "expired", "clock-stepped" or
          "stopped"; null if it owns something, and in lines that are not changes
  stage   the interval it last registered in, a fencing token for what it owns; null if none
The summary, the last line, has also:
  intervals           how many intervals the run took
  changes             how many changes the workers were handed
  share_mean          share of the tasks that had an owner, 0 to 1, mean from the first
                      ownership to the end; null if there was none
  first_ownership_ms  when a worker first owned something; null if none ever did
  conflicts           how often two workers owned one task: 0

Example:
  n-and-i demo --workers 8 --interval 1s --for 30s"#;

/// Be one worker of a group and print a line whenever what it owns changes
///
/// Runs until SIGINT or SIGTERM. A Redis that cannot be reached is reported on standard error
/// and tried again for ever; the worker owns nothing meanwhile.
#[derive(Debug, Args)]
#[command(after_long_help = WATCH_JSON)]
struct WatchArguments {
    /// The group's name
    #[arg(long)]
    name: String,
    /// Length of an interval, the same for all workers of the group
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    interval: Duration,
    /// The Redis to register in
    #[arg(
        long,
        value_name = "URL",
        env = "REDIS_URL",
        hide_env_values = true,
        default_value = "redis://127.0.0.1:6379"
    )]
    redis: String,
    #[command(flatten)]
    shared: SharedArguments,
}

const WATCH_JSON: &str = r#"With --json every line is an object:
  t_ms    milliseconds since the start
  i, n    what the worker owns from now on: the tasks with task % n == i; null if nothing
  reason  why it owns nothing: "starting", "rebalancing", "expired", "clock-stepped" or
          "stopped"; null if it owns something
  stage   the interval it last registered in, a fencing token for what it owns; null if none

Example:
  n-and-i watch --name mail-sender --interval 5s --redis redis://127.0.0.1:6379"#;

#[derive(Debug, Args)]
struct SharedArguments {
    /// Timing slack as a fraction of the interval, more than 0 and less than 0.5
    #[arg(long, value_name = "FRACTION", default_value_t = 0.15, allow_negative_numbers = true)]
    gap: f64,
    /// What the group's keys in Redis begin with, such as prod:
    #[arg(long, default_value = "", hide_default_value = true)]
    prefix: String,
    /// Print JSON lines
    #[arg(long)]
    json: bool,
}

impl Command {
    fn check(self) -> Result<Task, clap::Error> {
        match self {
            Self::Demo(arguments) => arguments.check().map(Task::Demo),
            Self::Simulate(arguments) => arguments.check().map(Box::new).map(Task::Simulate),
            Self::Watch(arguments) => arguments.check().map(Task::Watch),
        }
    }
}

impl DemoArguments {
    fn check(self) -> Result<Demo, clap::Error> {
        let redis = self.redis.as_deref().map(connection::registry).transpose();
        let redis = redis.map_err(|message| usage_error("demo", &message))?;
        let name = self.name.unwrap_or_else(|| match redis {
            // In Redis others may run a demo too, and theirs is another group.
            Some(_) => format!("demo-{:04x}", RandomState::new().hash_one(0) & 0xffff),
            None => "demo".to_owned(),
        });
        let config = self.shared.config(&name, self.interval);
        let config = config.map_err(|error| config_error("demo", &error))?;
        let length = self.length.unwrap_or(30 * config.interval());
        if length.is_zero() {
            return Err(usage_error("demo", "for is 0s, must be longer (such as 15s)"));
        }
        let json = self.shared.json;
        Ok(Demo { config, workers: self.workers.into(), length, redis, json })
    }
}

impl WatchArguments {
    fn check(self) -> Result<Watch, clap::Error> {
        let config = self.shared.config(&self.name, self.interval);
        let config = config.map_err(|error| config_error("watch", &error))?;
        let redis = connection::registry(&self.redis);
        let redis = redis.map_err(|message| usage_error("watch", &message))?;
        Ok(Watch { config, redis, json: self.shared.json })
    }
}

impl SharedArguments {
    fn config(&self, name: &str, interval: Duration) -> Result<Config, ConfigError> {
        Config::new(name, interval)?.with_gap(self.gap)?.with_prefix(&self.prefix)
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|error| format!("{error} (try 300ms, 5s or 1m)"))
}

fn config_error(command: &str, error: &ConfigError) -> clap::Error {
    usage_error(command, &error.to_string())
}

/// An error as clap reports its own, with the usage of the command.
///
/// A `value_parser` would quote the value, and a URL may hold a password.
fn usage_error(command: &str, message: &str) -> clap::Error {
    let mut program = CommandLine::command();
    program.build();
    let command = program.find_subcommand_mut(command).expect("it was just parsed");
    command.error(ErrorKind::ValueValidation, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn a_demo_lasts_30_intervals_unless_told_otherwise() {
        let demo = |words: &[&str]| {
            let line = CommandLine::try_parse_from(["n-and-i", "demo"].iter().chain(words));
            match line.unwrap().command.check().unwrap() {
                Task::Demo(demo) => demo,
                _ => unreachable!("demo was asked for"),
            }
        };
        assert_eq!(demo(&[]).length, Duration::from_secs(15));
        assert_eq!(demo(&["--interval", "1m"]).length, Duration::from_secs(30 * 60));
        assert_eq!(demo(&["--for", "3s"]).length, Duration::from_secs(3));
        assert_eq!(demo(&[]).config.name(), "demo");
        let named = demo(&["--redis", "redis://127.0.0.1"]).config;
        assert!(named.name().starts_with("demo-"), "{named:?}");
    }
}
