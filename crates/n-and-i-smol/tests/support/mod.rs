//! An executor of the test's own, and short intervals.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use n_and_i::{Config, Lease, Peers};
use n_and_i_test_support::unique_name;
use smol::channel::{Receiver, Sender, bounded};
use smol::{Executor, Timer};

pub(crate) const INTERVAL: Duration = Duration::from_millis(150);

/// So generous that only a real failure reaches it.
const LIMIT: Duration = Duration::from_secs(60);

/// A group of its own.
pub(crate) fn config() -> Config {
    Config::new(unique_name("smol"), INTERVAL).unwrap()
}

/// Threads that run an executor until this is dropped.
pub(crate) struct Pool {
    pub(crate) executor: Arc<Executor<'static>>,
    stop: Sender<()>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    pub(crate) fn start(threads: usize) -> Self {
        let executor = Arc::new(Executor::new());
        let (stop, stopped) = bounded(1);
        let run = |_| {
            let (executor, stopped): (_, Receiver<()>) = (Arc::clone(&executor), stopped.clone());
            thread::spawn(move || {
                // Fails when the pool closes the channel.
                let _ = smol::block_on(executor.run(stopped.recv()));
            })
        };
        let threads = (0..threads).map(run).collect();
        Self { executor, stop, threads }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.stop.close();
        for thread in self.threads.drain(..) {
            thread.join().expect("an executor's thread survives its tasks");
        }
    }
}

/// The next lease that is handed over.
pub(crate) async fn lease(peers: &mut Peers) -> Lease {
    let handed_over = async {
        loop {
            let change = peers.next().await.expect("the worker goes on");
            if let Some(lease) = change.lease() {
                return lease.clone();
            }
        }
    };
    let never = async {
        Timer::after(LIMIT).await;
        panic!("waited {LIMIT:?} in vain for a lease")
    };
    smol::future::or(handed_over, never).await
}
