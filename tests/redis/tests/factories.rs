//! Connections that the application opens: what it can write, and what it recovers from.

use std::io;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use n_and_i::{BoxError, Config, RegistrationError, Registry, Request, Stamp};
use n_and_i_redis::RedisRegistry;
use n_and_i_test_support::{FaultProxy, RedisServer, Scene, eventually_async};
use redis::aio::{ConnectionManager, ConnectionManagerConfig, MultiplexedConnection};

/// In how many intervals a group owns again: two to five, and more only while the machine stalls.
const SOON: u64 = 15;

async fn register(registry: &RedisRegistry) -> Result<u32, RegistrationError> {
    let config = Config::new("by-hand", Duration::from_secs(5)).unwrap();
    let request = Request::new(&config, Stamp::from_u128(1), None);
    registry.register(request).await.map(|registered| registered.reply.index)
}

#[tokio::test]
async fn a_factory_is_any_function_that_gives_a_future() {
    /// For closures that capture nothing.
    static CLIENT: OnceLock<redis::Client> = OnceLock::new();

    fn client() -> redis::Client {
        CLIENT.get().expect("the test set it").clone()
    }

    async fn connection() -> redis::RedisResult<MultiplexedConnection> {
        client().get_multiplexed_async_connection().await
    }

    let server = RedisServer::start();
    CLIENT.set(server.client()).unwrap();
    let own = server.client();
    let registries = [
        RedisRegistry::from_factory(connection),
        RedisRegistry::from_factory(|| async { connection().await }),
        RedisRegistry::from_factory(async || connection().await),
        RedisRegistry::from_factory(move || {
            let client = own.clone();
            async move { client.get_multiplexed_async_connection().await }
        }),
        RedisRegistry::from_factory(|| async { client().get_connection_manager().await }),
    ];
    for registry in registries {
        register(&registry).await.unwrap();
    }
}

#[tokio::test]
async fn errors_of_any_type_are_reported() {
    type Failed<E> = Result<MultiplexedConnection, E>;
    let registries = [
        RedisRegistry::from_factory(async || Failed::Err("no password today")),
        RedisRegistry::from_factory(async || Failed::Err("no password today".to_owned())),
        RedisRegistry::from_factory(async || Failed::Err(io::Error::other("no password today"))),
        RedisRegistry::from_factory(async || Failed::Err(BoxError::from("no password today"))),
    ];
    for registry in registries {
        let error = register(&registry).await.unwrap_err();
        let RegistrationError::NotExecuted(cause) = error else { panic!("{error:?}") };
        assert_eq!(cause.to_string(), "no password today");
    }
    // The client's own are told apart, in a box too.
    let server = RedisServer::start();
    let url = format!("redis://:wrong@127.0.0.1:{}", server.port());
    let wrong = move || {
        let client = redis::Client::open(url.as_str());
        async move { Ok::<_, BoxError>(client?.get_multiplexed_async_connection().await?) }
    };
    let error = register(&RedisRegistry::from_factory(wrong)).await.unwrap_err();
    assert!(matches!(error, RegistrationError::Configuration(_)), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_factory_that_reads_the_present_password_survives_its_change() {
    let server = RedisServer::start();
    let set = |rules: &[&str]| {
        server.command::<String>(&[&["ACL", "SETUSER", "worker"], rules].concat());
    };
    set(&["on", ">first", "~*", "+@all"]);
    let present = Arc::new(Mutex::new("first"));
    let known = Arc::clone(&present);
    let port = server.port();
    let registry = move || {
        let known = Arc::clone(&known);
        RedisRegistry::from_factory(move || {
            let password = *known.lock().unwrap();
            async move {
                let client =
                    redis::Client::open(format!("redis://worker:{password}@127.0.0.1:{port}"))?;
                client.get_multiplexed_async_connection().await
            }
        })
    };
    let scene = Scene::settled("rotated", registry).await;

    let changed = scene.present_interval(&server);
    set(&["resetpass", ">second"]);
    server.command::<u64>(&["CLIENT", "KILL", "USER", "worker"]);
    scene.fails_with("not possible as things are configured").await;
    for worker in scene.group.workers() {
        scene.group.idle(worker).await;
    }
    *present.lock().unwrap() = "second";
    scene.owns_again("password changed", changed, &server, SOON).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_manager_recovers_from_a_restart_after_some_seconds() {
    let mut server = RedisServer::start();
    let manager = server.client().get_connection_manager().await.unwrap();
    let registry = || RedisRegistry::from_shared(manager.clone());
    let scene = Scene::settled("managed", registry).await;
    let killed = scene.present_interval(&server);
    server.kill();
    // Long enough for its pauses between two attempts to become long.
    eventually_async("registrations fail for a while", || {
        (scene.errors("").len() >= 10 * Scene::WORKERS).then_some(())
    })
    .await;
    server.restart();
    scene.owns_again("manager, restart", killed, &server, 30).await;
}

#[tokio::test]
async fn a_connection_manager_never_notices_a_silent_peer() {
    let server = RedisServer::start();
    let proxy = FaultProxy::start(server.port());
    let client = redis::Client::open(format!("redis://127.0.0.1:{}", proxy.port())).unwrap();
    let manager = client.get_connection_manager().await.unwrap();
    let registry = RedisRegistry::from_shared(manager);
    register(&registry).await.unwrap();
    proxy.silence();
    for _ in 0..6 {
        let error = register(&registry).await.unwrap_err();
        assert!(matches!(error, RegistrationError::Unknown(_)), "{error:?}");
    }
    register(&RedisRegistry::from_client(client)).await.unwrap();
}

#[tokio::test]
async fn a_connection_manager_that_was_refused_once_is_refused_for_ever() {
    let server = RedisServer::start();
    let set = |rules: &[&str]| {
        server.command::<String>(&[&["ACL", "SETUSER", "worker"], rules].concat());
    };
    set(&["on", ">secret", "~*", "+@all"]);
    let url = format!("redis://worker:secret@127.0.0.1:{}", server.port());
    let client = redis::Client::open(url).unwrap();
    let config = ConnectionManagerConfig::new().set_number_of_retries(0);
    let manager = ConnectionManager::new_with_config(client.clone(), config).await.unwrap();
    let shared = RedisRegistry::from_shared(manager);
    let own = RedisRegistry::from_client(client);
    for registry in [&shared, &own] {
        register(registry).await.unwrap();
    }
    set(&["resetpass", ">other"]);
    server.command::<u64>(&["CLIENT", "KILL", "USER", "worker"]);
    for registry in [&shared, &own] {
        // The first may have been sent before the connection was known to be closed.
        let _ = register(registry).await;
        let error = register(registry).await.unwrap_err();
        assert!(matches!(error, RegistrationError::Configuration(_)), "{error:?}");
    }
    set(&["resetpass", ">secret"]);
    register(&own).await.unwrap();
    for _ in 0..6 {
        let error = register(&shared).await.unwrap_err();
        assert!(matches!(error, RegistrationError::Configuration(_)), "{error:?}");
    }
}

#[tokio::test]
async fn a_shared_multiplexed_connection_that_is_closed_stays_closed() {
    let server = RedisServer::start();
    let registry = RedisRegistry::from_shared(
        server.client().get_multiplexed_async_connection().await.unwrap(),
    );
    register(&registry).await.unwrap();
    server.command::<u64>(&["CLIENT", "KILL", "TYPE", "normal"]);
    for _ in 0..6 {
        register(&registry).await.unwrap_err();
    }
    register(&RedisRegistry::from_client(server.client())).await.unwrap();
}
