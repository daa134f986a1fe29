//! Workers on smol's global executor, which all tests of this file share.

mod support;

use n_and_i::{MemoryRegistry, Reason, Registered, RegistrationError, Registry, Request};
use n_and_i_smol::{Smol, discover};
use n_and_i_test_support::{Log, Members, drops_late_work, eventually};
use smol::stream::StreamExt;
use support::{INTERVAL, config, lease};

#[test]
fn a_group_settles_and_follows_those_who_join_and_leave() {
    let (registry, config) = (MemoryRegistry::new(), config());
    let mut members = Members::new();
    let join = |members: &mut Members| {
        let (worker, consumer) = members.join(discover(registry.clone(), config.clone()));
        smol::spawn(consumer).detach();
        worker
    };
    let first = join(&mut members);
    let second = join(&mut members);
    members.settled();
    join(&mut members);
    members.settled();
    members.leave(first);
    members.settled();
    members.leave(second);
    members.settled();
    members.check();
}

#[test]
fn a_stopped_worker_hands_over_one_last_idle_change_and_its_lease_is_dead() {
    smol::block_on(async {
        let mut peers = discover(MemoryRegistry::new(), config());
        let held = lease(&mut peers).await;
        assert!(held.owns(7) && held.is_live());
        peers.stop_handle().stop();
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
    smol::block_on(drops_late_work(discover(MemoryRegistry::new(), config())));
}

#[test]
fn a_signal_stops_the_worker() {
    smol::block_on(async {
        let (stop, stopped) = smol::channel::bounded::<()>(1);
        let mut peers = discover(MemoryRegistry::new(), config())
            .with_graceful_shutdown(std::future::pending())
            .with_graceful_shutdown(async move {
                let _ = stopped.recv().await;
            });
        lease(&mut peers).await;
        stop.close();
        while peers.next().await.is_some() {}
    });
}

#[test]
fn a_worker_whose_stream_is_dropped_registers_no_more() {
    let (registry, config) = (MemoryRegistry::new(), config());
    let mut members = Members::new();
    let mut consumers = Vec::new();
    for _ in 0..2 {
        let (_, consumer) = members.join(discover(registry.clone(), config.clone()));
        consumers.push(smol::spawn(consumer));
    }
    members.settled();
    let held = members.lease(0);
    smol::block_on(consumers.swap_remove(0).cancel());
    assert!(!held.is_some_and(|held| held.is_live()));
    members.lose(0);
    // Alone now.
    assert_eq!(members.settled()[0].n(), 1);
    members.check();
}

#[test]
fn the_stream_is_a_stream() {
    let peers = discover(MemoryRegistry::new(), config());
    let lease = smol::block_on(peers.filter_map(|change| change.lease().cloned()).next());
    assert!(lease.is_some());
}

#[test]
fn the_consumer_may_live_on_any_executor() {
    let mut peers = discover(MemoryRegistry::new(), config());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    runtime.block_on(lease(&mut peers));
}

#[test]
fn a_consumer_that_panics_ends_its_own_worker_only() {
    let (registry, config) = (MemoryRegistry::new(), config());
    let mut members = Members::new();
    let (_, consumer) = members.join(discover(registry.clone(), config.clone()));
    smol::spawn(consumer).detach();
    let mut peers = discover(registry, config);
    let (held, holds) = std::sync::mpsc::channel();
    let panicking = smol::spawn(async move {
        held.send(lease(&mut peers).await).unwrap();
        panic!("a bug in a consumer, as this test wants it");
    });
    panicking.detach();
    let held = holds.recv().unwrap();
    eventually("the lease is given back", || (!held.is_live()).then_some(()));
    assert_eq!(members.settled()[0].n(), 1);
    members.check();
}

#[test]
fn a_consumer_that_blocks_a_thread_of_its_own_keeps_its_lease() {
    let (registry, config) = (MemoryRegistry::new(), config());
    let mut peers = discover(registry.clone(), config.clone());
    let held = smol::block_on(lease(&mut peers));
    let ends = held.ends().saturating_add(5 * INTERVAL);
    // The stream is not looked at from here on: the lease is renewed all the same, or lost and
    // another one granted if the machine is busy.
    eventually("registration goes on", || {
        if held.ends() > ends {
            return Some(());
        }
        (!held.is_live()).then(|| drop(smol::block_on(lease(&mut peers))))
    });
}

#[test]
fn a_registry_that_panics_ends_its_own_worker_and_the_log_says_so() {
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
    let log = Log::default();
    let (mut peers, driver) = n_and_i::discover(Panicking, Smol::new(), config());
    let logged = log.clone();
    // The log is the thread's, so the driver is run on one of the test's own.
    let failed = std::thread::spawn(move || {
        let _logging = tracing::subscriber::set_default(logged);
        let executor = smol::Executor::new();
        executor.spawn(driver).detach();
        smol::block_on(executor.run(async { while peers.next().await.is_some() {} }));
    });
    failed.join().expect("the executor goes on");
    let stopped = log.find("discover stopped").expect("the end is logged");
    assert_eq!((stopped.level, &*stopped.fields["reason"]), (tracing::Level::ERROR, "panicked"));

    let mut broken = discover(Panicking, config());
    smol::block_on(async {
        while broken.next().await.is_some() {}
        lease(&mut sound).await;
    });
}
