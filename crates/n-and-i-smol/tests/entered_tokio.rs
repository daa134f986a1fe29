//! smol inside an entered Tokio runtime, where redis-rs takes Tokio if both are built in.
//!
//! One test, since the way out is a setting of the whole process that cannot be taken back.

mod support;

use std::thread;

use n_and_i_redis::RedisRegistry;
use n_and_i_smol::discover_on;
use n_and_i_test_support::{Log, RedisServer, eventually};
use smol::Executor;
use support::{config, lease};
use tokio::runtime::{Builder, Runtime};

/// Runs one worker on an executor inside `runtime` until it owns something.
fn owns_within(runtime: &Runtime, server: &RedisServer) {
    let registry = RedisRegistry::from_client(server.client());
    let _entered = runtime.enter();
    let executor = Executor::new();
    let mut peers = discover_on(&executor, registry, config());
    smol::block_on(executor.run(lease(&mut peers)));
}

/// Runs one worker inside `runtime` until the log has `message`. Returns what it is about.
fn fails_within(runtime: &Runtime, server: &RedisServer, message: &str, field: &str) -> String {
    let log = Log::default();
    let registry = RedisRegistry::from_client(server.client());
    thread::scope(|scope| {
        let (stop, stopped) = smol::channel::bounded::<()>(1);
        let logged = log.clone();
        scope.spawn(move || {
            let _logging = tracing::subscriber::set_default(logged);
            let _entered = runtime.enter();
            let executor = Executor::new();
            let mut peers = discover_on(&executor, registry, config());
            let until_stopped = async {
                let _ = stopped.recv().await;
            };
            let until_owned = async {
                while let Some(change) = peers.next().await {
                    assert!(change.lease().is_none(), "it works now: say so in the docs");
                }
                std::future::pending::<()>().await;
            };
            smol::block_on(executor.run(smol::future::or(until_stopped, until_owned)));
        });
        let event = eventually("the failure is logged", || log.find(message));
        stop.close();
        event.fields[field].clone()
    })
}

#[test]
fn it_works_if_the_runtime_runs_and_else_fails_in_the_log_until_smol_is_preferred() {
    let server = RedisServer::start();
    let running = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    // Nobody runs these two.
    let idle = Builder::new_current_thread().enable_all().build().unwrap();
    let without_io = Builder::new_current_thread().build().unwrap();

    owns_within(&running, &server);
    let error = fails_within(&idle, &server, "registration failed", "error");
    assert!(error.contains("no answer within the interval"), "{error}");
    let reason = fails_within(&without_io, &server, "discover stopped", "reason");
    assert_eq!(reason, "panicked");

    redis::aio::prefer_smol().unwrap();
    owns_within(&idle, &server);
    owns_within(&without_io, &server);
    owns_within(&running, &server);

    // Workers on Tokio go on with smol's connections.
    let registry = RedisRegistry::from_client(server.client());
    let mut peers = {
        let _entered = running.enter();
        n_and_i_tokio::discover(registry, config()).unwrap()
    };
    smol::block_on(lease(&mut peers));
}
