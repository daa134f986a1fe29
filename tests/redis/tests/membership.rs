//! Workers join, leave and vanish.

use std::time::Duration;

use n_and_i::{Config, Reason};
use n_and_i_redis::RedisRegistry;
use n_and_i_test_support::{Group, RedisServer, eventually_async};

fn config(milliseconds: u64) -> Config {
    Config::new("membership", Duration::from_millis(milliseconds)).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_settles_and_follows_every_change() {
    let server = RedisServer::start();
    let registry = RedisRegistry::from_client(server.client());
    let config = config(250);
    let mut group = Group::new();
    for _ in 0..5 {
        group.join(registry.clone(), &config);
    }
    assert_eq!(group.settled().await.len(), 5);

    group.join(registry.clone(), &config);
    assert_eq!(group.settled().await.len(), 6);

    let seen = group.leave(2).await;
    let last = seen.last().unwrap();
    assert_eq!(last.owned.as_ref().err(), Some(&Reason::Stopped), "{seen:?}");
    assert!(seen[seen.len() - 2].share().is_some(), "{seen:?}");
    assert_eq!(group.settled().await.len(), 5);

    group.crash(0).await;
    assert_eq!(group.settled().await.len(), 4);

    // Nobody is told the same twice in a row, and everybody began idle.
    for worker in group.workers() {
        let seen = group.seen(worker);
        assert_eq!(seen[0].owned.as_ref().err(), Some(&Reason::Starting), "{seen:?}");
        assert!(seen.windows(2).all(|two| two[0].share() != two[1].share()), "{seen:?}");
    }
    group.check();
    assert!(group.history().spans().len() >= 5 + 6 + 5 + 4);

    // All of them shared one connection: the other is this test's own.
    let clients: String = server.command(&["CLIENT", "LIST", "TYPE", "normal"]);
    assert_eq!(clients.lines().count(), 2, "{clients}");
}

#[tokio::test]
async fn a_worker_alone_owns_from_its_third_registration_on() {
    let server = RedisServer::start();
    let registry = RedisRegistry::from_client(server.client());
    let config = config(250);
    let mut peers = n_and_i_tokio::discover(registry, config).unwrap();

    let first = peers.next().await.unwrap();
    assert_eq!((first.reason(), first.stage()), (Some(Reason::Starting), None));
    let change = peers.next().await.unwrap();
    // The change is handed over at once, long before the fourth registration.
    assert_eq!(server.calls("incr"), 3);
    let lease = change.lease().unwrap();
    assert_eq!((lease.share().pair().i(), lease.share().pair().n()), (0, 1));
    assert!(lease.is_live());

    // Quiet from then on, while the lease is renewed again and again.
    let quiet = tokio::time::timeout(Duration::from_millis(1500), peers.next()).await;
    assert!(quiet.is_err(), "{quiet:?}");
    assert!(lease.is_live());
    assert!(server.calls("incr") >= 6);

    peers.stop();
    let last = peers.next().await.unwrap();
    assert_eq!(last.reason(), Some(Reason::Stopped));
    assert!(last.drain_window().unwrap().is_open());
    assert!(!lease.is_live());
    assert!(peers.next().await.is_none());
    no_more_registrations(&server).await;
}

#[tokio::test]
async fn dropping_the_stream_ends_registration_and_lease() {
    let server = RedisServer::start();
    let registry = RedisRegistry::from_client(server.client());
    let mut peers = n_and_i_tokio::discover(registry, config(200)).unwrap();
    let lease = loop {
        let change = peers.next().await.unwrap();
        if let Some(lease) = change.lease() {
            break lease.clone();
        }
    };
    assert!(lease.is_live());
    drop(peers);
    eventually_async("the lease is over", || (!lease.is_live()).then_some(())).await;
    no_more_registrations(&server).await;
}

/// Three intervals pass without one.
async fn no_more_registrations(server: &RedisServer) {
    let before = server.calls("incr");
    tokio::time::sleep(Duration::from_millis(750)).await;
    assert_eq!(server.calls("incr"), before);
}

#[tokio::test]
async fn graceful_shutdown_works_while_the_consumer_is_busy() {
    let server = RedisServer::start();
    let registry = RedisRegistry::from_client(server.client());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let mut peers = n_and_i_tokio::discover(registry, config(200))
        .unwrap()
        .with_graceful_shutdown(async move { drop(stopped.await) });
    let lease = loop {
        let change = peers.next().await.unwrap();
        if let Some(lease) = change.lease() {
            break lease.clone();
        }
    };
    // Nobody polls the stream, and still the signal takes effect.
    stop.send(()).unwrap();
    eventually_async("the lease is over", || (!lease.is_live()).then_some(())).await;
    assert_eq!(peers.next().await.unwrap().reason(), Some(Reason::Stopped));
    assert!(peers.next().await.is_none());
}

#[tokio::test]
async fn a_busy_consumer_neither_delays_registration_nor_queues_changes() {
    let server = RedisServer::start();
    let registry = RedisRegistry::from_client(server.client());
    let config = config(200);
    let mut busy = n_and_i_tokio::discover(registry.clone(), config.clone()).unwrap();
    let mut group = Group::new();
    group.join(registry.clone(), &config);
    // The other worker only ever settles on a half because the busy one goes on registering.
    let half = |group: &Group| group.lease(0).is_some_and(|lease| lease.share().pair().n() == 2);
    eventually_async("a half is owned", || half(&group).then_some(())).await;
    group.join(registry.clone(), &config);
    let third = |group: &Group| group.lease(0).is_some_and(|lease| lease.share().pair().n() == 3);
    eventually_async("a third is owned", || third(&group).then_some(())).await;
    group.leave(1).await;
    eventually_async("a half is owned again", || half(&group).then_some(())).await;

    // Of all that happened the busy one is handed the last only.
    let change = loop {
        let change = busy.next().await.unwrap();
        if change.lease().is_some() {
            break change;
        }
        assert_eq!(change.reason(), Some(Reason::Rebalancing), "{change}");
    };
    assert_eq!(change.share().unwrap().pair().n(), 2);
    assert!(change.lease().unwrap().is_live());
    let quiet = tokio::time::timeout(Duration::from_millis(600), busy.next()).await;
    assert!(quiet.is_err(), "{quiet:?}");
}
