//! The one place through which the driver and the consumer meet.

use std::fmt;
use std::mem;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::change::Change;
use crate::lease::Lease;

pub(crate) type Signal = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Holds at most one unread change: a newer one replaces it, so a slow consumer never delays
/// the driver. Carries the wish to stop the other way.
#[derive(Default)]
pub(crate) struct Mailbox {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    unread: Option<Change>,
    /// What is owned, read or not.
    lease: Option<Lease>,
    /// Whether the consumer was handed anything, and whether that was a lease.
    handed: Option<bool>,
    finished: bool,
    panicked: bool,
    end: Option<End>,
    signals: Vec<Signal>,
    consumer: Option<Waker>,
    driver: Option<Waker>,
}

/// Why the driver is to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// Asked to stop: one last idle change if anything is owned.
    Abort,
    /// The stream was dropped: nobody is there to be told.
    Closed,
}

impl Mailbox {
    // ---- the driver's side ----

    /// Leaves a change for the consumer, in place of any unread one.
    pub(crate) fn post(&self, mut change: Change) {
        let mut state = self.lock();
        let replaced = state.unread.take();
        state.lease = change.lease().cloned();
        if state.handed == Some(true) {
            // What the consumer still works on was lost with the first change that it never saw.
            change.drain = replaced.and_then(|replaced| replaced.drain).or(change.drain);
        } else {
            change.drain = None;
        }
        // Who was handed idle last, or replaces an unread lease by idle, learns nothing new.
        if change.lease().is_some() || state.handed != Some(false) {
            state.unread = Some(change);
        }
        wake(state.consumer.take(), state);
    }

    /// No change will follow, possibly because the driver panicked.
    pub(crate) fn finish(&self, panicked: bool) {
        let mut state = self.lock();
        state.finished = true;
        state.panicked = panicked;
        let (signals, driver) = (mem::take(&mut state.signals), state.driver.take());
        wake(state.consumer.take(), state);
        // Foreign code, which may well stop this very worker.
        drop((signals, driver));
    }

    /// Whether to end, and why. Hands over new signals to wait for.
    pub(crate) fn poll_end(&self, cx: &mut Context<'_>, signals: &mut Vec<Signal>) -> Poll<End> {
        let mut state = self.lock();
        signals.append(&mut state.signals);
        if let Some(end) = state.end {
            return Poll::Ready(end);
        }
        let replaced = state.driver.replace(cx.waker().clone());
        drop(state);
        drop(replaced);
        Poll::Pending
    }

    // ---- the consumer's side ----

    /// The unread change; none once the driver has finished and everything was read.
    pub(crate) fn poll_take(&self, cx: &mut Context<'_>) -> Poll<Option<Change>> {
        let mut state = self.lock();
        if let Some(change) = state.unread.take() {
            state.handed = Some(change.lease().is_some());
            return Poll::Ready(Some(change));
        }
        if state.finished {
            return Poll::Ready(None);
        }
        let replaced = state.consumer.replace(cx.waker().clone());
        drop(state);
        drop(replaced);
        Poll::Pending
    }

    /// Asks the driver to end. The first reason counts.
    pub(crate) fn request_end(&self, end: End) {
        let mut state = self.lock();
        state.end.get_or_insert(end);
        let lease = state.lease.clone().filter(|_| end == End::Closed);
        wake(state.driver.take(), state);
        // Wakes foreign code too.
        if let Some(lease) = lease {
            lease.revoke();
        }
    }

    /// Whether the driver panicked.
    pub(crate) fn has_panicked(&self) -> bool {
        self.lock().panicked
    }

    /// Has the driver stop when the signal completes.
    pub(crate) fn add_signal(&self, signal: Signal) {
        let mut state = self.lock();
        if state.finished {
            return;
        }
        state.signals.push(signal);
        wake(state.driver.take(), state);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing between lock and unlock can leave the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes after the lock is released: a waker is foreign code, and the woken side needs the lock.
fn wake(waker: Option<Waker>, state: MutexGuard<'_, State>) {
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl fmt::Debug for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Mailbox")
            .field("unread", &state.unread)
            .field("finished", &state.finished)
            .field("end", &state.end)
            .finish_non_exhaustive()
    }
}
