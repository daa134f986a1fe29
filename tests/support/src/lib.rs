//! What the tests of several crates share.

mod log;
mod redis_server;
mod wait;

pub use log::{Event, Log};
pub use redis_server::RedisServer;
pub use wait::{eventually, eventually_async, unique_name};
