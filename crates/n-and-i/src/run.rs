//! The loop that starts, drains and drops a worker's work, so that nobody writes it by hand.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use futures_core::stream::FusedStream;
use n_and_i_core::Instant;

use crate::change::Change;
use crate::lease::Lease;
use crate::peers::Peers;
use crate::report::TARGET;

/// How a [run](Peers::run) ended that did not fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Finished {
    /// The worker was stopped, and its last work was drained or dropped.
    Stopped,
    /// The work returned `Ok(())` by itself, while its lease was live.
    Returned,
}

impl Peers {
    /// Runs `work` whenever this worker owns something, until it is stopped.
    ///
    /// For each lease `work` is called and its future polled, in the task that polls `run`. When
    /// the lease is over, which [`Lease::ended`] and [`Lease::is_live`] tell, the future
    /// is to take no more tasks, finish those in flight and return. It is given time
    /// until the [drain deadline](Lease::drain_window). What has not returned by then is not polled
    /// any more and dropped, with `work dropped` in the log; what is owned meanwhile is worked on after
    /// that. If the worker went on to own all of its share and more, the time to drain is what the
    /// new lease gave when it was handed over.
    ///
    /// Ends when the worker has stopped and its last work has been drained or dropped, or when
    /// the work returns `Ok(())` while its lease is live. Then nothing is left to do, and the
    /// membership ends, since a share that nobody works on must not be kept: work that waits for more
    /// to come does not return.
    ///
    /// To stop, use [`with_graceful_shutdown`](Peers::with_graceful_shutdown) or a
    /// [`StopHandle`](crate::StopHandle). Dropping the future of `run`, as a `select!` with a signal
    /// does, drops the work where it waits and ends the membership.
    ///
    /// A future is dropped only between polls, so do not block in it. What it has spawned does
    /// not end with it: await such tasks, and abort them when they are dropped, as Tokio's `JoinSet`
    /// does.
    ///
    /// ```
    /// # async fn example(peers: n_and_i::Peers) -> Result<n_and_i::Finished, std::io::Error> {
    /// # async fn next_task(lease: &n_and_i::Lease) -> u64 { 1 }
    /// # async fn process(task: u64) -> Result<(), std::io::Error> { Ok(()) }
    /// # use futures_lite::future::or;
    /// peers
    ///     .run(async |lease| {
    ///         loop {
    ///             // Asks for the end first, also when both are ready.
    ///             let ended = async { lease.ended().await; None };
    ///             let Some(task) = or(ended, async { Some(next_task(&lease).await) }).await else {
    ///                 return Ok(());
    ///             };
    ///             process(task).await?;
    ///         }
    ///     })
    ///     .await
    /// # }
    /// ```
    ///
    /// # Errors
    /// The first error that the work returns, in a drain too. The membership ends at once.
    ///
    /// # Panics
    /// If the work does; the membership ends at once. Also, once the last work has been drained, if
    /// the driver panicked, which only a [`Registry`](crate::Registry) or a
    /// [`Runtime`](crate::Runtime) can bring about.
    pub async fn run<W, E>(mut self, mut work: W) -> Result<Finished, E>
    where
        W: AsyncFnMut(Lease) -> Result<(), E>,
    {
        // What was handed over before counts too.
        let mut next = self.handed.take();
        loop {
            while let Some(lease) = next.take() {
                if !lease.is_live() {
                    continue;
                }
                let working = pin!(work(lease.clone()));
                match self.attend(&lease, working, &mut next).await {
                    Some(Err(error)) => return Err(error),
                    Some(Ok(())) if lease.is_live() => return Ok(Finished::Returned),
                    Some(Ok(())) => {}
                    None => tracing::warn!(
                        target: TARGET,
                        group = &*self.group,
                        share = %lease.share(),
                        stage = lease.stage(),
                        "work dropped"
                    ),
                }
            }
            if self.is_terminated() {
                assert!(!self.has_panicked(), "the driver of this worker panicked");
                return Ok(Finished::Stopped);
            }
            next = self.next().await.and_then(|change| change.owned.ok());
        }
    }

    /// Polls the work on a lease until it returns or its time is over. Keeps what is owned next.
    async fn attend<F: Future>(
        &mut self,
        lease: &Lease,
        mut working: Pin<&mut F>,
        next: &mut Option<Lease>,
    ) -> Option<F::Output> {
        let mut drain_by: Option<Instant> = None;
        loop {
            // While the lease is renewed its deadline moves, so this only looks again.
            let deadline = drain_by.unwrap_or_else(|| lease.drain_window().deadline());
            let time = self.time.clone();
            let mut alarm = pin!(time.sleep_until(deadline));
            let event = poll_fn(|cx| {
                self.poll_event(cx, lease, drain_by, working.as_mut(), alarm.as_mut())
            });
            match event.await {
                Event::Change(change) => {
                    *next = change.and_then(|change| change.owned.ok());
                    drain_by.get_or_insert_with(|| lease.drain_window().deadline());
                }
                Event::Returned(output) => return Some(output),
                Event::TimeOver => return None,
                Event::Alarm => {}
            }
        }
    }

    fn poll_event<F: Future, A: Future>(
        &mut self,
        cx: &mut Context<'_>,
        lease: &Lease,
        drain_by: Option<Instant>,
        working: Pin<&mut F>,
        alarm: Pin<&mut A>,
    ) -> Poll<Event<F::Output>> {
        if !self.is_terminated()
            && let Poll::Ready(change) = self.poll_change(cx)
        {
            return Poll::Ready(Event::Change(change));
        }
        // The clock first: a process that was stopped must not go on with what is lost. A lease
        // that was seen to be over is so for good.
        let is_late = drain_by.is_some_and(|deadline| self.time.now() >= deadline);
        if is_late || (!lease.may_finish() && !lease.is_live()) {
            return Poll::Ready(Event::TimeOver);
        }
        if let Poll::Ready(output) = working.poll(cx) {
            return Poll::Ready(Event::Returned(output));
        }
        alarm.poll(cx).map(|_| Event::Alarm)
    }
}

enum Event<T> {
    /// What is owned changed, or the worker has stopped.
    Change(Option<Change>),
    Returned(T),
    TimeOver,
    /// It may be over.
    Alarm,
}
