//! Groups whose primary is watched by real sentinels: after a fail-over they register in the new
//! primary, and never in two at once.

use std::sync::Arc;

use n_and_i_redis::RedisRegistry;
use n_and_i_test_support::{Scene, SentinelSetup};
use redis::AsyncConnectionConfig;
use redis::sentinel::{SentinelClient, SentinelServerType};
use tokio::sync::Mutex;

/// In how many intervals a group owns again: two to five, and more only while the machine stalls.
const SOON: u64 = 15;

/// As an application would write it.
fn registry(sentinels: Vec<String>, name: &str) -> redis::RedisResult<RedisRegistry> {
    let primary = SentinelServerType::Master;
    let client = SentinelClient::build(sentinels, name, None, primary)?;
    let client = Arc::new(Mutex::new(client));
    Ok(RedisRegistry::from_factory(move || {
        let client = Arc::clone(&client);
        async move {
            let config = AsyncConnectionConfig::new().set_response_timeout(None);
            client.lock().await.get_async_connection_with_config(&config).await
        }
    }))
}

async fn settled(setup: &SentinelSetup) -> Scene {
    Scene::settled("sentinel", || registry(setup.urls(), setup.name()).unwrap()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_primary_is_replaced_and_comes_back_as_a_replica() {
    let mut setup = SentinelSetup::start();
    let scene = settled(&setup).await;
    let killed = scene.present_interval(setup.server(0));
    setup.server_mut(0).kill();
    let promoted = setup.failed_over(0);
    // It refuses to write until the other replica follows it.
    setup.has_replicas(1);
    scene.owns_again("primary killed", killed, setup.server(promoted), SOON).await;

    setup.server_mut(0).restart();
    let restarted = scene.present_interval(setup.server(promoted));
    setup.has_replicas(2);
    let role: String = setup.server(0).command(&["INFO", "replication"]);
    assert!(role.contains("role:slave"), "{role}");
    scene.no_ghosts(setup.server(promoted), restarted).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_primary_is_replaced_and_comes_back_without_ghosts() {
    let setup = SentinelSetup::start();
    let scene = settled(&setup).await;
    let suspended = scene.present_interval(setup.server(0));
    setup.server(0).suspend();
    scene.fails_with("given up").await;
    let promoted = setup.failed_over(0);
    setup.has_replicas(1);
    scene.owns_again("primary silent", suspended, setup.server(promoted), SOON).await;

    setup.server(0).resume();
    let resumed = scene.present_interval(setup.server(promoted));
    setup.has_replicas(2);
    scene.no_ghosts(setup.server(promoted), resumed).await;
}

/// The old primary goes on for a while, but not without replicas.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_that_was_replaced_while_it_was_well_is_left() {
    let setup = SentinelSetup::start();
    let scene = settled(&setup).await;
    let replaced = scene.present_interval(setup.server(0));
    setup.fail_over();
    let promoted = setup.failed_over(0);
    setup.has_replicas(1);
    scene.owns_again("primary replaced", replaced, setup.server(promoted), SOON).await;
    setup.has_replicas(2);
    let interval = scene.present_interval(setup.server(promoted));
    scene.no_ghosts(setup.server(promoted), interval).await;
}
