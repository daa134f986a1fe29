//! Groups in a real cluster: nobody is counted twice, whatever happens to the group's slot, and
//! the workers own again soon after.

use std::time::Duration;

use n_and_i::{Config, RegistrationError, Registry, Request, Stamp, counters, scripts};
use n_and_i_redis::RedisRegistry;
use n_and_i_test_support::{FaultProxy, RedisCluster, RedisServer, Scene, eventually};
use redis::ProtocolVersion::{self, RESP2, RESP3};
use redis::cluster::ClusterClientBuilder;

/// The node that serves the group's slot at first.
const FIRST: usize = 0;
/// Another primary.
const SECOND: usize = 1;

/// In how many intervals a group owns again: two to five, and more only while the machine stalls.
const SOON: u64 = 15;

fn registry(cluster: &RedisCluster, protocol: ProtocolVersion) -> RedisRegistry {
    let builder = ClusterClientBuilder::new(cluster.urls()).use_protocol(protocol);
    RedisRegistry::from_cluster(builder).unwrap()
}

/// A group that has settled, its slot on the first node, its workers on either protocol.
async fn settled(cluster: &RedisCluster) -> Scene {
    let name = cluster.name_served_by(FIRST, "cluster");
    let mut protocols = [RESP2, RESP3].into_iter();
    Scene::settled(&name, || registry(cluster, protocols.next().unwrap())).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn groups_on_different_nodes_settle_and_are_counted_once() {
    let cluster = RedisCluster::start();
    let registry = registry(&cluster, RESP2);
    let mut scenes = Vec::new();
    for node in 0..3 {
        let name = cluster.name_served_by(node, "spread");
        let scene = Scene::settled(&name, || registry.clone()).await;
        let keys = cluster.slot(&name).to_string();
        let count: u64 = cluster.node(node).command(&["CLUSTER", "COUNTKEYSINSLOT", &keys]);
        assert!(count >= 2, "the node has the guard and a counter");
        scenes.push(scene);
    }
    for (node, scene) in scenes.iter().enumerate() {
        let executed = || cluster.node(node).calls("incr");
        scene.each_call_was_executed_once(executed);
        scene.group.check();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_that_moved_at_once_costs_a_few_intervals() {
    let cluster = RedisCluster::start();
    let scene = settled(&cluster).await;
    let moved = scene.present_interval(cluster.node(FIRST));
    cluster.begin_migration(cluster.slot(scene.name()), SECOND).finish();
    scene.owns_again("slot moved", moved, cluster.node(SECOND), SOON).await;
    assert!(!scene.errors("MOVED").is_empty(), "{:?}", scene.errors(""));
    scene.each_call_was_executed_once(|| cluster.calls("incr"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_on_its_way_is_not_counted_in_until_it_has_arrived() {
    let cluster = RedisCluster::start();
    let scene = settled(&cluster).await;
    let slot = cluster.slot(scene.name());
    let guard = scripts::guard_key(scene.config());
    let moved = scene.present_interval(cluster.node(FIRST));
    let migration = cluster.begin_migration(slot, SECOND);
    for key in migration.keys() {
        if key != guard {
            migration.move_key(&key);
        }
    }
    scene.fails_with("non local key").await;
    migration.move_key(&guard);
    scene.fails_with("ASK").await;
    for worker in scene.group.workers() {
        scene.group.idle(worker).await;
    }
    migration.finish();
    scene.owns_again("slot moved step by step", moved, cluster.node(SECOND), SOON).await;
    scene.each_call_was_executed_once(|| cluster.calls("incr"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_primary_is_replaced_by_its_replica() {
    let mut cluster = RedisCluster::with_replicas(1);
    let scene = settled(&cluster).await;
    let slot = cluster.slot(scene.name());
    let killed = scene.present_interval(cluster.node(FIRST));
    cluster.kill(FIRST);
    let promoted = cluster.failed_over(slot, FIRST);
    scene.owns_again("primary killed", killed, cluster.node(promoted), SOON).await;

    cluster.restart(FIRST);
    eventually("it comes back as a replica", || cluster.replicates(FIRST).then_some(()));
    let handed_back = scene.present_interval(cluster.node(promoted));
    cluster.promote(FIRST);
    scene.owns_again("handed back in agreement", handed_back, cluster.node(FIRST), SOON).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_primary_is_replaced_and_comes_back_without_ghosts() {
    let mut cluster = RedisCluster::with_replicas(1);
    let scene = settled(&cluster).await;
    let slot = cluster.slot(scene.name());
    let suspended = scene.present_interval(cluster.node(FIRST));
    cluster.suspend(FIRST);
    scene.fails_with("given up").await;
    let promoted = cluster.failed_over(slot, FIRST);
    scene.owns_again("primary silent", suspended, cluster.node(promoted), SOON).await;

    cluster.resume(FIRST);
    let resumed = scene.present_interval(cluster.node(promoted));
    eventually("it comes back as a replica", || cluster.replicates(FIRST).then_some(()));
    scene.no_ghosts(cluster.node(promoted), resumed).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_that_was_silent_for_a_while_has_no_ghosts() {
    let mut cluster = RedisCluster::start();
    let scene = settled(&cluster).await;
    let suspended = scene.present_interval(cluster.node(FIRST));
    cluster.suspend(FIRST);
    scene.fails_with("given up").await;
    cluster.resume(FIRST);
    let resumed = scene.present_interval(cluster.node(FIRST));
    scene.owns_again("node silent for a while", suspended, cluster.node(FIRST), SOON).await;
    scene.no_ghosts(cluster.node(FIRST), resumed).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_that_is_down_is_not_registered_in() {
    let mut cluster = RedisCluster::start();
    let scene = settled(&cluster).await;
    // Its slots are served by nobody, so the others refuse too.
    let killed = scene.present_interval(cluster.node(FIRST));
    cluster.kill(SECOND);
    scene.fails_with("CLUSTERDOWN").await;
    for worker in scene.group.workers() {
        scene.group.idle(worker).await;
    }
    cluster.restart(SECOND);
    let well = || cluster.node(FIRST).command::<String>(&["CLUSTER", "INFO"]);
    eventually("the node is content", || well().contains("cluster_state:ok").then_some(()));
    scene.owns_again("cluster down", killed, cluster.node(FIRST), SOON).await;
}

/// Registers by hand.
struct Hand<'a> {
    cluster: &'a RedisCluster,
    registry: RedisRegistry,
    config: Config,
}

impl<'a> Hand<'a> {
    /// At the beginning of a long interval.
    fn new(cluster: &'a RedisCluster) -> Self {
        let name = cluster.name_served_by(FIRST, "hand");
        let config = Config::new(&name, Duration::from_secs(10)).unwrap();
        let early = || {
            let (seconds, _): (u64, u64) = cluster.node(FIRST).command(&["TIME"]);
            (seconds % 10 < 4).then_some(())
        };
        eventually("an interval begins", early);
        Self { cluster, registry: registry(cluster, RESP2), config }
    }

    /// The result of one call, and how often it was executed.
    async fn register(&self) -> (Result<u32, RegistrationError>, u64) {
        let before = self.cluster.calls("incr");
        let request = Request::new(&self.config, Stamp::from_u128(1), None);
        let result = self.registry.register(request).await;
        let executed = self.cluster.calls("incr") - before;
        (result.map(|registered| registered.reply.index), executed)
    }

    async fn is_counted_as(&self, index: u32) {
        let (result, executed) = self.register().await;
        assert!(matches!((&result, executed), (Ok(found), 1) if *found == index), "{result:?}");
    }

    async fn is_not_executed(&self, error: &str) {
        let (result, executed) = self.register().await;
        let Err(RegistrationError::NotExecuted(cause)) = result else { panic!("{result:?}") };
        assert!(cause.to_string().contains(error), "{cause}");
        assert_eq!(executed, 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_each_step_of_a_migration_a_call_is_executed_once_or_not_at_all() {
    let cluster = RedisCluster::start();
    let hand = Hand::new(&cluster);
    let server: &RedisServer = cluster.node(FIRST);
    let (seconds, _): (u64, u64) = server.command(&["TIME"]);
    let counter = counters::counter_key(&hand.config, seconds / 10);
    hand.is_counted_as(0).await;

    let migration = cluster.begin_migration(cluster.slot(hand.config.name()), SECOND);
    hand.is_counted_as(1).await;
    assert!(migration.move_key(&counter));
    hand.is_not_executed("non local key").await;
    assert!(migration.move_key(&scripts::guard_key(&hand.config)));
    hand.is_not_executed("ASK").await;
    hand.is_not_executed("ASK").await;
    migration.finish();
    // Otherwise a node may be asked that has not heard of it.
    cluster.settled();
    hand.is_counted_as(2).await;
    hand.is_counted_as(3).await;

    cluster.begin_migration(cluster.slot(hand.config.name()), FIRST).finish();
    hand.is_not_executed("MOVED").await;
    cluster.settled();
    hand.is_counted_as(4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_whose_reply_is_lost_is_executed_once_and_unknown() {
    let mut cluster = RedisCluster::start();
    let proxy = FaultProxy::start(cluster.node(FIRST).port());
    cluster.announce(FIRST, proxy.port());
    let hand = Hand::new(&cluster);
    hand.is_counted_as(0).await;
    proxy.lose_replies(1);
    let (result, executed) = hand.register().await;
    assert!(matches!(result, Err(RegistrationError::Unknown(_))), "{result:?}");
    assert_eq!((executed, proxy.lost()), (1, 1));
    hand.is_counted_as(2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_was_closed_while_idle_costs_one_call_or_with_resp3_none() {
    let cluster = RedisCluster::start();
    for (protocol, executed) in [(RESP2, 0), (RESP3, 1)] {
        let hand = Hand { registry: registry(&cluster, protocol), ..Hand::new(&cluster) };
        hand.is_counted_as(0).await;
        for node in 0..3 {
            cluster.node(node).command::<u64>(&["CLIENT", "KILL", "TYPE", "normal"]);
        }
        // The client's end learns of it by itself.
        tokio::time::sleep(Duration::from_millis(500)).await;
        let (result, found) = hand.register().await;
        let unknown = matches!(result, Err(RegistrationError::Unknown(_)));
        assert_eq!((found, unknown), (executed, executed == 0), "{protocol:?}: {result:?}");
        hand.is_counted_as(u32::try_from(1 + executed).unwrap()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_that_lost_replies_owns_again() {
    let mut cluster = RedisCluster::start();
    let proxy = FaultProxy::start(cluster.node(FIRST).port());
    cluster.announce(FIRST, proxy.port());
    let scene = settled(&cluster).await;
    let lost = scene.present_interval(cluster.node(FIRST));
    proxy.lose_replies(u32::try_from(Scene::WORKERS).unwrap());
    eventually("the replies are lost", || (proxy.lost() as usize == Scene::WORKERS).then_some(()));
    scene.owns_again("replies lost", lost, cluster.node(FIRST), SOON).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retries_and_limits_of_the_application_are_not_used() {
    let cluster = RedisCluster::start();
    let builder = ClusterClientBuilder::new(cluster.urls())
        .retries(5)
        .response_timeout(Duration::from_nanos(1))
        .overall_response_timeout(Some(Duration::from_nanos(1)))
        .use_protocol(RESP3);
    let registry = RedisRegistry::from_cluster(builder).unwrap();
    let hand = Hand { registry, ..Hand::new(&cluster) };
    hand.is_counted_as(0).await;
    cluster.begin_migration(cluster.slot(hand.config.name()), SECOND).finish();
    hand.is_not_executed("MOVED").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_that_is_missing_or_wrong_is_a_matter_of_configuration() {
    let cluster = RedisCluster::start();
    let hand = Hand::new(&cluster);
    let url = |password: &str, node| {
        format!("redis://:{password}@127.0.0.1:{}", cluster.node(node).port())
    };
    for node in 0..3 {
        let set = ["CONFIG", "SET", "requirepass", "secret"];
        cluster.node(node).command::<String>(&set);
    }
    for (urls, right) in [
        (cluster.urls(), false),
        (vec![url("wrong", 0), url("wrong", 1)], false),
        (vec![url("secret", 0), url("secret", 1)], true),
    ] {
        let registry = RedisRegistry::from_cluster(ClusterClientBuilder::new(urls)).unwrap();
        let request = Request::new(&hand.config, Stamp::from_u128(1), None);
        let result = registry.register(request).await;
        let configuration = matches!(result, Err(RegistrationError::Configuration(_)));
        assert_eq!((result.is_ok(), configuration), (right, !right), "{result:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_least_permissions_are_enough() {
    let cluster = RedisCluster::start();
    let hand = Hand::new(&cluster);
    let words = "ACL SETUSER worker on >secret ~{hand*}:* -@all +eval +evalsha +time +get +set \
                 +incr +pexpire +info +ping +cluster|slots";
    let words: Vec<&str> = words.split(' ').collect();
    for node in 0..3 {
        cluster.node(node).command::<String>(&words);
    }
    let builder = ClusterClientBuilder::new(cluster.urls()).username("worker").password("secret");
    let registry = RedisRegistry::from_cluster(builder).unwrap();
    Hand { registry, ..hand }.is_counted_as(0).await;
}

#[test]
fn a_cluster_that_cannot_be_is_refused() {
    let nothing: Vec<String> = Vec::new();
    assert!(RedisRegistry::from_cluster(ClusterClientBuilder::new(nothing)).is_err());
}
