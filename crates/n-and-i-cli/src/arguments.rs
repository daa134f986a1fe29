//! The command line, checked.

mod completions;
mod demo;
#[cfg(unix)]
mod exec;
mod inspect;
mod man;
mod simulate;
mod watch;

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{ArgAction, Args, CommandFactory, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use n_and_i::{Config, ConfigError, Layout, Rebalance};
use n_and_i_redis::RedisRegistry;
use redis::Client;

use crate::arguments::completions::CompletionsArguments;
use crate::arguments::demo::DemoArguments;
#[cfg(unix)]
use crate::arguments::exec::ExecArguments;
use crate::arguments::inspect::InspectArguments;
use crate::arguments::man::ManArguments;
use crate::arguments::simulate::SimulateArguments;
use crate::arguments::watch::WatchArguments;
use crate::connection;
#[cfg(unix)]
use crate::exec::Exec;
use crate::inspect::Inspection;
use crate::simulate::Simulation;

/// What to do, every value checked.
#[derive(Debug)]
pub(crate) enum Task {
    Completions(Shell),
    Demo(Demo),
    #[cfg(unix)]
    Exec(Box<Exec>),
    Inspect(Box<Inspection>),
    /// With a directory for one page per command.
    Man(Option<PathBuf>),
    Simulate(Box<Simulation>),
    Watch(Watch),
}

/// Groups in one process.
#[derive(Debug)]
pub(crate) struct Demo {
    /// One or two groups that differ in name and in what they do while membership changes.
    pub(crate) groups: Vec<Config>,
    pub(crate) interval: Duration,
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

impl Demo {
    /// What there is to say of the layout, to be put after other words: nothing if it is the
    /// usual one.
    pub(crate) fn layout_note(&self) -> String {
        let layout = self.groups[0].layout();
        if layout == Layout::default() { String::new() } else { format!(", layout {layout}") }
    }
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

/// All that can be asked for, for those who describe it.
pub(crate) fn definition() -> clap::Command {
    CommandLine::command()
}

/// Workers that share tasks by `task % n == i`, without a coordinator: i is which worker this
/// is, n how many there are. Both come from counting registrations per interval in Redis.
#[derive(Debug, Parser)]
#[command(name = "n-and-i", version, max_term_width = 100, after_help = LOGGING)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
    /// Log to standard error: -v info, -vv debug, -vvv trace
    #[arg(short, long, global = true, action = ArgAction::Count, display_order = 100)]
    verbose: u8,
}

const LOGGING: &str = "\
Logs go to standard error, only warnings and errors unless -v or the environment variable
RUST_LOG (such as `debug` or `n_and_i=trace`) asks for more.

Exit codes:
  0  ended as asked, also by a signal
  1  the run failed, or found what must not be: demo and simulate two owners of one task,
     inspect something wrong
  2  wrong arguments
exec has others, too.

Examples:
  n-and-i demo
  n-and-i exec --help";

#[derive(Debug, Subcommand)]
enum Command {
    Demo(DemoArguments),
    #[cfg(unix)]
    Exec(ExecArguments),
    Inspect(InspectArguments),
    Simulate(Box<SimulateArguments>),
    Watch(WatchArguments),
    Completions(CompletionsArguments),
    Man(ManArguments),
}

/// What every command wants to know of a group.
#[derive(Debug, Args)]
struct GroupArguments {
    /// Timing slack as a fraction of the interval, more than 0 and less than 0.5
    #[arg(long, value_name = "FRACTION", default_value_t = 0.15, allow_negative_numbers = true)]
    gap: f64,
    /// How a group is kept, the same for all of its workers
    ///
    /// counters: a counter for each interval, which workers of other implementations can use too;
    /// a worker's index is the order of its registration. slots: workers keep their indices from
    /// interval to interval; a newcomer comes last or takes the index of one that stopped, who
    /// leaves moves the last one at most, and who asks again is not counted again.
    #[arg(long, value_name = "LAYOUT", default_value = Layout::Counters.as_str(), value_parser = one_of(Layout::ALL, Layout::as_str))]
    layout: Layout,
}

/// What those want to know that register in a registry.
#[derive(Debug, Args)]
struct RegistryArguments {
    #[command(flatten)]
    group: GroupArguments,
    #[command(flatten)]
    keys: KeyArguments,
}

/// Which keys are the group's.
#[derive(Debug, Args)]
struct KeyArguments {
    /// What the group's keys in Redis begin with, such as prod:
    #[arg(long, default_value = "", hide_default_value = true)]
    prefix: String,
}

/// Where the registry is.
#[derive(Debug, Args)]
struct RedisArguments {
    /// The Redis that the group is kept in
    #[arg(
        long,
        value_name = "URL",
        value_hint = ValueHint::Url,
        env = "REDIS_URL",
        hide_env_values = true,
        default_value = "redis://127.0.0.1:6379"
    )]
    redis: String,
}

