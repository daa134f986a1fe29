//! The runtime's clock and timer, of whatever type.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use n_and_i_core::Instant;

use crate::clock::Clock;
use crate::runtime::Runtime;

type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Cheap to clone.
#[derive(Clone)]
pub(crate) struct Time {
    clock: Arc<dyn Clock>,
    timer: Arc<dyn Timer>,
}

impl Time {
    pub(crate) fn of<T: Runtime>(runtime: &Arc<T>) -> Self {
        Self { clock: runtime.clock(), timer: Arc::<T>::clone(runtime) }
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Sleeps for about this long. The runtime's timer and the clock may differ.
    pub(crate) fn sleep(&self, duration: Duration) -> Sleep {
        Arc::clone(&self.timer).sleep(duration)
    }

    /// Completes when the clock shows this time.
    pub(crate) async fn sleep_until(self, time: Instant) {
        loop {
            let remaining = time.saturating_duration_since(self.now());
            if remaining.is_zero() {
                return;
            }
            self.sleep(remaining).await;
        }
    }
}

trait Timer: Send + Sync {
    fn sleep(self: Arc<Self>, duration: Duration) -> Sleep;
}

impl<T: Runtime> Timer for T {
    fn sleep(self: Arc<Self>, duration: Duration) -> Sleep {
        Box::pin(async move { Runtime::sleep(&*self, duration).await })
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Time({:?})", self.now())
    }
}
