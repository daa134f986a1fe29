//! Futures that run when they were woken.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

use super::Boxed;

/// A future, until it is done.
pub(super) struct Task {
    future: Option<Boxed>,
    woken: Arc<Woken>,
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Task {
    pub(super) fn new(future: impl Future<Output = ()> + 'static) -> Self {
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        Self { future: Some(Box::pin(future)), woken }
    }

    /// Polls it if it was woken; tells whether it was.
    pub(super) fn run(&mut self) -> bool {
        let Some(future) = &mut self.future else { return false };
        if !self.woken.0.swap(false, Ordering::Relaxed) {
            return false;
        }
        let waker = Waker::from(Arc::clone(&self.woken));
        if future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
            self.future = None;
        }
        true
    }

    pub(super) fn is_done(&self) -> bool {
        self.future.is_none()
    }
}
