//! The workers: each with a driver and a loop of its own, as in processes of their own.

use n_and_i::{Change, Config, Registry, StopHandle};
use n_and_i_tokio::Tokio;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

/// A growing group of workers, numbered from 0 in the order they join.
#[derive(Debug)]
pub(crate) struct Group<R> {
    registry: R,
    config: Config,
    workers: Vec<Worker>,
    sender: UnboundedSender<Report>,
    receiver: UnboundedReceiver<Report>,
}

#[derive(Debug)]
struct Worker {
    driver: JoinHandle<()>,
    stop: StopHandle,
}

/// What a worker's loop was handed.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) worker: usize,
    pub(crate) change: Change,
}

impl<R: Registry + Clone> Group<R> {
    pub(crate) fn new(registry: R, config: Config) -> Self {
        let (sender, receiver) = unbounded_channel();
        Self { registry, config, workers: Vec::new(), sender, receiver }
    }

    /// Starts one more worker.
    pub(crate) fn join(&mut self) {
        let (mut peers, driver) =
            n_and_i::discover(self.registry.clone(), Tokio::new(), self.config.clone());
        let stop = peers.stop_handle();
        let driver = tokio::spawn(driver);
        let (worker, sender) = (self.workers.len(), self.sender.clone());
        tokio::spawn(async move {
            while let Some(change) = peers.next().await {
                if sender.send(Report { worker, change }).is_err() {
                    break;
                }
            }
        });
        self.workers.push(Worker { driver, stop });
    }

    /// Ends a worker without a goodbye: its driver is gone from one moment to the next, and
    /// what it has registered in the open interval stays counted.
    pub(crate) async fn crash(&mut self, worker: usize) {
        let driver = &mut self.workers[worker].driver;
        driver.abort();
        // That it was aborted is no news.
        let _ = driver.await;
    }

    /// What a worker was handed next. Cancel safe.
    pub(crate) async fn next(&mut self) -> Report {
        match self.receiver.recv().await {
            Some(report) => report,
            // Not reached: the group has a sender itself.
            None => std::future::pending().await,
        }
    }

    /// What a worker was handed, if anything new.
    pub(crate) fn try_next(&mut self) -> Option<Report> {
        self.receiver.try_recv().ok()
    }

    /// Stops all workers. What they are handed last is left to receive.
    pub(crate) fn stop(self) -> UnboundedReceiver<Report> {
        for worker in &self.workers {
            worker.stop.stop();
        }
        self.receiver
    }
}
