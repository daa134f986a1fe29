//! Runs [`n_and_i`] workers on async-std, which is discontinued: new programs take smol and
//! n-and-i-smol instead.
//!
//! async-std gets no fixes any more ([RUSTSEC-2025-0052]); `cargo audit` and `cargo deny` report
//! whatever depends on it, and so on this crate. It is for programs that cannot leave yet.
//!
//! ```
//! use std::time::Duration;
//! use n_and_i::{Config, MemoryRegistry};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # async_std::task::block_on(async {
//! let config = Config::new("mail-sender", Duration::from_millis(100))?;
//! let mut peers = n_and_i_async_std::discover(MemoryRegistry::new(), config);
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
//! Workers run on async-std's executor, which starts by itself with a thread for each processor
//! unless `ASYNC_STD_THREAD_COUNT` says otherwise. A task that blocks takes one of them away; give
//! such work to `async_std::task::spawn_blocking`, or to a thread of its own.
//!
//! The worker's clock is [`BootClock`], which counts through a suspend; the timers do not, so
//! after one a change may come late, but a lease is never taken for live. Neither can be paused.
//! To test your own code use short intervals with a [`MemoryRegistry`](n_and_i::MemoryRegistry),
//! or, in virtual time and under faults, `Scenario::rehearse` of n-and-i-sim.
//!
//! For Redis take n-and-i-redis with its feature `smol`, without its default ones: async-std and
//! smol share their timers and sockets. What n-and-i-smol says about Tokio holds here too.
//!
//! [RUSTSEC-2025-0052]: https://rustsec.org/advisories/RUSTSEC-2025-0052.html

use std::sync::Arc;
use std::time::Duration;

use n_and_i::{BootClock, Clock, Config, Peers, Registry, Runtime};

/// Joins a group and spawns the worker's driver on async-std's executor, which needs no set-up.
///
/// The worker stops when the [`Peers`] are dropped or told to stop.
///
/// # Panics
/// With async-std's own message if its threads cannot be started.
pub fn discover<R: Registry>(registry: R, config: Config) -> Peers {
    let (peers, driver) = n_and_i::discover(registry, AsyncStd::new(), config);
    // Dropping the handle leaves the task running.
    drop(async_std::task::spawn(driver));
    peers
}

/// async-std's timer and the clock that counts through suspend, [`BootClock`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub struct AsyncStd;

impl AsyncStd {
    /// The same as `default`.
    pub fn new() -> Self {
        Self
    }
}

impl Runtime for AsyncStd {
    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(BootClock)
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send {
        async_std::task::sleep(duration)
    }
}
