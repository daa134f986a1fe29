//! A group's key that gets lost or goes back in time: nobody may rest on it.

use std::time::Duration;

use n_and_i::{Config, Registry, Reply, Request, Stamp};
use n_and_i_redis::RedisRegistry;
use n_and_i_test_support::{Group, RedisServer, eventually};

use super::config;

/// A group of four that has settled.
async fn settled(server: &RedisServer, config: &Config) -> Group {
    let registry = RedisRegistry::from_client(server.client());
    let mut group = Group::new();
    for _ in 0..4 {
        group.join(registry.clone(), config);
    }
    group.settled().await;
    group
}

/// Runs a group while `lose` is called in every interval, then checks that it recovers.
async fn survives_losses(name: &str, lose: impl Fn(&RedisServer)) {
    let server = RedisServer::start();
    let config = config(name, 200);
    let group = settled(&server, &config).await;
    for round in 0..20_u32 {
        lose(&server);
        // Another phase of the interval every time.
        let part = 1.0 + 0.07 * f64::from(round % 5) - 0.14;
        tokio::time::sleep(config.interval().mul_f64(part)).await;
        group.check();
    }
    group.settled().await;
    group.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_flushed_in_every_interval() {
    survives_losses("flushed", |server| server.command(&["FLUSHALL"])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_key_deleted_in_every_interval() {
    survives_losses("deleted", |server| {
        server.command::<u64>(&["DEL", "{deleted}:guard"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restarts_from_old_snapshots() {
    let mut server = RedisServer::start();
    let config = config("snapshots", 300);
    let group = settled(&server, &config).await;
    for round in 0..10_u32 {
        server.command::<String>(&["SAVE"]);
        // What is lost is a part of an interval or one and a part.
        let part = 0.1 + 0.13 * f64::from(round);
        tokio::time::sleep(config.interval().mul_f64(part)).await;
        server.restart();
        tokio::time::sleep(config.interval().mul_f64(f64::from(round % 4))).await;
        group.check();
    }
    group.settled().await;
    group.check();
}

/// Registers by hand, every time as another worker with another stamp.
struct Hand {
    registry: RedisRegistry,
    config: Config,
    stamp: u128,
}

impl Hand {
    fn new(server: &RedisServer, stamps_from: u128) -> Self {
        let registry = RedisRegistry::from_client(server.client());
        Self { registry, config: config("hand", 2_000), stamp: stamps_from }
    }

    async fn register(&mut self) -> Reply {
        self.stamp += 1;
        let request = Request::new(&self.config, Stamp::from_u128(self.stamp), None);
        self.registry.register(request).await.unwrap().reply
    }

    /// The first registration of an interval that has just begun.
    async fn in_a_new_interval(&mut self) -> Reply {
        let first = self.register().await.interval;
        self.in_interval(first + 1).await
    }

    async fn in_interval(&mut self, interval: u64) -> Reply {
        loop {
            let reply = self.register().await;
            if reply.interval >= interval {
                assert_eq!(reply.interval, interval);
                return reply;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// A promoted replica lost registrations that workers hold, and gives their indices out again.
#[tokio::test]
async fn an_interval_that_a_failover_rolled_back_is_not_paired() {
    let primary = RedisServer::start();
    let port = primary.port().to_string();
    let replica = RedisServer::start_with(&["--replicaof", "127.0.0.1", &port]);
    let linked = || {
        let info: String = replica.command(&["INFO", "replication"]);
        info.contains("master_link_status:up").then_some(())
    };
    eventually("the replica is in step", linked);

    let mut before = Hand::new(&primary, 0);
    let kept = before.in_a_new_interval().await;
    let group =
        |server: &RedisServer| server.command::<Option<String>>(&["HGET", "{hand}:guard", "group"]);
    let replicated = || (group(&replica) == group(&primary)).then_some(());
    eventually("the first registration is on the replica", replicated);
    replica.command::<String>(&["REPLICAOF", "NO", "ONE"]);
    let lost = before.register().await;

    let mut after = Hand::new(&replica, 1000);
    let again = after.register().await;
    assert_eq!(again.interval, lost.interval, "the test took longer than the interval");
    // The danger: two workers hold this index under this stamp.
    assert_eq!((again.index, again.stamp), (lost.index, lost.stamp));
    assert_eq!(again.stamp, kept.stamp);
    let next = after.in_interval(lost.interval + 1).await;
    assert_eq!(next.previous_stamp, None, "nobody may rest on a rolled back interval");
    let next = after.in_interval(lost.interval + 2).await;
    assert!(next.previous_stamp.is_some(), "the one after it is sound");
}

/// A server that comes back from an old snapshot lost what came after it.
#[tokio::test]
async fn an_interval_that_a_restart_rolled_back_is_not_paired() {
    let mut server = RedisServer::start();
    let mut hand = Hand::new(&server, 0);
    hand.in_a_new_interval().await;
    server.command::<String>(&["SAVE"]);
    let lost = hand.register().await;
    server.restart();
    let mut hand = Hand::new(&server, 1000);
    let again = hand.register().await;
    assert_eq!(again.interval, lost.interval, "the test took longer than the interval");
    assert_eq!((again.index, again.stamp), (lost.index, lost.stamp));
    let next = hand.in_interval(lost.interval + 1).await;
    assert_eq!(next.previous_stamp, None, "nobody may rest on a rolled back interval");
}
