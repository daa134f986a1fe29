//! Workers on smol with a real server, both of redis-rs's runtimes being built in.

mod support;

use std::sync::Arc;

use n_and_i_redis::RedisRegistry;
use n_and_i_smol::{discover, discover_on};
use n_and_i_test_support::{Members, RedisServer};
use smol::Executor;
use support::{Pool, config};

/// Joins three workers, and kills the server with SIGKILL and restarts it once they have settled.
fn survives_a_restart(executor: Option<&Arc<Executor<'static>>>) {
    let mut server = RedisServer::start();
    let registry = RedisRegistry::from_client(server.client());
    let config = config();
    let mut members = Members::new();
    for _ in 0..3 {
        let peers = match executor {
            Some(executor) => discover_on(executor, registry.clone(), config.clone()),
            None => discover(registry.clone(), config.clone()),
        };
        let (_, consumer) = members.join(peers);
        match executor {
            Some(executor) => executor.spawn(consumer).detach(),
            None => smol::spawn(consumer).detach(),
        }
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

#[test]
fn a_group_on_the_global_executor_survives_a_killed_server() {
    survives_a_restart(None);
}

#[test]
fn a_group_on_an_executor_of_its_own_survives_a_killed_server() {
    for threads in [1, 3] {
        survives_a_restart(Some(&Pool::start(threads).executor));
    }
}

#[test]
fn workers_on_smol_and_on_tokio_are_one_group_and_may_share_a_registry() {
    for shared in [false, true] {
        let server = RedisServer::start();
        let config = config();
        let registry = RedisRegistry::from_client(server.client());
        let on_tokio =
            if shared { registry.clone() } else { RedisRegistry::from_client(server.client()) };
        let mut members = Members::new();

        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.unwrap();
        let peers = {
            let _entered = runtime.enter();
            n_and_i_tokio::discover(on_tokio, config.clone()).unwrap()
        };
        let (worker_on_tokio, consumer) = members.join(peers);
        runtime.spawn(consumer);
        // If the registry is shared, the connection is Tokio's.
        members.settled();

        let (_, consumer) = members.join(discover(registry, config));
        smol::spawn(consumer).detach();
        members.settled();

        // With the runtime goes its connection; the next one is smol's.
        drop(runtime);
        members.lose(worker_on_tokio);
        assert_eq!(members.settled()[0].n(), 1);
        members.check();
    }
}
