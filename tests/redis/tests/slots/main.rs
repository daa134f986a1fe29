//! The slots layout on real servers.

mod against_the_store;
mod cost;
mod lost_data;
mod many_workers;
mod membership;
mod refusals;

use std::time::Duration;

use n_and_i::{Config, Layout};
use n_and_i_test_support::RedisServer;

fn config(name: &str, milliseconds: u64) -> Config {
    let config = Config::new(name, Duration::from_millis(milliseconds)).unwrap();
    config.with_layout(Layout::Slots)
}

/// The number of the group's present interval, and how much of it has passed, in `0..1`.
fn present(server: &RedisServer, config: &Config) -> (u64, f64) {
    let (seconds, micros): (u64, u64) = server.command(&["TIME"]);
    let now = Duration::from_secs(seconds) + Duration::from_micros(micros);
    let passed = now.as_nanos() % config.interval().as_nanos();
    let number = now.as_nanos() / config.interval().as_nanos();
    let passed = Duration::from_nanos(passed.try_into().unwrap());
    (number.try_into().unwrap(), passed.div_duration_f64(config.interval()))
}
