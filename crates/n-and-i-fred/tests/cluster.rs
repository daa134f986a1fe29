//! A cluster, whose nodes send clients away.

mod support;

use std::time::Duration;

use fred::clients::Client;
use fred::prelude::ClientLike;
use n_and_i::{Config, RegistrationError};
use n_and_i_fred::FredRegistry;
use n_and_i_test_support::{FaultProxy, RedisCluster};
use support::{builder_at, connected, recovers, register};

/// The node that serves the group at first.
const FIRST: usize = 0;
/// Another.
const SECOND: usize = 1;

/// So long that a test has no need to think of it.
const INTERVAL: Duration = Duration::from_secs(60);

fn group(cluster: &RedisCluster, interval: Duration) -> Config {
    Config::new(cluster.name_served_by(FIRST, "fred"), interval).unwrap()
}

async fn joined(cluster: &RedisCluster) -> (Client, FredRegistry) {
    let port = cluster.node(SECOND).port();
    let mut builder = builder_at(&format!("redis-cluster://127.0.0.1:{port}"));
    builder.with_connection_config(|config| {
        config.max_redirections = 0;
        config.unresponsive.max_timeout = Some(Duration::from_millis(300));
        config.unresponsive.interval = Duration::from_millis(100);
    });
    connected(&builder).await
}

fn not_executed(error: &RegistrationError) -> bool {
    matches!(error, RegistrationError::NotExecuted(_))
}

#[tokio::test]
async fn a_slot_that_has_moved_is_found() {
    let cluster = RedisCluster::start();
    let (_client, registry) = joined(&cluster).await;
    let config = group(&cluster, INTERVAL);
    for expected in 1..=3 {
        register(&registry, &config).await.unwrap();
        assert_eq!(cluster.node(FIRST).calls("incr"), expected);
    }

    cluster.begin_migration(cluster.slot(config.name()), SECOND).finish();
    let error = register(&registry, &config).await.unwrap_err();
    assert!(not_executed(&error), "{error:?}");
    register(&registry, &config).await.unwrap();
    assert_eq!(cluster.node(SECOND).calls("incr"), 1);
    assert_eq!(cluster.calls("incr"), 4);
}

#[tokio::test]
async fn a_slot_on_the_move_does_not_end_the_client() {
    let cluster = RedisCluster::start();
    let (client, registry) = joined(&cluster).await;
    let config = group(&cluster, INTERVAL);
    // Its keys are not there yet, so the node sends everyone to the other, which has none either.
    let migration = cluster.begin_migration(cluster.slot(config.name()), SECOND);
    for _ in 0..3 {
        let error = register(&registry, &config).await.unwrap_err();
        assert!(not_executed(&error), "{error:?}");
        assert_eq!(client.ping::<String>(None).await.unwrap(), "PONG");
    }
    migration.finish();
    let errors = recovers(&registry, &config).await;
    assert!(errors.iter().all(not_executed), "{errors:?}");
    assert_eq!(cluster.calls("incr"), 1);
}

#[tokio::test]
async fn a_nodes_lost_reply_and_silence_are_survived() {
    let mut cluster = RedisCluster::start();
    let proxy = FaultProxy::start(cluster.node(FIRST).port());
    cluster.announce(FIRST, proxy.port());
    let (_client, registry) = joined(&cluster).await;
    let config = group(&cluster, Duration::from_secs(2));
    let mut expected = 0;
    for _ in 0..3 {
        proxy.lose_replies(1);
        let error = register(&registry, &config).await.unwrap_err();
        assert!(matches!(error, RegistrationError::Unknown(_)), "{error:?}");
        expected += 1;
        assert_eq!(cluster.calls("incr"), expected);
        recovers(&registry, &config).await;
        expected += 1;
        assert_eq!(cluster.calls("incr"), expected);
    }
    proxy.silence();
    let error = register(&registry, &config).await.unwrap_err();
    assert!(matches!(error, RegistrationError::Unknown(_)), "{error:?}");
    recovers(&registry, &config).await;
    assert_eq!(cluster.calls("incr"), expected + 1);
}

#[tokio::test]
async fn a_replica_that_takes_over_is_found() {
    let mut cluster = RedisCluster::with_replicas(1);
    let (_client, registry) = joined(&cluster).await;
    let config = group(&cluster, INTERVAL);
    register(&registry, &config).await.unwrap();
    cluster.kill(FIRST);
    cluster.failed_over(cluster.slot(config.name()), FIRST);
    recovers(&registry, &config).await;
}