impl Command {
    fn check(self) -> Result<Task, clap::Error> {
        match self {
            Self::Completions(arguments) => Ok(Task::Completions(arguments.shell)),
            Self::Demo(arguments) => arguments.check().map(Task::Demo),
            #[cfg(unix)]
            Self::Exec(arguments) => arguments.check().map(Box::new).map(Task::Exec),
            Self::Inspect(arguments) => arguments.check().map(Box::new).map(Task::Inspect),
            Self::Man(arguments) => Ok(Task::Man(arguments.out)),
            Self::Simulate(arguments) => arguments.check().map(Box::new).map(Task::Simulate),
            Self::Watch(arguments) => arguments.check().map(Task::Watch),
        }
    }
}

impl RegistryArguments {
    fn config(&self, name: &str, interval: Duration) -> Result<Config, ConfigError> {
        let GroupArguments { gap, layout } = self.group;
        let config = Config::new(name, interval)?.with_gap(gap)?.with_prefix(&self.keys.prefix)?;
        Ok(config.with_layout(layout))
    }
}

impl RedisArguments {
    fn registry(&self, command: &str) -> Result<RedisRegistry, clap::Error> {
        self.client(command).map(RedisRegistry::from_client)
    }

    fn client(&self, command: &str) -> Result<Client, clap::Error> {
        connection::client(&self.redis).map_err(|message| usage_error(command, &message))
    }
}

/// Every way to rebalance.
const REBALANCE: [Rebalance; 2] = [Rebalance::StandDown, Rebalance::KeepServing];

/// Takes a way to rebalance by its name.
fn rebalance() -> impl TypedValueParser<Value = Rebalance> {
    one_of(&REBALANCE, Rebalance::as_str)
}

/// Takes one of these by its name, in any case of its letters if the argument ignores case.
fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let names = all.iter().map(|each| name(*each));
    PossibleValuesParser::new(names).map(move |word| {
        let found = all.iter().copied().find(|each| name(*each).eq_ignore_ascii_case(&word));
        found.expect("it is one of the names")
    })
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
    fn each_command_has_examples_that_work_and_exit_codes() {
        let mut program = CommandLine::command();
        program.build();
        for command in program.get_subcommands().filter(|command| command.get_name() != "help") {
            let help = command.get_after_long_help().expect("there is more to say").to_string();
            assert!(help.contains("Exit codes:\n  "), "{help}");
            let (_, examples) = help.split_once("\nExamples:\n").expect("there are examples");
            let examples = examples.replace("\\\n", "");
            assert!(examples.lines().count() > 1, "{examples}");
            for example in examples.lines() {
                let words = shlex::split(example).expect("quotes come in pairs");
                let words = words.split(|word| word == ">" || word == "|").next().unwrap_or(&[]);
                assert_eq!(words[..2], ["n-and-i", command.get_name()], "{example}");
                let line = CommandLine::try_parse_from(words).expect(example);
                line.command.check().expect(example);
            }
        }
    }
}
