//! The time that is left for work on what was lost.

use std::time::Duration;

use n_and_i_core::Instant;

use crate::time::Time;

/// Until when work on a share just lost may still be finished: nobody else is handed one
/// of its tasks before.
///
/// With `K` the last stage at which the share was owned, that is `start of (K + 2)` of the
/// server's time as the worker knew it when it sent the registration of stage `K`, and at
/// most `1.5 · (1 - g / 4) · T` after that.
#[derive(Clone, Debug)]
pub struct DrainWindow {
    deadline: Instant,
    time: Time,
}

impl DrainWindow {
    pub(crate) fn new(deadline: Instant, time: Time) -> Self {
        Self { deadline, time }
    }

    /// When the window closes, on the clock of the [`Runtime`](crate::Runtime).
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// How much time is left; zero once the window is closed.
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(self.time.now())
    }

    /// Whether there is time left. To be asked late: just before whatever must not happen
    /// after the deadline.
    pub fn is_open(&self) -> bool {
        self.time.now() < self.deadline
    }

    /// Completes when the window closes.
    ///
    /// On the runtime's timer, which may not count through a suspend: ask
    /// [`is_open`](DrainWindow::is_open) as well.
    pub fn closed(&self) -> impl Future<Output = ()> + Send + use<> {
        self.time.clone().sleep_until(self.deadline)
    }
}
