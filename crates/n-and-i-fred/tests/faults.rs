//! What a registration makes of servers and connections that fail.

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use fred::prelude::ClientLike;
use n_and_i::{RegistrationError, ServerTime};
use n_and_i_fred::FredRegistry;
use n_and_i_test_support::{FaultProxy, RedisServer, eventually_async};
use support::{builder, connected, counted, group, ran, recovers, register, register_until};

const MINUTE: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);

/// So that it can be seen with `--nocapture`; the documentation states what was seen.
fn report(what: &str, start: Instant, errors: &[RegistrationError]) {
    println!("{what}: {:?}, {} failures: {errors:?}", start.elapsed(), errors.len());
}

/// The server's number of the connection other than the one that asks.
fn connection(server: &RedisServer) -> Option<String> {
    let list: String = server.command(&["CLIENT", "LIST", "TYPE", "normal"]);
    let mut others = list.lines().filter(|line| !line.contains("cmd=client"));
    others.next().map(|line| line.split(' ').next().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn a_lost_reply_is_not_asked_for_again() {
    let server = RedisServer::start();
    let proxy = FaultProxy::start(server.port());
    let pool = builder(proxy.port()).build_pool(2).unwrap();
    pool.init().await.unwrap();
    let (client, through_client) = connected(&builder(proxy.port())).await;
    // More attempts are what the clients have, by default.
    assert_eq!(client.connection_config().max_command_attempts, 3);
    let through_pool = FredRegistry::new(pool).unwrap();

    let mut expected = 0;
    for registry in [&through_client, &through_pool].into_iter().cycle().take(10) {
        proxy.lose_replies(1);
        let error = register(registry, &group(MINUTE)).await.unwrap_err();
        assert!(matches!(error, RegistrationError::Unknown(_)), "{error:?}");
        expected += 1;
        assert_eq!(counted(&server), expected);
        let start = Instant::now();
        let errors = recovers(registry, &group(MINUTE)).await;
        report("reply lost", start, &errors);
        let executed =
            |error: &RegistrationError| !matches!(error, RegistrationError::NotExecuted(_));
        assert!(!errors.iter().any(executed), "{errors:?}");
        expected += 1;
        assert_eq!(counted(&server), expected);
    }
}

#[tokio::test]
async fn a_server_that_comes_back_empty_is_used_again() {
    let mut server = RedisServer::start();
    let (_client, registry) = connected(&builder(server.port())).await;
    register(&registry, &group(MINUTE)).await.unwrap();

    server.kill();
    // The first ones fail with the connection or wait in the client's queue for their time limit.
    let refused = async {
        loop {
            let error = register(&registry, &group(SECOND / 10)).await.unwrap_err();
            if format!("{error:?}").contains("ConnectionRefused") {
                break error;
            }
        }
    };
    let error = tokio::time::timeout(MINUTE, refused).await.unwrap();
    assert!(matches!(error, RegistrationError::NotExecuted(_)), "{error:?}");

    server.restart();
    let start = Instant::now();
    let errors = recovers(&registry, &group(MINUTE)).await;
    report("server restarted", start, &errors);
    assert_eq!(counted(&server), 1, "what failed while it was down did not run afterwards");
    let one = connection(&server).expect("connected");
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        register(&registry, &group(MINUTE)).await.unwrap();
    }
    assert_eq!(connection(&server), Some(one), "it connected once");
    let executed = |error: &RegistrationError| !matches!(error, RegistrationError::NotExecuted(_));
    assert!(!errors.iter().any(executed), "{errors:?}");
}

#[tokio::test]
async fn what_was_given_up_does_not_run_late() {
    let server = Arc::new(RedisServer::start());
    let (_client, registry) = connected(&builder(server.port())).await;
    let config = group(4 * SECOND);
    let at = register(&registry, &config).await.unwrap().reply.at;
    let (counted_before, ran_before) = (counted(&server), server.calls("evalsha"));

    server.suspend();
    let limit = ServerTime::from_micros(at.as_micros() + 500_000);
    let began = Instant::now();
    for _ in 0..6 {
        let call = register_until(&registry, &config, Some(limit));
        tokio::time::timeout(Duration::from_millis(20), call).await.unwrap_err();
    }
    // Past the limit on the server's clock.
    tokio::time::sleep(SECOND.saturating_sub(began.elapsed())).await;
    server.resume();
    ran(&server, ran_before + 6).await;
    assert_eq!(counted(&server), counted_before);

    let start = Instant::now();
    report("server resumed", start, &recovers(&registry, &config).await);
    assert_eq!(counted(&server), counted_before + 1);
}

#[tokio::test]
async fn a_server_suspended_for_long_is_used_again() {
    let server = RedisServer::start();
    let (_client, registry) = connected(&builder(server.port())).await;
    let config = group(Duration::from_millis(400));
    register(&registry, &config).await.unwrap();
    server.suspend();
    let began = Instant::now();
    while began.elapsed() < 3 * SECOND {
        register(&registry, &config).await.unwrap_err();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    server.resume();
    let start = Instant::now();
    report("server resumed after 3 s", start, &recovers(&registry, &config).await);
}

#[tokio::test]
async fn what_is_in_flight_when_the_client_connects_again_is_not_repeated() {
    let server = RedisServer::start();
    let (client, registry) = connected(&builder(server.port())).await;
    let config = group(MINUTE);
    register(&registry, &config).await.unwrap();
    server.suspend();
    // The client takes them in this order.
    let registering = register(&registry, &config);
    let connecting = client.force_reconnection();
    let resuming = async {
        let given_up = || (!client.is_connected()).then_some(());
        eventually_async("the client gives the connection up", given_up).await;
        server.resume();
    };
    let (registered, reconnected, ()) = tokio::join!(registering, connecting, resuming);
    reconnected.unwrap();
    let error = registered.unwrap_err();
    assert!(matches!(error, RegistrationError::Unknown(_)), "{error:?}");
    let executed = || (counted(&server) >= 2).then_some(());
    eventually_async("the server executes what it was sent", executed).await;
    register(&registry, &config).await.unwrap();
    assert_eq!(counted(&server), 3);
}

#[tokio::test]
async fn a_peer_that_went_silent_is_given_up() {
    let server = RedisServer::start();
    let proxy = FaultProxy::start(server.port());
    let (_client, registry) = connected(&builder(proxy.port())).await;
    let config = group(SECOND);
    register(&registry, &config).await.unwrap();
    let before = counted(&server);
    proxy.silence();
    let start = Instant::now();
    let errors = recovers(&registry, &config).await;
    report("peer went silent, interval 1 s", start, &errors);
    assert!(matches!(errors[0], RegistrationError::Unknown(_)), "{errors:?}");
    assert_eq!(counted(&server), before + 1);
}

#[tokio::test]
async fn many_who_time_out_together_renew_the_connection_once() {
    let server = RedisServer::start();
    let proxy = FaultProxy::start(server.port());
    let (client, registry) = connected(&builder(proxy.port())).await;
    let config = group(SECOND);
    register(&registry, &config).await.unwrap();
    let opened = || {
        let stats: String = server.command(&["INFO", "stats"]);
        let line = stats.lines().find_map(|line| line.strip_prefix("total_connections_received:"));
        line.unwrap().parse::<u64>().unwrap()
    };
    let before = opened();
    proxy.silence();
    let calls = (0..50).map(|_| {
        let (registry, config) = (registry.clone(), config.clone());
        tokio::spawn(async move { register(&registry, &config).await.is_err() })
    });
    for call in calls.collect::<Vec<_>>() {
        assert!(call.await.unwrap());
    }
    recovers(&registry, &config).await;
    // One for each look at the statistics, one for the client.
    let after = opened();
    assert_eq!(after - before, 2);
    assert!(client.is_connected());
}

#[tokio::test]
async fn a_server_that_is_the_wrong_one_is_not_asked_again() {
    let server = RedisServer::start();
    let (_client, registry) = connected(&builder(server.port())).await;
    register(&registry, &group(MINUTE)).await.unwrap();
    let first = connection(&server).unwrap();
    register(&registry, &group(MINUTE)).await.unwrap();
    assert_eq!(connection(&server).as_ref(), Some(&first), "the connection is kept");

    server.command::<String>(&["REPLICAOF", "127.0.0.1", "1"]);
    let error = register(&registry, &group(MINUTE)).await.unwrap_err();
    assert!(matches!(error, RegistrationError::NotExecuted(_)), "{error:?}");
    let replaced = || connection(&server).filter(|now| *now != first);
    eventually_async("the client connects again", replaced).await;
    server.command::<String>(&["REPLICAOF", "NO", "ONE"]);
    recovers(&registry, &group(MINUTE)).await;
}

#[tokio::test]
async fn a_client_without_a_policy_is_refused() {
    let client = fred::clients::Client::default();
    let error = FredRegistry::new(client).unwrap_err();
    assert_eq!(error, n_and_i_fred::ClientError::NoReconnectPolicy);
}
