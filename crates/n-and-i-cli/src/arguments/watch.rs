//! The arguments of `watch`.

use std::time::Duration;

use clap::{Args, ValueHint};
use n_and_i::Rebalance;

use crate::arguments::{
    RedisArguments, RegistryArguments, Watch, config_error, duration, rebalance,
};

/// Be one worker of a group and print a line whenever what it owns changes
///
/// Runs until SIGINT or SIGTERM. A Redis that cannot be reached is reported on standard error
/// and tried again for ever; the worker owns nothing meanwhile.
#[derive(Debug, Args)]
#[command(after_long_help = JSON)]
pub(super) struct WatchArguments {
    /// The group's name
    #[arg(long, value_hint = ValueHint::Other)]
    name: String,
    /// Length of an interval, the same for all workers of the group
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    interval: Duration,
    /// What to do while the group's membership changes
    ///
    /// stand-down: own nothing until two intervals agree on i and n. keep-serving: go on with
    /// the tasks that belong to both pairs, that of the newer interval and the one before.
    /// Workers of both kinds can be in one group.
    #[arg(long, value_name = "MODE", default_value = Rebalance::StandDown.as_str(), value_parser = rebalance())]
    rebalance: Rebalance,
    #[command(flatten)]
    redis: RedisArguments,
    #[command(flatten)]
    registry: RegistryArguments,
    /// Print JSON lines
    #[arg(long)]
    json: bool,
}

const JSON: &str = r#"With --json every line is an object:
  t_ms    milliseconds since the start
  i, n    what the worker owns from now on: the tasks with task % n == i; null if nothing
  pi, pn  the pair that was in force before, while it keeps serving: only tasks that belong
          to both pairs are owned, those with task % pn == pi too; null once it has settled
  reason  why it owns nothing: "starting", "rebalancing", "expired", "clock-stepped" or
          "stopped"; null if it owns something
  stage   the interval it last registered in; null if none
  token   the fencing token for what it owns: of two owners of one task, the later has the
          greater; null if it owns nothing

Exit codes:
  0  ended by a signal
  1  the run failed; not that Redis cannot be reached: it is tried again for ever
  2  wrong arguments

Examples:
  n-and-i watch --name mail-sender --interval 5s --redis redis://127.0.0.1:6379
  n-and-i watch --name mail-sender --interval 5s --rebalance keep-serving --json"#;

impl WatchArguments {
    pub(super) fn check(self) -> Result<Watch, clap::Error> {
        let config = self.registry.config(&self.name, self.interval);
        let config = config.map_err(|error| config_error("watch", &error))?;
        let config = config.with_rebalance(self.rebalance);
        let redis = self.redis.registry("watch")?;
        Ok(Watch { config, redis, json: self.json })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use n_and_i::Layout;

    use crate::arguments::{CommandLine, Task};

    #[test]
    fn the_group_is_kept_as_asked_for() {
        for (words, layout) in [
            (&[][..], Layout::Counters),
            (&["--layout", "counters"], Layout::Counters),
            (&["--layout", "slots"], Layout::Slots),
        ] {
            let command = ["n-and-i", "watch", "--name", "x", "--interval", "1s"];
            let line = CommandLine::try_parse_from(command.iter().chain(words));
            let Task::Watch(watch) = line.unwrap().command.check().unwrap() else {
                unreachable!("watch was asked for")
            };
            assert_eq!(watch.config.layout(), layout, "{words:?}");
        }
    }
}
