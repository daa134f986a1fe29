//! Workers on async-std with a real server, smol being redis-rs's only runtime.

use std::time::Duration;

use n_and_i::Config;
use n_and_i_async_std::discover;
use n_and_i_redis::RedisRegistry;
use n_and_i_test_support::{Members, RedisServer};

#[test]
fn a_group_survives_a_killed_server() {
    let mut server = RedisServer::start();
    let registry = RedisRegistry::from_client(server.client());
    let config = Config::new("async-std", Duration::from_millis(150)).unwrap();
    let mut members = Members::new();
    for _ in 0..3 {
        let (_, consumer) = members.join(discover(registry.clone(), config.clone()));
        drop(async_std::task::spawn(consumer));
    }
    members.settled();
    server.kill();
    for worker in 0..3 {
        members.idle(worker);
        assert!(members.lease(worker).is_none());
    }
    server.restart();
    members.settled();
    members.leave(0);
    members.settled();
    members.check();
}
