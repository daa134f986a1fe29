//! The workers: each with a driver and a loop of its own, as in processes of their own.

use n_and_i::{Change, Config, Registry, StopHandle};
use n_and_i_tokio::Tokio;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;

/// A growing group of workers, numbered from 0 in the order they join.
#[derive(Debug)]
pub(crate) struct Group<R> {
    number: usize,
    registry: R,
    config: Config,
    workers: Vec<Worker>,
    reports: UnboundedSender<Report>,
}

#[derive(Debug)]
struct Worker {
    driver: JoinHandle<()>,
    stop: StopHandle,
}

/// What a worker's loop was handed.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) group: usize,
    pub(crate) worker: usize,
    pub(crate) change: Change,
}

impl<R: Registry + Clone> Group<R> {
    /// A group that reports under this number.
    pub(crate) fn new(
        number: usize,
        registry: R,
        config: Config,
        reports: UnboundedSender<Report>,
    ) -> Self {
        Self { number, registry, config, workers: Vec::new(), reports }
    }

    /// Starts one more worker.
    pub(crate) fn join(&mut self) {
        let (mut peers, driver) =
            n_and_i::discover(self.registry.clone(), Tokio::new(), self.config.clone());
        let stop = peers.stop_handle();
        let driver = tokio::spawn(driver);
        let (group, worker, reports) = (self.number, self.workers.len(), self.reports.clone());
        tokio::spawn(async move {
            while let Some(change) = peers.next().await {
                if reports.send(Report { group, worker, change }).is_err() {
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

    /// Stops all workers. What they are handed last they still report.
    pub(crate) fn stop(self) {
        for worker in &self.workers {
            worker.stop.stop();
        }
    }
}
