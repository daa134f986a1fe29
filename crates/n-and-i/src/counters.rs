//! The counter layout: a plain integer for each interval, and a guard.
//!
//! A group's counters are under `<prefix>{<name>}:<N>`, made by `INCR` and kept
//! for three intervals, so that workers which know nothing but the counters take part. What
//! else the protocol needs is in one more key, the [guard](crate::scripts::guard_key).

mod store;

use crate::config::Config;
use crate::scripts::Script;

pub use crate::layout::Refusal;
pub use store::Store;

/// Registers. One key, three arguments, the answer is a string. It needs the commands TIME, GET,
/// HGET, SET, INCR, PEXPIRE and INFO.
pub const REGISTER: Script = Script {
    text: include_str!("counters/register.lua"),
    sha1: "90d9086cc0d75864185493e14899bbfe1ab742b9",
};

/// The counter of an interval.
pub fn counter_key(config: &Config, interval: u64) -> String {
    format!("{}{interval}", config.tag())
}
