//! Runs [`n_and_i`] workers on smol.
//!
//! ```
//! use std::time::Duration;
//! use n_and_i::{Config, MemoryRegistry};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # smol::block_on(async {
//! let config = Config::new("mail-sender", Duration::from_millis(100))?;
//! let mut peers = n_and_i_smol::discover(MemoryRegistry::new(), config);
//!
//! while let Some(change) = peers.next().await {
//!     // drain: stop taking work, finish or release what is in flight
//!     let Some(lease) = change.lease() else { continue }; // owns nothing: stay stopped
//!     assert_eq!((lease.share().pair().i(), lease.share().pair().n()), (0, 1)); // alone in the group
//!     assert!(lease.owns(7) && lease.is_live());
//!     peers.stop(); // one last change follows
//! }
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! Workers run on smol's global executor, which starts by itself, or with [`discover_on`] on one
//! of your own. The global one has a single thread unless `SMOL_THREADS` says otherwise: a task
//! that blocks there stops every worker on it, and their leases end. Give such work to
//! `smol::unblock`, or to a thread of its own.
//!
//! The worker's clock is [`BootClock`], which counts through a suspend; smol's timers do not, so
//! after one a change may come late, but a lease is never taken for live. Neither can be paused.
//! To test your own code use short intervals with a [`MemoryRegistry`](n_and_i::MemoryRegistry),
//! or, in virtual time and under faults, `Scenario::rehearse` of n-and-i-sim.
//!
//! # Redis
//!
//! Take n-and-i-redis with its feature `smol`, without its default ones. redis-rs runs its
//! connection on smol's global executor, also for workers on another. With `tokio` alone redis-rs
//! panics, and the worker ends: the log says `discover stopped`, `panicked`.
//!
//! If anything else in the program turns on `tokio` too, redis-rs opens a connection on Tokio
//! wherever a Tokio runtime is current: on the thread of a `Runtime::block_on`, a `Runtime::enter`
//! or `#[tokio::main]`, and so on an executor that is run there. That works while the runtime has
//! another thread, with I/O and time enabled. If it has none, registrations hang and the log
//! says `registration failed`, `no answer within the interval`; without I/O or time redis-rs
//! panics as above. The way out is to call `redis::aio::prefer_smol()` first thing in `main`; it
//! exists only if both are on, and workers on Tokio go on with it.

use std::sync::Arc;
use std::time::Duration;

use n_and_i::{BootClock, Clock, Config, Peers, Registry, Runtime};
use smol::{Executor, Timer};

/// Joins a group and spawns the worker's driver on smol's global executor.
///
/// The worker stops when the [`Peers`] are dropped or told to stop.
///
/// # Panics
/// With smol's own message if the global executor's thread cannot be started.
pub fn discover<R: Registry>(registry: R, config: Config) -> Peers {
    let (peers, driver) = n_and_i::discover(registry, Smol::new(), config);
    smol::spawn(driver).detach();
    peers
}

/// [`discover`] on an executor of your own.
///
/// The worker runs while somebody runs the executor. It stops when the [`Peers`] are dropped or
/// told to stop, or when the executor is dropped. If nobody runs the executor, leases end on time,
/// but the changes come only when it is run again.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use n_and_i::{Config, MemoryRegistry};
/// use n_and_i_smol::discover_on;
///
/// # fn main() -> Result<(), n_and_i::ConfigError> {
/// let executor = Arc::new(smol::Executor::new());
/// let config = Config::new("mail-sender", Duration::from_millis(100))?;
/// let mut peers = discover_on(&executor, MemoryRegistry::new(), config);
/// smol::block_on(executor.run(async {
///     while peers.next().await.is_some_and(|change| change.lease().is_none()) {}
/// }));
/// # Ok(())
/// # }
/// ```
///
/// On a `LocalExecutor` or an executor of another kind spawn the driver yourself:
///
/// ```
/// # use std::time::Duration;
/// # use n_and_i::{Config, MemoryRegistry};
/// use n_and_i_smol::Smol;
///
/// # fn main() -> Result<(), n_and_i::ConfigError> {
/// # let config = Config::new("mail-sender", Duration::from_millis(100))?;
/// let executor = smol::LocalExecutor::new();
/// let (mut peers, driver) = n_and_i::discover(MemoryRegistry::new(), Smol::new(), config);
/// executor.spawn(driver).detach();
/// # smol::block_on(executor.run(async {
/// #     while peers.next().await.is_some_and(|change| change.lease().is_none()) {}
/// # }));
/// # Ok(())
/// # }
/// ```
pub fn discover_on<R: Registry>(executor: &Executor<'_>, registry: R, config: Config) -> Peers {
    let (peers, driver) = n_and_i::discover(registry, Smol::new(), config);
    executor.spawn(driver).detach();
    peers
}

/// smol's timer and the clock that counts through suspend, [`BootClock`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub struct Smol;

impl Smol {
    /// The same as `default`.
    pub fn new() -> Self {
        Self
    }
}

impl Runtime for Smol {
    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(BootClock)
    }

    async fn sleep(&self, duration: Duration) {
        Timer::after(duration).await;
    }
}
