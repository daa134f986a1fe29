//! Runs [`n_and_i`] workers on Tokio.
//!
//! ```
//! use std::time::Duration;
//! use n_and_i::{Config, MemoryRegistry, Reason};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::new("mail-sender", Duration::from_millis(100))?;
//! let mut peers = n_and_i_tokio::discover(MemoryRegistry::new(), config)?;
//!
//! while let Some(change) = peers.next().await {
//!     // drain: stop taking work, finish or release what is in flight
//!     let Some(lease) = change.lease() else { continue }; // owns nothing: stay stopped
//!     assert_eq!((lease.share().pair().i(), lease.share().pair().n()), (0, 1)); // alone in the group
//!     assert!(lease.owns(7) && lease.is_live());
//!     peers.stop(); // one last change follows
//! }
//! # Ok(())
//! # }
//! ```
//!
//! It works on current-thread and multi-thread runtimes whose time driver is enabled, and with
//! it whatever the registry needs: Redis over a network needs the I/O driver. The
//! worker's clock is [`BootClock`], which counts through a suspend; Tokio's timers do not, so
//! after one a change may come late, but a lease is never taken for live. A test that pauses
//! Tokio's clock takes [`Tokio::with_tokio_clock`].

use std::sync::Arc;
use std::time::Duration;

use n_and_i::{BootClock, Clock, Config, Instant, Peers, Registry, Runtime};
use tokio::runtime::Handle;

/// Joins a group and spawns the worker's driver on the current Tokio runtime.
///
/// The worker stops when the [`Peers`] are dropped or told to stop, or when the runtime shuts
/// down. Its consumer may live on any executor; the timer stays this runtime's, so a run loop elsewhere
/// that drains when the runtime has shut down panics with Tokio's own message.
///
/// # Errors
/// Outside a Tokio runtime.
///
/// # Panics
/// With Tokio's own message if the runtime's time driver is not enabled.
pub fn discover<R: Registry>(registry: R, config: Config) -> Result<Peers, NoRuntime> {
    discover_on(Tokio::new(), registry, config)
}

/// [`discover`] with a runtime that was configured, such as one that follows Tokio's clock.
///
/// # Errors
/// Outside a Tokio runtime.
///
/// # Panics
/// With Tokio's own message if the runtime's time driver is not enabled.
pub fn discover_on<R: Registry>(
    runtime: Tokio,
    registry: R,
    config: Config,
) -> Result<Peers, NoRuntime> {
    let handle = Handle::try_current().map_err(|_| NoRuntime)?;
    // Without a time driver this panics here, where the caller sees it, and not in a task.
    drop(tokio::time::sleep(Duration::ZERO));
    let runtime = Tokio { handle: Some(handle.clone()), ..runtime };
    let (peers, driver) = n_and_i::discover(registry, runtime, config);
    handle.spawn(driver);
    Ok(peers)
}

/// There is no Tokio runtime here: call from a task, or from within `Runtime::enter`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no Tokio runtime here: call from within a task, `Runtime::block_on` or `Runtime::enter`")]
pub struct NoRuntime;

/// Tokio's timer and a clock.
#[derive(Clone)]
pub struct Tokio {
    clock: Arc<dyn Clock>,
    /// Of the runtime that the worker was discovered on: its timer serves any executor.
    handle: Option<Handle>,
}

impl Tokio {
    /// With the clock that counts through suspend, [`BootClock`].
    pub fn new() -> Self {
        Self { clock: Arc::new(BootClock), handle: None }
    }

    /// With Tokio's own clock, which a test can pause and advance. It does not count through
    /// suspend. Its origin is now.
    ///
    /// ```
    /// use std::time::Duration;
    /// use n_and_i::{Clock, Config, MemoryRegistry, Runtime, ServerTime};
    /// use n_and_i_tokio::{Tokio, discover_on};
    ///
    /// #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let tokio = Tokio::with_tokio_clock();
    ///     let clock = tokio.clock();
    ///     let registry = MemoryRegistry::with_clock(move || {
    ///         ServerTime::from_micros(1_800_000_000_000_000 + clock.now().as_nanos() / 1_000)
    ///     });
    ///     let config = Config::new("hourly", Duration::from_secs(3600))?;
    ///     let mut peers = discover_on(tokio, registry, config)?;
    ///     peers.next().await; // idle: starting
    ///     let change = peers.next().await; // three hours later, at once
    ///     assert!(change.unwrap().lease().is_some());
    ///     Ok(())
    /// }
    /// ```
    pub fn with_tokio_clock() -> Self {
        let origin = tokio::time::Instant::now();
        let clock = Arc::new(move || Instant::from_elapsed(origin.elapsed()));
        Self { clock, handle: None }
    }
}

impl Default for Tokio {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Tokio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokio").field("now", &self.clock.now()).finish_non_exhaustive()
    }
}

impl Runtime for Tokio {
    fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send {
        let _entered = self.handle.as_ref().map(Handle::enter);
        tokio::time::sleep(duration)
    }
}
