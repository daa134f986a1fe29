//! Registrations that succeed or are refused, each counted by the server.

mod support;

use std::time::Duration;

use fred::prelude::ClientLike;
use n_and_i::{Config, RegistrationError};
use n_and_i_fred::FredRegistry;
use n_and_i_test_support::{Group, RedisServer};
use support::{builder, builder_at, connected, counted, group, register};

const MINUTE: Duration = Duration::from_secs(60);

/// A group settles through this registry.
async fn settles(registry: FredRegistry) {
    let config = Config::new("settles", Duration::from_millis(200)).unwrap();
    let mut group = Group::new();
    group.join(registry.clone(), &config);
    group.join(registry, &config);
    group.settled().await;
    group.check();
}

#[tokio::test]
async fn each_call_is_counted_once_through_a_client() {
    let server = RedisServer::start();
    let (_client, registry) = connected(&builder(server.port())).await;
    for expected in 0..20 {
        let registered = register(&registry, &group(MINUTE)).await.unwrap();
        assert_eq!(registered.script_loaded.is_some(), expected == 0);
        assert_eq!(counted(&server), expected + 1);
    }
    assert_eq!((server.calls("eval"), server.calls("evalsha")), (1, 20));
    settles(registry).await;
}

#[tokio::test]
async fn each_call_is_counted_once_through_a_pool() {
    let server = RedisServer::start();
    let pool = builder(server.port()).build_pool(3).unwrap();
    pool.init().await.unwrap();
    let registry = FredRegistry::new(pool).unwrap();
    for expected in 0..20 {
        register(&registry, &group(MINUTE)).await.unwrap();
        assert_eq!(counted(&server), expected + 1);
    }
    let list: String = server.command(&["CLIENT", "LIST"]);
    assert_eq!(
        list.matches("cmd=evalsha").count() + list.matches("cmd=eval ").count(),
        3,
        "{list}"
    );
    settles(registry).await;
}

#[tokio::test]
async fn a_flushed_script_is_sent_with_the_next_call() {
    let server = RedisServer::start();
    let (_client, registry) = connected(&builder(server.port())).await;
    for expected in 1..=10 {
        server.command::<String>(&["SCRIPT", "FLUSH"]);
        let registered = register(&registry, &group(MINUTE)).await.unwrap();
        assert_eq!(registered.script_loaded, Some(n_and_i::counters::REGISTER.sha1));
        assert_eq!(counted(&server), expected);
    }
}

#[tokio::test]
async fn user_password_database_and_protocol_are_the_clients() {
    let server = RedisServer::start();
    let rules = ["on", ">secret", "~{by-hand}:*", "-@all"];
    let commands = ["+eval", "+evalsha", "+time", "+get", "+set", "+incr", "+pexpire", "+info"];
    let connecting = ["+ping", "+hello", "+select"];
    let words = [&["ACL", "SETUSER", "worker"], &rules[..], &commands, &connecting].concat();
    server.command::<String>(&words);
    for version in [fred::types::RespVersion::RESP2, fred::types::RespVersion::RESP3] {
        let mut builder =
            builder_at(&format!("redis://worker:secret@127.0.0.1:{}/5", server.port()));
        builder.with_config(|config| config.version = version);
        let (_client, registry) = connected(&builder).await;
        register(&registry, &group(MINUTE)).await.unwrap();
    }
    let keyspace: String = server.command(&["INFO", "keyspace"]);
    assert!(keyspace.contains("db5:") && !keyspace.contains("db0:"), "{keyspace}");
}

#[tokio::test]
async fn what_is_configured_wrongly_is_said() {
    let server = RedisServer::start();
    let (_client, registry) = connected(&builder(server.port())).await;
    server.command::<()>(&["SET", "{by-hand}:guard", "something else"]);
    let error = register(&registry, &group(MINUTE)).await.unwrap_err();
    assert!(matches!(error, RegistrationError::Configuration(_)), "{error:?}");

    server.command::<()>(&["DEL", "{by-hand}:guard"]);
    server.command::<String>(&["CONFIG", "SET", "maxmemory", "1"]);
    let error = register(&registry, &group(MINUTE)).await.unwrap_err();
    assert!(matches!(error, RegistrationError::NotExecuted(_)), "{error:?}");
    server.command::<String>(&["CONFIG", "SET", "maxmemory", "0"]);

    register(&registry, &group(MINUTE)).await.unwrap();
    let error = register(&registry, &group(MINUTE * 2)).await.unwrap_err();
    assert!(matches!(error, RegistrationError::IntervalMismatch { .. }), "{error:?}");
}

#[tokio::test]
async fn what_is_refused_after_counting_may_have_been_counted() {
    let server = RedisServer::start();
    let grant = |rules: &[&str]| {
        server.command::<String>(&[&["ACL", "SETUSER", "worker"], rules].concat());
    };
    grant(&["on", ">secret", "~*", "+@all"]);
    let url = format!("redis://worker:secret@127.0.0.1:{}", server.port());
    let (_client, registry) = connected(&builder_at(&url)).await;
    // So long that both are made in one interval.
    let config = group(MINUTE * 60 * 24);
    register(&registry, &config).await.unwrap();
    grant(&["-set"]);
    let error = register(&registry, &config).await.unwrap_err();
    let RegistrationError::Unknown(cause) = error else { panic!("{error:?}") };
    assert!(cause.to_string().starts_with("COUNTED"), "{cause}");
}

#[tokio::test]
async fn a_wrong_password_is_said_until_it_is_right() {
    let server = RedisServer::start();
    server.command::<String>(&["ACL", "SETUSER", "worker", "on", ">other", "~*", "+@all"]);
    let mut builder = builder_at(&format!("redis://worker:secret@127.0.0.1:{}", server.port()));
    // Else the first failure would be the last, as `init` says.
    builder.with_config(|config| config.fail_fast = false);
    let client = builder.build().unwrap();
    let registry = FredRegistry::new(client.clone()).unwrap();
    let error = register(&registry, &group(MINUTE)).await.unwrap_err();
    assert!(matches!(error, RegistrationError::NotExecuted(_)), "not told to connect: {error:?}");

    client.connect();
    let refused = async {
        loop {
            match register(&registry, &group(MINUTE)).await {
                Err(RegistrationError::Configuration(cause)) => break cause,
                // As long as the client has not tried.
                Err(RegistrationError::NotExecuted(_)) => tokio::task::yield_now().await,
                other => panic!("{other:?}"),
            }
        }
    };
    let cause = tokio::time::timeout(MINUTE, refused).await.unwrap();
    assert!(cause.to_string().contains("WRONGPASS"), "{cause}");
    assert!(!format!("{registry:?} {cause:?}").contains("secret"));

    server.command::<String>(&["ACL", "SETUSER", "worker", ">secret"]);
    support::recovers(&registry, &group(MINUTE)).await;
}

#[tokio::test]
async fn a_client_that_has_quit_says_so_at_once() {
    let server = RedisServer::start();
    let (client, registry) = connected(&builder(server.port())).await;
    client.quit().await.unwrap();
    let fails = async {
        loop {
            match register(&registry, &group(MINUTE)).await {
                Err(RegistrationError::NotExecuted(_)) => break,
                // Sent before the client had taken notice.
                result => drop(result),
            }
        }
    };
    tokio::time::timeout(MINUTE, fails).await.unwrap();
    client.init().await.unwrap();
    support::recovers(&registry, &group(MINUTE)).await;
}
