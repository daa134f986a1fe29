//! Exclusive leases on `(i, n)`, so that workers can split tasks by `task.id % n == i` in groups
//! whose membership changes.
//!
//! `n` is how many workers are live, `i` which one this is. Both come from a shared
//! [`Registry`], such as Redis, that does no more than count registrations per time interval. There is
//! no coordinator, no membership list and no identity. While a worker holds a pair, no other
//! worker of the group holds its `i`; when the lease ends it learns from its own clock.
//!
//! ```
//! use std::time::Duration;
//! use n_and_i::{Config, MemoryRegistry};
//!
//! # async fn drain() {}
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::new("mail-sender", Duration::from_secs(30))?;
//! // `discover` of an adapter crate such as n-and-i-tokio spawns the driver for you.
//! # fn spawn<F: Future>(_: F) {}
//! # struct R;
//! # impl n_and_i::Runtime for R {
//! #     fn clock(&self) -> std::sync::Arc<dyn n_and_i::Clock> { std::sync::Arc::new(n_and_i::BootClock) }
//! #     fn sleep(&self, _: Duration) -> impl Future<Output = ()> + Send { std::future::pending() }
//! # }
//! # let runtime = R;
//! let (mut peers, driver) = n_and_i::discover(MemoryRegistry::new(), runtime, config);
//! spawn(driver);
//!
//! while let Some(change) = peers.next().await {
//!     drain().await; // stop taking work, finish or release what is in flight
//!     let Some(lease) = change.lease() else { continue }; // owns nothing: stay stopped
//!     // start working on the tasks that `lease.owns(task_id)`, as long as `lease.is_live()`
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Time enters through a [`Runtime`]: its clock decides whether a lease is live, its timer wakes
//! the driver. Failures of the registry are logged through `tracing` and tried again; the loop
//! sees only their effect, an idle [`Change`] with a [`Reason`]. Bad configuration is refused
//! with a [`ConfigError`].
//!
//! To run the protocol without this crate's driver take `n-and-i-core`.

mod change;
mod clock;
mod config;
pub mod counters;
mod drain;
mod driver;
mod layout;
mod lease;
mod mailbox;
mod memory;
mod peers;
mod registry;
mod report;
mod run;
mod runtime;
pub mod scripts;
pub mod slots;
mod time;

pub use change::Change;
pub use clock::{BootClock, Clock};
pub use config::{Config, ConfigError};
pub use drain::DrainWindow;
pub use driver::discover;
pub use layout::Layout;
pub use lease::Lease;
pub use memory::MemoryRegistry;
pub use n_and_i_core::{
    Instant, InvalidReply, Mapping, Pair, Reason, Rebalance, Reply, ServerTime, Share, Stamp,
    Timing, TimingError,
};
pub use peers::{Peers, StopHandle};
pub use registry::{BoxError, Registered, RegistrationError, Registry, Request, WorkerId};
pub use run::Finished;
pub use runtime::Runtime;
