//! What the tests of several crates share.

mod cluster;
#[cfg(feature = "tokio")]
mod group;
mod history;
mod log;
mod members;
mod proxy;
mod redis_server;
mod run_loop;
#[cfg(feature = "tokio")]
mod scene;
mod sentinel;
mod wait;

pub use cluster::{RedisCluster, SlotMigration};
#[cfg(feature = "tokio")]
pub use group::{Group, Seen};
pub use history::{History, Span};
pub use log::{Event, Log};
pub use members::Members;
pub use proxy::FaultProxy;
pub use redis_server::RedisServer;
pub use run_loop::drops_late_work;
#[cfg(feature = "tokio")]
pub use scene::Scene;
pub use sentinel::SentinelSetup;
#[cfg(feature = "tokio")]
pub use wait::eventually_async;
pub use wait::{eventually, unique_name};
