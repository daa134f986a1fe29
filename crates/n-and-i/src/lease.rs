//! What a consumer holds while it owns something.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use event_listener::Event;
use n_and_i_core::{Instant, Share};

use crate::drain::DrainWindow;
use crate::time::Time;

/// An exclusive lease on a share. Cheap to clone; any thread may ask it.
///
/// It has two ends. Tasks may be *begun* while it [is live](Lease::is_live). What was begun may
/// be [finished](Lease::may_finish) until the drain deadline, which is a little later; up to
/// then nobody else is handed one of the tasks.
#[derive(Clone, Debug)]
pub struct Lease {
    share: Share,
    stage: u64,
    token: u64,
    term: Arc<Term>,
}

impl Lease {
    /// The lease of the core, in a group with intervals of this many milliseconds. One that
    /// takes the place of another which nothing was lost of lengthens the time to finish for both.
    pub(crate) fn new(
        granted: n_and_i_core::Lease,
        interval_millis: u64,
        extends: Option<&Self>,
        time: Time,
    ) -> Self {
        let finish = match extends {
            Some(before) => Arc::clone(&before.term.finish_by),
            None => Arc::default(),
        };
        let ends = AtomicU64::new(granted.ends.as_nanos());
        finish.store(granted.drain_until.as_nanos(), Ordering::Release);
        Self {
            share: granted.share,
            stage: granted.stage,
            token: granted.stage.saturating_mul(interval_millis),
            term: Arc::new(Term { ends, finish_by: finish, ended: Event::new(), time }),
        }
    }

    /// What is leased.
    pub fn share(&self) -> Share {
        self.share
    }

    /// Whether the task belongs to the leased share: `task_id % n == i`. Says nothing about
    /// whether the lease is still live.
    pub fn owns(&self, task_id: u64) -> bool {
        self.share.owns(task_id)
    }

    /// Whether the key belongs to the leased share, by a hash of its bytes: see
    /// [`Share::owns_key`]. Says nothing about whether the lease is still live.
    pub fn owns_key(&self, key: impl AsRef<[u8]>) -> bool {
        self.share.owns_key(key)
    }

    /// The stage at which the lease was granted: the number of an interval.
    pub fn stage(&self) -> u64 {
        self.stage
    }

    /// The fencing token: the start of the [stage](Lease::stage) in milliseconds since the
    /// Unix epoch, by the registry's clock. Of two owners of one task, the later has the
    /// greater token, also if the group's interval was changed in between.
    pub fn token(&self) -> u64 {
        self.token
    }

    /// Whether the lease is held at this moment: a clock read and a comparison. To be asked
    /// before a task is begun.
    ///
    /// False from the lease's end on, and for good: once anybody was told so, this lease is not
    /// renewed any more; if the share is owned still, a new one follows. That holds from the first moment
    /// after a suspended computer or a stopped process runs again, before any loop had a chance to.
    pub fn is_live(&self) -> bool {
        let ends = &self.term.ends;
        let mut end = ends.load(Ordering::Acquire);
        loop {
            if self.term.time.now().as_nanos() < end {
                return true;
            }
            // Unless it is renewed at this moment.
            match ends.compare_exchange(end, REVOKED, Ordering::AcqRel, Ordering::Acquire) {
                Ok(REVOKED) => return false,
                Ok(_) => {
                    self.term.ended.notify(usize::MAX);
                    return false;
                }
                Err(renewed) => end = renewed,
            }
        }
    }

    /// When the lease ends unless it is renewed meanwhile, on the clock of the
    /// [`Runtime`](crate::Runtime); its origin once the lease is over.
    pub fn ends(&self) -> Instant {
        Instant::from_nanos(self.term.ends.load(Ordering::Acquire))
    }

    /// How long the lease lasts unless it is renewed meanwhile; zero once it is over.
    pub fn remaining(&self) -> Duration {
        self.ends().saturating_duration_since(self.term.time.now())
    }

    /// Completes when the lease is over, be it that the share changed, that it was not renewed in
    /// time or that the worker stopped: stop taking tasks, finish what is in flight.
    ///
    /// Whenever it is polled it asks the clock; it is woken when the driver notices. So poll it first:
    /// `biased` in a `select!`. Cancel safe, and independent of the lease's lifetime.
    pub fn ended(&self) -> impl Future<Output = ()> + Send + use<> {
        let lease = self.clone();
        let mut listener = None;
        poll_fn(move |cx| {
            while lease.is_live() {
                let told = listener.get_or_insert_with(|| lease.term.ended.listen());
                // It may have ended before it was listened to.
                if lease.is_live() && Pin::new(told).poll(cx).is_pending() {
                    return Poll::Pending;
                }
                listener = None;
            }
            Poll::Ready(())
        })
    }

    /// Whether work that was begun under the lease may still be finished: before its
    /// [drain deadline](Lease::drain_window). To be asked before an effect that must not
    /// happen when somebody else may have begun the same task.
    pub fn may_finish(&self) -> bool {
        self.term.time.now() < self.finish_by()
    }

    /// Until when work begun under the lease may be finished. While the lease is live, that
    /// is if it should not be renewed again.
    ///
    /// A lease that was followed by one on all of its share and more lets work be finished
    /// as long as the new one does.
    pub fn drain_window(&self) -> DrainWindow {
        DrainWindow::new(self.finish_by(), self.term.time.clone())
    }

    fn finish_by(&self) -> Instant {
        Instant::from_nanos(self.term.finish_by.load(Ordering::Acquire))
    }

    /// Unless it was revoked or seen to be over. Whether it was renewed. What may be finished
    /// is so in both cases.
    pub(crate) fn renew(&self, ends: Instant, drain_until: Instant) -> bool {
        // First, so that nobody sees a live lease under which nothing may be finished.
        self.term.finish_by.store(drain_until.as_nanos(), Ordering::Release);
        let renewed = |old: u64| (old != REVOKED).then_some(ends.as_nanos());
        self.term.ends.fetch_update(Ordering::AcqRel, Ordering::Acquire, renewed).is_ok()
    }

    pub(crate) fn revoke(&self) {
        self.term.ends.store(REVOKED, Ordering::Release);
        self.term.ended.notify(usize::MAX);
    }
}

/// The end of a lease that was revoked: the origin of every clock.
const REVOKED: u64 = 0;

#[derive(Debug)]
struct Term {
    ends: AtomicU64,
    /// Shared with the leases that this one extends.
    finish_by: Arc<AtomicU64>,
    ended: Event,
    time: Time,
}
