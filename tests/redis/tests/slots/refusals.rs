//! Who is refused: workers with another layout, keys of others, users who may not.

use n_and_i::{Config, Layout, Reason, RegistrationError, Registry, Request, Stamp};
use n_and_i_redis::RedisRegistry;
use n_and_i_test_support::{Group, Log, RedisServer, eventually_async};

use super::config;

/// The commands that are needed, as in an ACL.
const COMMANDS: [&str; 10] = [
    "+eval", "+evalsha", "+time", "+hmget", "+hget", "+hset", "+hdel", "+pexpire", "+get", "+info",
];

async fn the_later_is_refused(name: &str, first: Layout, second: Layout) {
    let server = RedisServer::start();
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let registry = RedisRegistry::from_client(server.client());
    let mut group = Group::new();
    let old = group.join(registry.clone(), &config(name, 300).with_layout(first));
    group.settled().await;
    let told = group.seen(old).len();

    let new = group.join(registry, &config(name, 300).with_layout(second));
    let refused = || (log.count("registration failed") >= 4).then_some(());
    eventually_async("the new worker is refused again and again", refused).await;
    let error = &log.find("registration failed").unwrap().fields["error"];
    assert!(error.contains("counters") && error.contains("slots"), "{error}");
    assert!(error.contains(&format!("{first}, this worker is configured for {second}")), "{error}");
    assert!(group.lease(old).is_some(), "the old worker is not disturbed");
    assert_eq!(group.seen(old).len(), told);
    assert_eq!(group.idle(new).await, Reason::Starting);
    assert_eq!(group.seen(new).len(), 1, "the new worker owns nothing");

    group.leave(old).await;
    group.settled().await;
    group.check();
}

#[tokio::test]
async fn slots_are_refused_while_the_group_has_counters() {
    the_later_is_refused("counters-first", Layout::Counters, Layout::Slots).await;
}

#[tokio::test]
async fn counters_are_refused_while_the_group_has_slots() {
    the_later_is_refused("slots-first", Layout::Slots, Layout::Counters).await;
}

/// Registers once, as a worker that is new.
async fn register(registry: &RedisRegistry, config: &Config) -> Result<(), RegistrationError> {
    let request = Request::new(config, Stamp::from_u128(1), None);
    registry.register(request).await.map(drop)
}

fn words(error: &RegistrationError) -> String {
    format!("{error}: {error:?}")
}

#[tokio::test]
async fn what_belongs_to_others_is_left_alone() {
    let server = RedisServer::start();
    let registry = RedisRegistry::from_client(server.client());
    let config = config("others", 300);
    let key = "{others}:guard";
    let cases: [&[&str]; 5] = [
        &["SET", key, "something else"],
        &["RPUSH", key, "x"],
        &["SADD", key, "x"],
        &["HSET", key, "field", "value"],
        &["HSET", key, "group", "something else"],
    ];
    for case in cases {
        server.command::<redis::Value>(case);
        let before: Vec<u8> = server.command(&["DUMP", key]);
        let error = register(&registry, &config).await.expect_err("not this key");
        assert!(matches!(error, RegistrationError::Configuration(_)), "{case:?}: {error:?}");
        let words = words(&error);
        assert!(words.contains("BADGUARD") && words.contains(key), "{case:?}: {words}");
        let after: Vec<u8> = server.command(&["DUMP", key]);
        assert_eq!((after, server.command::<i64>(&["PTTL", key])), (before, -1), "{case:?}");
        server.command::<u64>(&["DEL", key]);
    }
    register(&registry, &config).await.expect("the key is free");
}

fn grant(server: &RedisServer, rules: &[&str]) -> RedisRegistry {
    server.command::<String>(&[&["ACL", "SETUSER", "worker"], rules].concat());
    let url = format!("redis://worker:secret@127.0.0.1:{}", server.port());
    RedisRegistry::from_client(redis::Client::open(url).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_least_permissions_are_enough() {
    let server = RedisServer::start();
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let rules = [&["on", ">secret", "~{least}:*", "-@all"], &COMMANDS[..]].concat();
    let registry = grant(&server, &rules);
    let config = config("least", 300);
    let mut group = Group::new();
    for _ in 0..8 {
        group.join(registry.clone(), &config);
    }
    group.settled().await;
    // So that indices are given back, taken over and forgotten.
    for worker in 0..5 {
        group.leave(worker).await;
    }
    group.join(registry.clone(), &config);
    group.settled().await;
    for worker in 5..7 {
        group.crash(worker).await;
    }
    group.settled().await;
    let forgotten = || (server.command::<usize>(&["HLEN", "{least}:guard"]) == 5).then_some(());
    eventually_async("all but two workers are forgotten", forgotten).await;
    assert_eq!(log.count("registration failed"), 0);
    for command in COMMANDS {
        let name = command.trim_start_matches('+');
        assert!(server.calls(name) > 0, "{name} is not needed");
    }
    group.check();
}

#[tokio::test]
async fn a_permission_that_is_missing_is_said_and_leaves_nothing() {
    let server = RedisServer::start();
    let config = config("missing", 300);
    for missing in ["time", "hmget", "hset", "pexpire", "get", "info"] {
        let less = format!("-{missing}");
        let rules = [&["reset", "on", ">secret", "~{missing}:*", "-@all"], &COMMANDS[..], &[&less]]
            .concat();
        let registry = grant(&server, &rules);
        let error = register(&registry, &config).await.expect_err(missing);
        assert!(matches!(error, RegistrationError::Configuration(_)), "{missing}: {error:?}");
        let left: Vec<String> = server.command(&["KEYS", "*"]);
        assert!(left.is_empty(), "without {missing}: {left:?}");
    }
}

#[tokio::test]
async fn a_server_short_of_memory_refuses_the_first_registration_too() {
    let server = RedisServer::start_with(&["--maxmemory-policy", "noeviction"]);
    let registry = RedisRegistry::from_client(server.client());
    let config = config("memory", 300);
    server.command::<String>(&["CONFIG", "SET", "maxmemory", "1"]);
    let error = register(&registry, &config).await.expect_err("no memory");
    assert!(matches!(error, RegistrationError::NotExecuted(_)), "{error:?}");
    assert_eq!(server.command::<u64>(&["DBSIZE"]), 0);
    server.command::<String>(&["CONFIG", "SET", "maxmemory", "0"]);
    register(&registry, &config).await.expect("enough memory");
    server.command::<String>(&["CONFIG", "SET", "maxmemory", "1"]);
    let error = register(&registry, &config).await.expect_err("no memory");
    assert!(matches!(error, RegistrationError::NotExecuted(_)), "{error:?}");
}
