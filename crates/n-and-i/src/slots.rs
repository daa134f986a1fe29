//! The slots layout: one hash for a group, in which workers keep their indices.
//!
//! Written and read by two scripts only, [`REGISTER`] and [`RELEASE`]; [`Store`] is the same in memory.

mod store;

use crate::scripts::Script;

pub use store::Store;

/// Registers. One key, four arguments, the answer is a string. It needs the commands TIME,
/// HMGET, HGET, HSET, HDEL, PEXPIRE, GET and INFO.
pub const REGISTER: Script = Script {
    text: include_str!("slots/register.lua"),
    sha1: "b123a5fbc0b3c18b76b5d3cbdf19e38c24b00b4c",
};

/// Gives a worker's index back. One key, two arguments, the answer is a string.
pub const RELEASE: Script = Script {
    text: include_str!("slots/release.lua"),
    sha1: "17e2b1554a7dfb1916ea68908d625c27b872dbc8",
};
