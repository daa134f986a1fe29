//! Workers on async-std's executor, which all tests of this file share.

use std::time::Duration;

use async_std::task;
use n_and_i::{Config, Lease, MemoryRegistry, Peers, Reason};
use n_and_i::{Registered, RegistrationError, Registry, Request};
use n_and_i_async_std::discover;
use n_and_i_test_support::{Members, drops_late_work, eventually, unique_name};

const INTERVAL: Duration = Duration::from_millis(150);

/// A group of its own.
fn config() -> Config {
    Config::new(unique_name("async-std"), INTERVAL).unwrap()
}

/// The next lease that is handed over.
async fn lease(peers: &mut Peers) -> Lease {
    let handed_over = async {
        loop {
            let change = peers.next().await.expect("the worker goes on");
            if let Some(lease) = change.lease() {
                return lease.clone();
            }
        }
    };
    // So generous a limit that only a real failure reaches it.
    let owned = async_std::future::timeout(Duration::from_secs(60), handed_over).await;
    owned.expect("a lease is handed over")
}

fn join(members: &mut Members, registry: &MemoryRegistry, config: &Config) -> usize {
    let (worker, consumer) = members.join(discover(registry.clone(), config.clone()));
    drop(task::spawn(consumer));
    worker
}

#[test]
fn a_group_settles_and_follows_those_who_join_and_leave() {
    let (registry, config) = (MemoryRegistry::new(), config());
    let mut members = Members::new();
    let first = join(&mut members, &registry, &config);
    let second = join(&mut members, &registry, &config);
    members.settled();
    join(&mut members, &registry, &config);
    members.settled();
    members.leave(first);
    members.settled();
    members.leave(second);
    members.settled();
    members.check();
}

#[test]
fn hundreds_of_workers_share_the_executor() {
    const WORKERS: u32 = 200;
    let registry = MemoryRegistry::new();
    let config = Config::new("many", 10 * INTERVAL).unwrap();
    let mut members = Members::new();
    for _ in 0..WORKERS {
        join(&mut members, &registry, &config);
    }
    assert!(members.settled().iter().all(|pair| pair.n() == WORKERS));
    members.check();
}

#[test]
fn a_stopped_worker_hands_over_one_last_idle_change_and_its_lease_is_dead() {
    task::block_on(async {
        let mut peers = discover(MemoryRegistry::new(), config());
        let held = lease(&mut peers).await;
        assert!(held.owns(7) && held.is_live());
        peers.stop();
        // Another one may have come before, if the machine was too busy to renew in time.
        let mut last = None;
        while let Some(change) = peers.next().await {
            last = Some(change);
        }
        assert_eq!(last.unwrap().reason(), Some(Reason::Stopped));
        assert!(!held.is_live());
        assert!(peers.next().await.is_none());
    });
}

#[test]
fn the_run_loop_drops_work_that_outlasts_its_drain_window() {
    task::block_on(drops_late_work(discover(MemoryRegistry::new(), config())));
}

#[test]
fn a_worker_whose_stream_is_dropped_registers_no_more() {
    let (registry, config) = (MemoryRegistry::new(), config());
    let mut members = Members::new();
    let (lost, consumer) = members.join(discover(registry.clone(), config.clone()));
    let consumer = task::spawn(consumer);
    join(&mut members, &registry, &config);
    members.settled();
    let held = members.lease(lost);
    task::block_on(consumer.cancel());
    assert!(!held.is_some_and(|held| held.is_live()));
    members.lose(lost);
    // Alone now.
    assert_eq!(members.settled()[0].n(), 1);
    members.check();
}

#[test]
fn a_consumer_that_panics_ends_its_own_worker_only() {
    let (registry, config) = (MemoryRegistry::new(), config());
    let mut members = Members::new();
    join(&mut members, &registry, &config);
    let mut peers = discover(registry, config);
    let (held, holds) = std::sync::mpsc::channel();
    drop(task::spawn(async move {
        held.send(lease(&mut peers).await).unwrap();
        panic!("a bug in a consumer, as this test wants it");
    }));
    let held = holds.recv().unwrap();
    eventually("the lease is given back", || (!held.is_live()).then_some(()));
    assert_eq!(members.settled()[0].n(), 1);
    members.check();
}

#[test]
fn a_registry_that_panics_ends_its_own_worker_only() {
    struct Panicking;
    impl Registry for Panicking {
        async fn register(&self, _: Request<'_>) -> Result<Registered, RegistrationError> {
            panic!("a bug in a registry, as this test wants it");
        }

        fn kind(&self) -> &'static str {
            "panicking"
        }
    }

    let mut sound = discover(MemoryRegistry::new(), config());
    let mut broken = discover(Panicking, config());
    task::block_on(async {
        while broken.next().await.is_some() {}
        lease(&mut sound).await;
    });
}

#[test]
fn a_consumer_that_blocks_a_thread_of_its_own_does_not_matter_to_others() {
    let (registry, config) = (MemoryRegistry::new(), config());
    let mut members = Members::new();
    let other = join(&mut members, &registry, &config);
    let mut peers = discover(registry, config);
    let blocked = task::block_on(lease(&mut peers));
    // Nobody looks at this stream from here on, yet its worker goes on sharing with the other.
    let late = blocked.ends().saturating_add(5 * INTERVAL);
    eventually("the other worker goes on", || {
        members.lease(other).filter(|lease| lease.ends() > late && lease.share().pair().n() == 2)
    });
    members.check();
}

#[test]
fn the_consumer_may_live_on_any_thread() {
    let mut peers = discover(MemoryRegistry::new(), config());
    std::thread::spawn(move || task::block_on(lease(&mut peers))).join().unwrap();
}
