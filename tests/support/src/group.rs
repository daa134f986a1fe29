//! A group of workers on Tokio that keeps a record of what each owned.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use n_and_i::{Config, Lease, Pair, Peers, Reason, Registry, Share, StopHandle};
use tokio::task::JoinHandle;

use crate::history::{History, drain_deadline, everything};
use crate::wait::eventually_async;

/// How often a consumer looks whether its lease was renewed.
const LOOK: Duration = Duration::from_millis(3);

/// Workers of one group, each with a consumer that takes every change at once.
#[derive(Debug)]
pub struct Group {
    history: Arc<History>,
    members: BTreeMap<usize, Member>,
    joined: usize,
}

#[derive(Debug)]
struct Member {
    seen: Arc<Mutex<Vec<Seen>>>,
    stop: StopHandle,
    consumer: JoinHandle<()>,
}

/// A change as a consumer saw it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The lease, or why there is none.
    pub owned: Result<Lease, Reason>,
    /// The stage.
    pub stage: Option<u64>,
}

impl Seen {
    /// What is owned.
    pub fn share(&self) -> Option<Share> {
        self.owned.as_ref().ok().map(Lease::share)
    }
}

impl Group {
    /// A group without workers.
    #[expect(clippy::new_without_default, reason = "a group is made to be joined, not filled in")]
    pub fn new() -> Self {
        Self { history: Arc::default(), members: BTreeMap::new(), joined: 0 }
    }

    /// A new worker joins. Returns its number.
    ///
    /// # Panics
    /// Outside a Tokio runtime.
    pub fn join<R: Registry>(&mut self, registry: R, config: &Config) -> usize {
        let worker = self.joined;
        self.joined += 1;
        let peers = n_and_i_tokio::discover(registry, config.clone()).expect("a Tokio runtime");
        let stop = peers.stop_handle();
        let seen = Arc::default();
        let consumer =
            tokio::spawn(consume(worker, peers, Arc::clone(&seen), Arc::clone(&self.history)));
        self.members.insert(worker, Member { seen, stop, consumer });
        worker
    }

    /// The worker stops in order. Returns all that its consumer saw, to the end of the stream.
    ///
    /// # Panics
    /// If there is no such worker or its consumer panicked.
    pub async fn leave(&mut self, worker: usize) -> Vec<Seen> {
        let mut member = self.members.remove(&worker).expect("a worker of this group");
        member.stop.stop();
        (&mut member.consumer).await.expect("the consumer ends with the stream");
        member.seen()
    }

    /// The worker vanishes without a word.
    ///
    /// # Panics
    /// If there is no such worker.
    pub async fn crash(&mut self, worker: usize) {
        let mut member = self.members.remove(&worker).expect("a worker of this group");
        // Drops the stream, and with it the worker.
        member.consumer.abort();
        let _ = (&mut member.consumer).await;
    }

    /// Everything that the worker's consumer saw so far.
    ///
    /// # Panics
    /// If there is no such worker.
    pub fn seen(&self, worker: usize) -> Vec<Seen> {
        self.members.get(&worker).expect("a worker of this group").seen()
    }

    /// What the worker owns at this moment.
    ///
    /// # Panics
    /// If there is no such worker.
    pub fn lease(&self, worker: usize) -> Option<Lease> {
        let last = self.seen(worker).pop()?;
        last.owned.ok().filter(Lease::is_live)
    }

    /// The numbers of the present workers.
    pub fn workers(&self) -> Vec<usize> {
        self.members.keys().copied().collect()
    }

    /// Waits until the present workers together own everything, each one index. Returns the
    /// pairs by worker.
    ///
    /// # Panics
    /// If that takes too long.
    pub async fn settled(&self) -> Vec<Pair> {
        let workers = self.workers();
        eventually_async("the group settles", || {
            everything(workers.iter().map(|&worker| self.lease(worker)))
        })
        .await
    }

    /// Waits until the worker owns something, at a stage after `stage`.
    ///
    /// # Panics
    /// If that takes too long.
    pub async fn owns_after(&self, worker: usize, stage: u64) -> Lease {
        eventually_async("the worker owns again", || {
            self.lease(worker).filter(|lease| lease.stage() > stage)
        })
        .await
    }

    /// Waits until the consumer was told that the worker owns nothing.
    ///
    /// # Panics
    /// If that takes too long.
    pub async fn idle(&self, worker: usize) -> Reason {
        eventually_async("the worker is idle", || self.seen(worker).pop()?.owned.err()).await
    }

    /// Checks the record: see [`History::check`].
    ///
    /// # Panics
    /// If the promise was broken.
    pub fn check(&self) {
        self.history.check();
    }

    /// The record.
    pub fn history(&self) -> &History {
        &self.history
    }
}

impl Member {
    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Member {
    /// Vanishes with the group, if it did not before.
    fn drop(&mut self) {
        self.consumer.abort();
    }
}

async fn consume(
    worker: usize,
    mut peers: Peers,
    seen: Arc<Mutex<Vec<Seen>>>,
    history: Arc<History>,
) {
    let mut current: Option<(usize, Lease)> = None;
    loop {
        let change = tokio::select! {
            change = peers.next() => change,
            () = tokio::time::sleep(LOOK) => {
                if let Some((span, lease)) = &current {
                    history.extend(*span, lease.ends());
                }
                continue;
            }
        };
        let drain_until = change.as_ref().and_then(drain_deadline);
        if let Some((span, _)) = current.take() {
            history.end(span, drain_until);
        }
        let Some(change) = change else { break };
        let stage = change.stage();
        let owned = change.owned().cloned();
        if let Ok(lease) = &owned {
            let span = history.begin(worker, lease);
            history.extend(span, lease.ends());
            current = Some((span, lease.clone()));
        }
        seen.lock().unwrap_or_else(PoisonError::into_inner).push(Seen { owned, stage });
    }
}
