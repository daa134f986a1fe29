//! What the driver needs from an async runtime.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::Clock;

/// A clock and a timer. The adapters implement it; so can you for an executor of your own.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use n_and_i::{BootClock, Clock, Runtime};
///
/// /// Sleeps on a thread of its own: fine for a test, costly for a service.
/// struct Threads;
///
/// impl Runtime for Threads {
///     fn clock(&self) -> Arc<dyn Clock> {
///         Arc::new(BootClock)
///     }
///
///     async fn sleep(&self, duration: Duration) {
///         let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
///         let mut started = false;
///         std::future::poll_fn(move |context| {
///             if done.load(std::sync::atomic::Ordering::Acquire) {
///                 return std::task::Poll::Ready(());
///             }
///             if !std::mem::replace(&mut started, true) {
///                 let (done, waker) = (done.clone(), context.waker().clone());
///                 std::thread::spawn(move || {
///                     std::thread::sleep(duration);
///                     done.store(true, std::sync::atomic::Ordering::Release);
///                     waker.wake();
///                 });
///             }
///             std::task::Poll::Pending
///         })
///         .await;
///     }
/// }
/// ```
pub trait Runtime: Send + Sync + 'static {
    /// The clock that all deadlines are in. Asked for once, when the driver starts.
    ///
    /// Use [`BootClock`](crate::BootClock) unless time is simulated.
    fn clock(&self) -> Arc<dyn Clock>;

    /// Completes once `duration` has passed.
    ///
    /// Waking early is harmless, waking late delays what is due but never makes a lease look
    /// alive. The driver has at most one sleep at a time, about two per interval, and drops it
    /// before starting another. Others are asked for by whoever waits for a
    /// [`DrainWindow`](crate::DrainWindow) or [runs](crate::Peers::run) work, wherever that is: from any
    /// thread, within any executor.
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send;
}
