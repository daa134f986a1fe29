//! How often a worker is counted when registrations fail.

use std::time::Duration;

use n_and_i::Config;
use n_and_i_redis::RedisRegistry;
use n_and_i_test_support::{FaultProxy, Group, Log, RedisServer, eventually_async};

#[tokio::test]
async fn one_definite_failure_costs_no_ownership() {
    let server = RedisServer::start_with(&["--maxmemory-policy", "noeviction"]);
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    // The first retry is made after an eighth of the interval, well within the gap.
    let config = Config::new("definite", Duration::from_millis(800)).unwrap();
    let config = config.with_gap(0.3).unwrap();
    let registry = RedisRegistry::from_client(server.client());
    let mut group = Group::new();
    group.join(registry.clone(), &config);
    group.join(registry, &config);
    group.settled().await;
    let changes = group.seen(0).len() + group.seen(1).len();

    server.command::<String>(&["CONFIG", "SET", "maxmemory", "1"]);
    let failed = || (log.count("registration failed") == 1).then_some(());
    eventually_async("a registration fails", failed).await;
    server.command::<String>(&["CONFIG", "SET", "maxmemory", "0"]);

    let lease = group.lease(0).expect("still owned");
    let retried = || {
        let events = log.events();
        let after = events.into_iter().skip_while(|event| event.message != "registration failed");
        (after.filter(|event| event.message == "registration completed").count() >= 4).then_some(())
    };
    eventually_async("both registered twice more", retried).await;
    assert_eq!(log.count("registration failed"), 1);
    assert!(lease.is_live());
    assert_eq!(group.seen(0).len() + group.seen(1).len(), changes, "nobody was told anything");
    group.check();
}

#[tokio::test]
async fn an_unknown_outcome_is_not_retried_within_the_interval() {
    let server = RedisServer::start();
    let proxy = FaultProxy::start(server.port());
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let url = format!("redis://127.0.0.1:{}", proxy.port());
    let registry = RedisRegistry::from_client(redis::Client::open(url).unwrap());
    let config = Config::new("unknown", Duration::from_millis(400)).unwrap();
    let mut group = Group::new();
    group.join(registry, &config);
    group.settled().await;

    for round in 1..=3 {
        proxy.lose_replies(1);
        eventually_async("a reply is lost", || (proxy.lost() == round).then_some(())).await;
        group.settled().await;
    }
    let failed = log.find("registration failed").unwrap();
    assert!(failed.fields["error"].contains("may have been counted"), "{failed:?}");

    // Counted once in every interval: never twice, also when the answer was lost.
    let keys: Vec<String> = server.command(&["KEYS", "{unknown}:[0-9]*"]);
    assert!(keys.len() >= 2, "{keys:?}");
    for key in keys {
        // None if it has expired since.
        let count: Option<u32> = server.command(&["GET", &key]);
        assert_eq!(count.unwrap_or(1), 1, "{key}");
    }
    group.check();
}

#[tokio::test]
async fn a_script_that_was_flushed_costs_nothing() {
    let server = RedisServer::start();
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let config = Config::new("flushed", Duration::from_millis(200)).unwrap();
    let registry = RedisRegistry::from_client(server.client());
    let mut group = Group::new();
    for _ in 0..3 {
        group.join(registry.clone(), &config);
    }
    group.settled().await;
    let changes: usize = group.workers().iter().map(|&worker| group.seen(worker).len()).sum();

    let loaded = log.count("script loaded");
    let reloaded = || {
        server.command::<String>(&["SCRIPT", "FLUSH"]);
        (log.count("script loaded") >= loaded + 15).then_some(())
    };
    eventually_async("the script is loaded again and again", reloaded).await;
    assert_eq!(log.count("registration failed"), 0);
    let after: usize = group.workers().iter().map(|&worker| group.seen(worker).len()).sum();
    assert_eq!(after, changes, "nobody was told anything");
    group.check();
}
