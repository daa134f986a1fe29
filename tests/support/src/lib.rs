//! What the tests of several crates share.

mod group;
mod history;
mod log;
mod proxy;
mod redis_server;
mod wait;

pub use group::{Group, Seen};
pub use history::{History, Span};
pub use log::{Event, Log};
pub use proxy::FaultProxy;
pub use redis_server::RedisServer;
pub use wait::{eventually, eventually_async, unique_name};
