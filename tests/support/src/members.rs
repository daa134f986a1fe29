//! A group of workers on any runtime that keeps a record of what each owned.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use n_and_i::{Change, Lease, Pair, Peers, Reason, StopHandle};

use crate::history::{History, drain_deadline, everything};
use crate::wait::eventually;

/// Workers of one group, each with a consumer that takes every change at once. They are watched
/// from the test's own thread, which blocks, while their runtime runs on others.
#[derive(Debug)]
pub struct Members {
    history: Arc<History>,
    present: BTreeMap<usize, Member>,
    joined: usize,
}

#[derive(Debug)]
struct Member {
    record: Arc<Record>,
    stop: StopHandle,
}

#[derive(Debug, Default)]
struct Record(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    changes: Vec<Result<Lease, Reason>>,
    span: Option<usize>,
    ended: bool,
}

impl Members {
    /// A group without workers.
    #[expect(clippy::new_without_default, reason = "a group is made to be joined, not filled in")]
    pub fn new() -> Self {
        Self { history: Arc::default(), present: BTreeMap::new(), joined: 0 }
    }

    /// Takes in a worker. Returns its number, and its consumer, which the test spawns. The worker
    /// vanishes if that is dropped.
    pub fn join(
        &mut self,
        peers: Peers,
    ) -> (usize, impl Future<Output = ()> + Send + 'static + use<>) {
        let worker = self.joined;
        self.joined += 1;
        let record = Arc::<Record>::default();
        let member = Member { record: Arc::clone(&record), stop: peers.stop_handle() };
        self.present.insert(worker, member);
        (worker, consume(worker, peers, record, Arc::clone(&self.history)))
    }

    /// The worker stops in order. Returns all that its consumer saw, to the end of the stream.
    ///
    /// # Panics
    /// If there is no such worker or its stream does not end.
    pub fn leave(&mut self, worker: usize) -> Vec<Result<Lease, Reason>> {
        let member = self.forget(worker);
        member.stop.stop();
        let ended = || member.record.lock().ended.then_some(());
        eventually("the stream ends", ended);
        member.record.lock().changes.clone()
    }

    /// The worker's consumer was dropped by the test.
    ///
    /// # Panics
    /// If there is no such worker.
    pub fn lose(&mut self, worker: usize) {
        drop(self.forget(worker));
    }

    fn forget(&mut self, worker: usize) -> Member {
        self.present.remove(&worker).expect("a worker of this group")
    }

    /// Everything that the worker's consumer saw so far.
    ///
    /// # Panics
    /// If there is no such worker.
    pub fn changes(&self, worker: usize) -> Vec<Result<Lease, Reason>> {
        self.record(worker).lock().changes.clone()
    }

    /// What the worker owns at this moment.
    ///
    /// # Panics
    /// If there is no such worker.
    pub fn lease(&self, worker: usize) -> Option<Lease> {
        let last = self.record(worker).lock().changes.last().cloned()?;
        last.ok().filter(Lease::is_live)
    }

    /// Waits until the consumer was told that the worker owns nothing.
    ///
    /// # Panics
    /// If that takes too long.
    pub fn idle(&self, worker: usize) -> Reason {
        let last = || self.record(worker).lock().changes.last().cloned();
        eventually("the worker is idle", || last()?.err())
    }

    /// Waits until the present workers together own everything, each one index. Returns the
    /// pairs by worker.
    ///
    /// # Panics
    /// If that takes too long.
    pub fn settled(&self) -> Vec<Pair> {
        let workers: Vec<usize> = self.present.keys().copied().collect();
        eventually("the group settles", || {
            everything(workers.iter().map(|&worker| self.lease(worker)))
        })
    }

    /// Checks the record: see [`History::check`].
    ///
    /// # Panics
    /// If the promise was broken.
    pub fn check(&self) {
        for member in self.present.values() {
            member.record.lock().extend(&self.history);
        }
        self.history.check();
    }

    fn record(&self, worker: usize) -> &Record {
        &self.present.get(&worker).expect("a worker of this group").record
    }
}

impl Record {
    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    /// Writes down how far the lease was renewed.
    fn extend(&self, history: &History) {
        if let (Some(span), Some(Ok(lease))) = (self.span, self.changes.last()) {
            history.extend(span, lease.ends());
        }
    }

    fn take(&mut self, worker: usize, change: Option<&Change>, history: &History) {
        self.extend(history);
        if let Some(span) = self.span.take() {
            history.end(span, change.and_then(drain_deadline));
        }
        match change {
            Some(change) => {
                let owned = change.owned().cloned();
                self.span = owned.as_ref().ok().map(|lease| history.begin(worker, lease));
                self.changes.push(owned);
            }
            None => self.ended = true,
        }
    }
}

async fn consume(worker: usize, mut peers: Peers, record: Arc<Record>, history: Arc<History>) {
    loop {
        let change = peers.next().await;
        record.lock().take(worker, change.as_ref(), &history);
        if change.is_none() {
            break;
        }
    }
}
