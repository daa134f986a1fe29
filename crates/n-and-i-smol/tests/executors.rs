//! Workers on executors of one's own.

mod support;

use std::sync::Arc;
use std::sync::mpsc;

use n_and_i::{MemoryRegistry, Peers, Reason, StopHandle};
use n_and_i_smol::{Smol, discover_on};
use n_and_i_test_support::{Members, eventually};
use smol::{Executor, LocalExecutor, block_on};
use support::{INTERVAL, Pool, config, lease};

#[test]
fn any_number_of_threads_runs_a_group() {
    for threads in [1, 2, 4] {
        let pool = Pool::start(threads);
        let (registry, config) = (MemoryRegistry::new(), config());
        let mut members = Members::new();
        for _ in 0..4 {
            let peers = discover_on(&pool.executor, registry.clone(), config.clone());
            let (_, consumer) = members.join(peers);
            pool.executor.spawn(consumer).detach();
        }
        members.settled();
        members.leave(2);
        members.settled();
        members.check();
    }
}

#[test]
fn hundreds_of_workers_share_one_thread() {
    const WORKERS: u32 = 200;
    let pool = Pool::start(1);
    let registry = MemoryRegistry::new();
    let config = n_and_i::Config::new("many", 10 * INTERVAL).unwrap();
    let mut members = Members::new();
    for _ in 0..WORKERS {
        let peers = discover_on(&pool.executor, registry.clone(), config.clone());
        let (_, consumer) = members.join(peers);
        pool.executor.spawn(consumer).detach();
    }
    assert!(members.settled().iter().all(|pair| pair.n() == WORKERS));
    members.check();
}

#[test]
fn an_executor_that_is_dropped_ends_the_stream_in_order() {
    for owning in [true, false] {
        let executor = Executor::new();
        let mut peers = discover_on(&executor, MemoryRegistry::new(), config());
        let held = owning.then(|| block_on(executor.run(lease(&mut peers))));
        drop(executor);
        assert!(!held.is_some_and(|held| held.is_live()));
        block_on(async {
            let mut last = None;
            while let Some(change) = peers.next().await {
                last = Some(change);
            }
            let reason = last.and_then(|change| change.reason());
            assert_eq!(reason, owning.then_some(Reason::Stopped));
        });
    }
}

#[test]
fn an_executor_that_nobody_runs_loses_the_lease_on_time_and_goes_on_when_run_again() {
    let executor = Executor::new();
    let mut peers = discover_on(&executor, MemoryRegistry::new(), config());
    let held = block_on(executor.run(lease(&mut peers)));
    eventually("the lease ends", || (!held.is_live()).then_some(()));
    block_on(executor.run(async {
        let next = peers.next().await.expect("the worker goes on");
        assert_eq!(next.reason(), Some(Reason::Expired));
        assert!(lease(&mut peers).await.stage() > held.stage());
    }));
}

#[test]
fn a_local_executor_runs_the_driver_that_it_is_given() {
    let executor = LocalExecutor::new();
    let (mut peers, driver) = n_and_i::discover(MemoryRegistry::new(), Smol::new(), config());
    executor.spawn(driver).detach();
    block_on(executor.run(lease(&mut peers)));
}

#[test]
fn an_executor_that_borrows_is_good_enough() {
    let registry = MemoryRegistry::new();
    let workers = 2;
    let executor = Executor::new();
    executor.spawn(async { assert_eq!(workers, 2) }).detach();
    let mut peers = discover_on(&executor, registry, config());
    block_on(executor.run(lease(&mut peers)));
}

#[test]
fn a_consumer_that_blocks_its_thread_does_not_matter_to_others_on_the_executor() {
    let pool = Pool::start(2);
    let (registry, config) = (MemoryRegistry::new(), config());
    let mut members = Members::new();
    let (other, consumer) =
        members.join(discover_on(&pool.executor, registry.clone(), config.clone()));
    pool.executor.spawn(consumer).detach();
    let (tell, told) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let mut peers = discover_on(&pool.executor, registry, config);
    let blocking = pool.executor.spawn(async move {
        tell.send(lease(&mut peers).await).unwrap();
        // Until the test is done.
        released.recv().unwrap();
        peers
    });
    let blocked = told.recv().unwrap();
    let stage = blocked.stage();
    // Both drivers go on, so the other worker goes on sharing with the one that is blocked.
    let late = blocked.ends().saturating_add(5 * INTERVAL);
    eventually("the other worker goes on", || {
        members.lease(other).filter(|lease| lease.ends() > late && lease.share().pair().n() == 2)
    });
    release.send(()).unwrap();
    let mut peers: Peers = block_on(blocking);
    block_on(async {
        // Still held, or lost and regained meanwhile if the machine was busy.
        if !blocked.is_live() {
            assert!(lease(&mut peers).await.stage() > stage);
        }
    });
    members.check();
}

#[test]
fn a_signal_that_stops_the_worker_when_dropped_is_no_deadlock() {
    struct StopsWhenDropped(StopHandle);
    impl Drop for StopsWhenDropped {
        fn drop(&mut self) {
            self.0.stop();
        }
    }

    let (done, finished) = mpsc::channel();
    std::thread::spawn(move || {
        let executor = Arc::new(Executor::new());
        let peers = discover_on(&executor, MemoryRegistry::new(), config());
        let guard = StopsWhenDropped(peers.stop_handle());
        let peers = peers.with_graceful_shutdown(async move {
            std::future::pending::<()>().await;
            drop(guard);
        });
        // Ends the driver, which was never polled, and with it the signal.
        drop(executor);
        drop(peers);
        done.send(()).unwrap();
    });
    finished.recv_timeout(std::time::Duration::from_secs(60)).expect("no deadlock");
}
