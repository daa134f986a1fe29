//! The arguments of `demo`.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use clap::{Args, ValueHint};
use n_and_i::{Config, ConfigError, Rebalance};
use n_and_i_redis::RedisRegistry;

use crate::arguments::{
    Demo, REBALANCE, RegistryArguments, config_error, duration, rebalance, usage_error,
};
use crate::connection;

/// Show how a group shares keys, takes in a new worker and gets over a crash
///
/// Runs two groups in this process that differ in what a worker does while membership changes:
/// in one it stands down until two intervals agree on i and n, in the other it keeps serving the
/// keys that both give it. In each a worker joins after a third of the time, and one in the
/// middle crashes after two thirds. In a terminal there is a live view, otherwise a line per
/// change. At the end comes a summary; if a key ever had two owners, the exit code is 1.
#[derive(Debug, Args)]
#[command(after_long_help = JSON)]
pub(super) struct DemoArguments {
    /// How many workers start in each group, 1 to 1000
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    workers: u16,
    /// Length of an interval: each worker registers once in each
    #[arg(long, value_name = "DURATION", default_value = "500ms", value_parser = duration)]
    interval: Duration,
    /// How long to run [default: 30 intervals]
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    length: Option<Duration>,
    /// Run only the group that does this while membership changes [default: both]
    #[arg(long, value_name = "MODE", value_parser = rebalance())]
    rebalance: Option<Rebalance>,
    #[arg(
        long,
        value_name = "URL",
        help = "Register in this Redis instead of in memory, such as redis://127.0.0.1:6379"
    )]
    redis: Option<String>,
    /// The group's name; of two groups, what their names begin with [default: demo, with Redis
    /// demo and a random number]
    #[arg(long, value_hint = ValueHint::Other)]
    name: Option<String>,
    #[command(flatten)]
    registry: RegistryArguments,
    /// Print JSON lines
    #[arg(long)]
    json: bool,
}

const JSON: &str = r#"With --json every line is an object:
  t_ms       milliseconds since the start
  event      "change", "join", "crash" or "summary"
  rebalance  "stand-down" or "keep-serving": which group
  worker     A, B, C, ...; null in the summary
  i, n       what the worker owns from now on: the keys with jump(key, n) == i; null if nothing
  pi, pn     the pair that was in force before, while it keeps serving: only keys that belong
             to both pairs are owned, those with jump(key, pn) == pi too; null once it has settled
  reason     why it owns nothing: "starting", "rebalancing", "expired", "clock-stepped" or
             "stopped"; null if it owns something, and in lines that are not changes
  stage      the interval it last registered in; null if none
  token      the fencing token for what it owns: of two owners of one key, the later has the
             greater; null if it owns nothing
The last lines are the summaries, one per group, and have also:
  intervals           how many intervals the run took
  changes             how many changes the workers were handed
  first_ownership_ms  when a worker first owned something; null if none ever did
  share_mean          share of the keys that had an owner, 0 to 1, mean from the first
                      ownership to the end; null if there was none
  share_min           the same for the worst stretch of one interval from when all keys first
                      had an owner; null if there was none
  lost_by_join, lost_by_crash
                      share of the keys without an owner, summed up from the join to the crash,
                      and from there to the end, in intervals: 1 is what the whole group does
                      in one; null if it did not come to that
  conflicts           how often two workers owned one key: 0

Exit codes:
  0  no key had two owners; also if a signal ended it
  1  a key had two owners, or the run failed
  2  wrong arguments

Examples:
  n-and-i demo --workers 8 --interval 1s --for 30s
  n-and-i demo --redis redis://127.0.0.1:6379"#;

impl DemoArguments {
    pub(super) fn check(self) -> Result<Demo, clap::Error> {
        let redis = self.redis.as_deref().map(connection::client).transpose();
        let redis = redis.map_err(|message| usage_error("demo", &message))?;
        let redis = redis.map(RedisRegistry::from_client);
        let groups = self.groups(redis.is_some()).map_err(|error| config_error("demo", &error))?;
        let interval = groups[0].interval();
        let length = self.length.unwrap_or(30 * interval);
        if length.is_zero() {
            return Err(usage_error("demo", "for is 0s, must be longer (such as 15s)"));
        }
        let (workers, json) = (self.workers.into(), self.json);
        Ok(Demo { groups, interval, workers, length, redis, json })
    }

    fn groups(&self, in_redis: bool) -> Result<Vec<Config>, ConfigError> {
        let name = self.name.clone().unwrap_or_else(|| {
            if in_redis {
                // Others may run a demo there too, and theirs is another group.
                format!("demo-{:04x}", RandomState::new().hash_one(0) & 0xffff)
            } else {
                "demo".to_owned()
            }
        });
        let group = |name: &str, rebalance| {
            Ok(self.registry.config(name, self.interval)?.with_rebalance(rebalance))
        };
        // So that a name that will not do is shown as it was given.
        let alone = group(&name, self.rebalance.unwrap_or_default())?;
        if self.rebalance.is_some() {
            return Ok(vec![alone]);
        }
        let named = |rebalance| group(&format!("{name}-{rebalance}"), rebalance);
        REBALANCE.into_iter().map(named).collect()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use n_and_i::Layout;

    use super::*;
    use crate::arguments::{CommandLine, Task};

    fn demo(words: &[&str]) -> Demo {
        let line = CommandLine::try_parse_from(["n-and-i", "demo"].iter().chain(words));
        match line.unwrap().command.check().unwrap() {
            Task::Demo(demo) => demo,
            _ => unreachable!("demo was asked for"),
        }
    }

    fn names(words: &[&str]) -> Vec<String> {
        demo(words).groups.iter().map(|group| group.name().to_owned()).collect()
    }

    #[test]
    fn a_demo_lasts_30_intervals_unless_told_otherwise() {
        assert_eq!(demo(&[]).length, Duration::from_secs(15));
        assert_eq!(demo(&["--interval", "1m"]).length, Duration::from_secs(30 * 60));
        assert_eq!(demo(&["--for", "3s"]).length, Duration::from_secs(3));
    }

    #[test]
    fn there_are_two_groups_unless_one_is_asked_for() {
        assert_eq!(names(&[]), ["demo-stand-down", "demo-keep-serving"]);
        assert_eq!(names(&["--name", "x"]), ["x-stand-down", "x-keep-serving"]);
        let modes: Vec<_> = demo(&[]).groups.iter().map(Config::rebalance).collect();
        assert_eq!(modes, REBALANCE);
        for mode in REBALANCE {
            let one = demo(&["--rebalance", mode.as_str()]).groups;
            assert_eq!((one.len(), one[0].name(), one[0].rebalance()), (1, "demo", mode));
        }
    }

    #[test]
    fn both_groups_are_kept_as_asked_for() {
        for (words, layout) in [
            (&[][..], Layout::Counters),
            (&["--layout", "counters"], Layout::Counters),
            (&["--layout", "slots"], Layout::Slots),
            (&["--layout", "slots", "--rebalance", "stand-down"], Layout::Slots),
        ] {
            let groups = demo(words).groups;
            assert!(groups.iter().all(|group| group.layout() == layout), "{words:?}: {groups:?}");
        }
    }

    #[test]
    fn in_redis_a_group_without_a_name_gets_one_of_its_own() {
        let names = names(&["--redis", "redis://127.0.0.1"]);
        assert!(names[0].starts_with("demo-") && names[0].ends_with("-stand-down"), "{names:?}");
        assert_eq!(names[0].len(), "demo-0123-stand-down".len());
        assert_eq!(names[0].replace("stand-down", "keep-serving"), names[1]);
    }
}
