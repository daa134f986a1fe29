//! Every message of the log, with its fields at its level; silence without a subscriber.

use std::process::Command;
use std::time::Duration;

use n_and_i::{Config, Registered, RegistrationError, Registry, Request};
use n_and_i_redis::RedisRegistry;
use n_and_i_test_support::{Group, Log, RedisServer, eventually_async};
use tracing::Level;

/// Checks one message: its level, and its fields besides the group's name.
fn check(log: &Log, level: Level, message: &str, fields: &[&str]) {
    let events = log.events();
    let mut found = events.iter().filter(|event| event.message == message).peekable();
    assert!(found.peek().is_some(), "{message:?} was never logged");
    for event in found {
        assert_eq!(event.level, level, "{event:?}");
        assert_eq!(event.fields["group"], "events", "{event:?}");
        let mut names: Vec<_> = event.fields.keys().copied().collect();
        names.retain(|name| *name != "group");
        // A field that has no value in this event is left out.
        assert!(names.iter().all(|name| fields.contains(name)), "{event:?} has other fields");
    }
    for field in fields {
        let named = |event: &n_and_i_test_support::Event| {
            event.message == message && event.fields.contains_key(field)
        };
        assert!(events.iter().any(named), "no {message:?} has the field {field}");
    }
}

#[tokio::test]
async fn every_message_has_its_level_and_fields() {
    let mut server = RedisServer::start();
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let registry = RedisRegistry::from_client(server.client());
    let config = Config::new("events", Duration::from_millis(300)).unwrap();
    let config = config.with_prefix("p:").unwrap();
    let mut group = Group::new();
    group.join(registry.clone(), &config);
    group.settled().await;
    let second = group.join(registry.clone(), &config);
    group.settled().await;
    group.leave(second).await;
    group.settled().await;

    let unhealthy = |level: &Level| *level < Level::INFO;
    let loud: Vec<_> = log.events().into_iter().filter(|event| unhealthy(&event.level)).collect();
    assert!(loud.is_empty(), "a healthy group is not above info: {loud:#?}");

    // What held the stamps is lost, so the next reply implies nothing.
    server.command::<u64>(&["DEL", "p:{events}:guard"]);
    let lost = || {
        let events = log.events();
        let mut lost = events.iter().filter(|event| event.message == "no pair implied");
        lost.any(|event| event.fields.contains_key("pi")).then_some(())
    };
    eventually_async("no pair is implied after one was", lost).await;
    group.settled().await;

    server.kill();
    let failed = || log.find("lease expired").and(log.find("registration failed"));
    eventually_async("failures are logged", failed).await;
    server.restart();
    let third = group.join(registry, &config);
    group.settled().await;
    group.crash(third).await;
    eventually_async("a crash is logged", || {
        let events = log.events();
        let mut stopped = events.iter().filter(|event| event.message == "discover stopped");
        stopped.any(|event| event.fields["reason"] == "closed").then_some(())
    })
    .await;

    check(&log, Level::ERROR, "registration failed", &["error", "attempt", "delay"]);
    check(&log, Level::WARN, "lease expired", &["interval", "after"]);
    check(&log, Level::INFO, "discover started", &["interval", "gap", "prefix", "registry"]);
    check(&log, Level::INFO, "discover stopped", &["reason"]);
    check(&log, Level::DEBUG, "pair disagreed", &["i", "n", "pi", "pn"]);
    check(&log, Level::DEBUG, "script loaded", &["sha"]);
    let completed = ["interval", "index", "replicas", "skew"];
    check(&log, Level::TRACE, "registration completed", &completed);
    check(&log, Level::TRACE, "lease granted", &["i", "n"]);
    check(&log, Level::TRACE, "lease released", &["i", "n"]);
    check(&log, Level::TRACE, "pair agreed", &["i", "n"]);
    check(&log, Level::TRACE, "no pair implied", &["pi", "pn"]);
    check(&log, Level::TRACE, "next registration scheduled", &["delay", "expires"]);
    check(&log, Level::TRACE, "pair handed to the loop", &["i", "n"]);

    let started = log.find("discover started").unwrap();
    assert_eq!(started.fields["interval"], "300ms");
    assert_eq!(started.fields["registry"], "redis");
    assert_eq!((&*started.fields["prefix"], &*started.fields["gap"]), ("p:", "0.15"));
    let mut stopped = log.events().into_iter().filter(|event| event.message == "discover stopped");
    assert_eq!(stopped.next().unwrap().fields["reason"], "abort");
}

/// A registry with a bug.
struct Panics;

impl Registry for Panics {
    async fn register(&self, _: Request<'_>) -> Result<Registered, RegistrationError> {
        panic!("a bug in a registry, as this test wants it")
    }

    fn kind(&self) -> &'static str {
        "panics"
    }
}

#[tokio::test]
async fn a_registry_that_panics_ends_the_stream_and_is_an_error() {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let config = Config::new("events", Duration::from_millis(300)).unwrap();
    let mut peers = n_and_i_tokio::discover(Panics, config).unwrap();
    while peers.next().await.is_some() {}
    let stopped = log.find("discover stopped").unwrap();
    assert_eq!((stopped.level, &*stopped.fields["reason"]), (Level::ERROR, "panicked"));
}

#[test]
fn nothing_is_written_without_a_subscriber() {
    let mut server = RedisServer::start();
    let url = server.url();
    let quiet = || Command::new(env!("CARGO_BIN_EXE_quiet-worker")).args([&url, "quiet"]).output();
    let output = quiet().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");

    // Nor while there is something to complain about.
    server.kill();
    let worker = std::thread::spawn({
        let url = url.clone();
        move || {
            Command::new(env!("CARGO_BIN_EXE_quiet-worker")).args([&url, "quiet"]).output().unwrap()
        }
    });
    std::thread::sleep(Duration::from_millis(500));
    server.restart();
    let output = worker.join().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
}
