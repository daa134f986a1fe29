//! Counters and stamps that get lost: nobody may rest on them. Roll-backs of both layouts.

use std::time::Duration;

use n_and_i::{Config, Layout, Registered, RegistrationError, Registry, Request, Stamp};
use n_and_i_redis::RedisRegistry;
use n_and_i_test_support::{Group, RedisServer, eventually};

/// Runs a group while `lose` is called in every interval, then checks that it recovers.
async fn survives_losses(lose: impl Fn(&RedisServer, u64)) {
    let server = RedisServer::start();
    let interval = Duration::from_millis(200);
    let config = Config::new("lost", interval).unwrap();
    let registry = RedisRegistry::from_client(server.client());
    let mut group = Group::new();
    for _ in 0..4 {
        group.join(registry.clone(), &config);
    }
    group.settled().await;
    for round in 0..30_u32 {
        let (seconds, micros): (u64, u64) = server.command(&["TIME"]);
        lose(&server, (seconds * 1000 + micros / 1000) / 200);
        // Another phase of the interval every time.
        tokio::time::sleep(interval.mul_f64(1.0 + 0.07 * f64::from(round % 5) - 0.14)).await;
        group.check();
    }
    group.settled().await;
    group.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_flushed_in_every_interval() {
    survives_losses(|server, _| server.command(&["FLUSHALL"])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_open_counter_deleted_in_every_interval() {
    survives_losses(|server, open| {
        server.command::<u64>(&["DEL", &format!("{{lost}}:{open}")]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_guard_deleted_in_every_interval() {
    survives_losses(|server, _| {
        server.command::<u64>(&["DEL", "{lost}:guard"]);
    })
    .await;
}

/// Registers by hand with the script, one stamp after the other, every time as another worker.
struct Hand {
    registry: RedisRegistry,
    config: Config,
    stamp: u128,
}

impl Hand {
    fn new(server: &RedisServer, layout: Layout, stamps_from: u128) -> Self {
        let config = Config::new("hand", Duration::from_secs(2)).unwrap();
        Self {
            registry: RedisRegistry::from_client(server.client()),
            config: config.with_layout(layout),
            stamp: stamps_from,
        }
    }

    async fn register(&mut self) -> n_and_i::Reply {
        self.stamp += 1;
        let request = Request::new(&self.config, Stamp::from_u128(self.stamp), None);
        let result: Result<Registered, RegistrationError> = self.registry.register(request).await;
        result.unwrap().reply
    }

    /// The first registration of an interval that has just begun.
    async fn in_a_new_interval(&mut self) -> n_and_i::Reply {
        let first = self.register().await.interval;
        self.in_interval(first + 1).await
    }

    async fn in_interval(&mut self, interval: u64) -> n_and_i::Reply {
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

#[tokio::test]
async fn an_interval_that_was_not_lost_is_carried_on() {
    let server = RedisServer::start();
    let mut hand = Hand::new(&server, Layout::Counters, 0);
    let first = hand.in_a_new_interval().await;
    let second = hand.register().await;
    assert_eq!((second.index, second.stamp), (first.index + 1, first.stamp));
    let next = hand.in_interval(first.interval + 1).await;
    assert_eq!(next.previous_stamp, Some(first.stamp));
    assert!(next.replicas.unwrap() >= 2);
}

/// A promoted replica lost registrations that workers hold, and gives their indices out again.
#[tokio::test]
async fn an_interval_that_a_failover_rolled_back_is_not_paired() {
    not_paired_after_a_failover(Layout::Counters, &["GET", "{hand}:guard"]).await;
}

#[tokio::test]
async fn slots_that_a_failover_rolled_back_are_not_paired() {
    not_paired_after_a_failover(Layout::Slots, &["HGET", "{hand}:guard", "group"]).await;
}

/// `read` is a command for what every registration changes.
async fn not_paired_after_a_failover(layout: Layout, read: &[&str]) {
    let primary = RedisServer::start();
    let port = primary.port().to_string();
    let replica = RedisServer::start_with(&["--replicaof", "127.0.0.1", &port]);
    let linked = || {
        let info: String = replica.command(&["INFO", "replication"]);
        info.contains("master_link_status:up").then_some(())
    };
    eventually("the replica is in step", linked);

    let mut before = Hand::new(&primary, layout, 0);
    let kept = before.in_a_new_interval().await;
    // WAIT speaks for writes of its own connection, so look at the replica itself.
    let guard = |server: &RedisServer| server.command::<Option<String>>(read);
    let replicated = || (guard(&replica) == guard(&primary)).then_some(());
    eventually("the first registration is on the replica", replicated);
    replica.command::<String>(&["REPLICAOF", "NO", "ONE"]);
    let lost = before.register().await;

    let mut after = Hand::new(&replica, layout, 1000);
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
    not_paired_after_a_restart(Layout::Counters).await;
}

#[tokio::test]
async fn slots_that_a_restart_rolled_back_are_not_paired() {
    not_paired_after_a_restart(Layout::Slots).await;
}

async fn not_paired_after_a_restart(layout: Layout) {
    let mut server = RedisServer::start();
    let mut hand = Hand::new(&server, layout, 0);
    hand.in_a_new_interval().await;
    server.command::<String>(&["SAVE"]);
    let lost = hand.register().await;
    server.restart();
    let mut hand = Hand::new(&server, layout, 1000);
    let again = hand.register().await;
    assert_eq!(again.interval, lost.interval, "the test took longer than the interval");
    assert_eq!((again.index, again.stamp), (lost.index, lost.stamp));
    let next = hand.in_interval(lost.interval + 1).await;
    assert_eq!(next.previous_stamp, None, "nobody may rest on a rolled back interval");
}
