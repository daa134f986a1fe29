//! The consumer's end.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_core::stream::FusedStream;

use crate::change::Change;
use crate::lease::Lease;
use crate::mailbox::{End, Mailbox};
use crate::report::{TARGET, numbers};
use crate::time::Time;

/// The changes of what this worker owns: a [`Stream`], also with a [`next`](Peers::next) of
/// its own.
///
/// The first change is idle ([`Reason::Starting`](crate::Reason::Starting)), unless a lease came
/// before it was taken. No change repeats the one before, except that a lease which somebody saw end
/// before it was renewed is followed by another on the same share. A change that is not taken is replaced by a newer one, never queued, and a
/// consumer that is busy does not delay registration. A settled group yields once and then
/// stays quiet.
///
/// Dropping the stream ends the worker's membership at once, without a last change. [`Peers::stop`],
/// a [`StopHandle`] or [`Peers::with_graceful_shutdown`] end it in order: if the worker owned
/// anything there is one last idle change, then the stream ends. In both cases registration stops
/// and leases are not live any more: at once if the stream is dropped, else with that change.
#[derive(Debug)]
#[must_use = "dropping it ends the worker's membership"]
pub struct Peers {
    mailbox: Arc<Mailbox>,
    pub(crate) group: Arc<str>,
    pub(crate) time: Time,
    /// What is owned, as far as the consumer was told.
    pub(crate) handed: Option<Lease>,
    ended: bool,
}

impl Peers {
    pub(crate) fn new(mailbox: Arc<Mailbox>, group: Arc<str>, time: Time) -> Self {
        Self { mailbox, group, time, handed: None, ended: false }
    }

    /// The next change; none once the worker has stopped. Cancel safe.
    pub async fn next(&mut self) -> Option<Change> {
        poll_fn(|cx| self.poll_change(cx)).await
    }

    /// Asks the worker to stop.
    pub fn stop(&self) {
        self.mailbox.request_end(End::Abort);
    }

    /// A handle that any task or thread can stop the worker with.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle { mailbox: Arc::clone(&self.mailbox) }
    }

    /// Stops the worker when `signal` completes, whatever the consumer is busy with.
    ///
    /// ```
    /// # async fn example(mut peers: n_and_i::Peers, signal: impl Future<Output = ()> + Send + 'static) {
    /// let mut peers = peers.with_graceful_shutdown(signal);
    /// while let Some(change) = peers.next().await {
    ///     // drain, then work on what is owned now
    /// }
    /// # }
    /// ```
    pub fn with_graceful_shutdown<F>(self, signal: F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.mailbox.add_signal(Box::pin(signal));
        self
    }

    /// Whether it was the driver's own fault that it ended.
    pub(crate) fn has_panicked(&self) -> bool {
        self.mailbox.has_panicked()
    }

    pub(crate) fn poll_change(&mut self, cx: &mut Context<'_>) -> Poll<Option<Change>> {
        let polled = self.mailbox.poll_take(cx);
        match &polled {
            Poll::Ready(Some(change)) => {
                self.handed = change.lease().cloned();
                if let Some(share) = change.share() {
                    let (pair, (pi, pn)) = (share.pair(), numbers(share.previous()));
                    tracing::trace!(
                        target: TARGET,
                        group = &*self.group,
                        i = pair.i(),
                        n = pair.n(),
                        pi,
                        pn,
                        "pair handed to the loop"
                    );
                }
            }
            Poll::Ready(None) => self.ended = true,
            Poll::Pending => {}
        }
        polled
    }
}

impl Stream for Peers {
    type Item = Change;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Change>> {
        self.poll_change(cx)
    }
}

impl FusedStream for Peers {
    fn is_terminated(&self) -> bool {
        self.ended
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        self.mailbox.request_end(End::Closed);
    }
}

/// Stops one worker from anywhere. Cheap to clone; does nothing once the worker has stopped.
#[derive(Clone, Debug)]
pub struct StopHandle {
    mailbox: Arc<Mailbox>,
}

impl StopHandle {
    /// Asks the worker to stop. Returns at once; the stream ends when the worker has stopped.
    pub fn stop(&self) {
        self.mailbox.request_end(End::Abort);
    }
}
