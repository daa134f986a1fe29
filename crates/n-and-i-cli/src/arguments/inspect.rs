//! The arguments of `inspect`.

use std::time::Duration;

use clap::{Args, ValueHint};
use n_and_i::{Config, Layout};

use crate::arguments::{KeyArguments, RedisArguments, config_error, one_of};
use crate::inspect::{Inspection, Length};

/// Look at a group and at the Redis that keeps it, without taking part
///
/// Shows the length of the interval, how many workers registered in the latest intervals, whether the
/// group looks settled, and the keys; and looks for what is wrong with the server: a setting that
/// endangers the group, a command that workers need and are refused. Nothing is written.
#[derive(Debug, Args)]
#[command(after_long_help = MORE)]
pub(super) struct InspectArguments {
    /// The group's name
    #[arg(long, value_hint = ValueHint::Other)]
    name: String,
    #[command(flatten)]
    redis: RedisArguments,
    #[command(flatten)]
    keys: KeyArguments,
    /// The layout that the group has to have
    ///
    /// Without, it is that of the group; if there is no group yet, counters.
    #[arg(long, value_name = "LAYOUT", value_parser = one_of(Layout::ALL, Layout::as_str))]
    layout: Option<Layout>,
    /// Look on until so many intervals have closed, then tell
    ///
    /// Without, the intervals that Redis still knows have to do, two or three: too few to tell a group that
    /// keeps changing from one that changes once. If it knows of one only, as in slots, the end of the
    /// open one is waited for.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "watch")]
    intervals: Option<u32>,
    /// Look on until SIGINT or SIGTERM: a picture on a terminal, else a line whenever something changes
    #[arg(long)]
    watch: bool,
    /// Print a JSON object, with --watch one a line
    #[arg(long)]
    json: bool,
}

const MORE: &str = r"The group is
  absent    if there is nothing under this name
  starting  if fewer than two intervals are known to have closed
  settled   if the last two have the same count and nobody more has come since
  changing  if not
  flapping  if the count turned round twice or more within the last eight: something is wrong

With --json:
  t_ms         milliseconds since the start
  prefix, group
  layout, interval_ms   null if there is no group
  state        one of the above; null if Redis could not be reached
  open         the interval that takes registrations: its number, the count so far, which part of
               it has passed (0 to 1), and whether leases can rest on the one before
  closed       those before, oldest first: number and count
  keys         name, type, time to live in ms, number of fields; null if unknown or not fitting
  server       version, role, mode, replicas, maxmemory_policy, as far as it tells
  findings     what is wrong: problem and remedy
  unchecked    what could not be looked at, and why
  error        why Redis could not be asked; else null

Exit codes:
  0  nothing is wrong; or --watch was ended by a signal
  1  something is wrong, or Redis cannot be asked
  2  wrong arguments

Examples:
  n-and-i inspect --name mail-sender --redis redis://127.0.0.1:6379
  n-and-i inspect --name mail-sender --intervals 8 --json
  n-and-i inspect --name mail-sender --watch";

impl InspectArguments {
    pub(super) fn check(self) -> Result<Inspection, clap::Error> {
        // Only its keys are asked for, which do not depend on the interval.
        let config = Config::new(&self.name, Duration::from_secs(1))
            .and_then(|config| config.with_prefix(&self.keys.prefix))
            .map_err(|error| config_error("inspect", &error))?;
        let client = self.redis.client("inspect")?;
        let length = match (self.watch, self.intervals) {
            (true, _) => Length::Endless,
            (false, Some(count)) => Length::Intervals(count),
            (false, None) => Length::Once,
        };
        Ok(Inspection { config, client, layout: self.layout, length, json: self.json })
    }
}
