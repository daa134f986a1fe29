//! A group's key that gets lost or goes back in time: nobody may rest on it. What single
//! registrations are told after a roll-back is in `../lost_data.rs`, for both layouts.

use n_and_i::Config;
use n_and_i_redis::RedisRegistry;
use n_and_i_test_support::{Group, RedisServer};

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
