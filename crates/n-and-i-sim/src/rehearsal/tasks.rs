//! Futures that run when they were woken.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use super::Boxed;

/// A future, until it is done.
pub(super) struct Task {
    future: Option<Boxed>,
    woken: Arc<Woken>,
    panic: Option<String>,
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
        Self { future: Some(Box::pin(future)), woken, panic: None }
    }

    /// Polls it if it was woken; tells whether it was. If it panics it is done, with the message.
    pub(super) fn run(&mut self) -> bool {
        let Some(future) = &mut self.future else { return false };
        if !self.woken.0.swap(false, Ordering::Relaxed) {
            return false;
        }
        let waker = Waker::from(Arc::clone(&self.woken));
        let mut context = Context::from_waker(&waker);
        // Not looked at again after a panic.
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut context))) {
            Ok(Poll::Pending) => {}
            Ok(Poll::Ready(())) => self.future = None,
            Err(payload) => {
                let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
                let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
                self.panic = Some(text.unwrap_or_else(|| "no text".to_owned()));
                self.future = None;
            }
        }
        true
    }

    /// The message of its panic, as yet unread.
    pub(super) fn take_panic(&mut self) -> Option<String> {
        self.panic.take()
    }

    pub(super) fn is_done(&self) -> bool {
        self.future.is_none()
    }
}
