//! Workers that know nothing but the counters, and groups that do not agree.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use n_and_i::{Config, Reason};
use n_and_i_redis::RedisRegistry;
use n_and_i_test_support::{Group, Log, RedisServer, eventually_async};

const INTERVAL: u64 = 400;

/// A worker of another implementation: it asks the server for the time, counts itself with
/// INCR and sets an expiry, all with plain commands, in the middle of every interval.
struct Foreign {
    stop: Arc<AtomicBool>,
    registrations: Arc<AtomicU64>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Foreign {
    /// `every_time`: sets the expiry after every INCR, not only after the one that made the key.
    fn start(client: &redis::Client, tag: &'static str, every_time: bool) -> Self {
        let (stop, registrations) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let mut connection = client.get_connection().unwrap();
        let (stopped, counted) = (Arc::clone(&stop), Arc::clone(&registrations));
        let thread = thread::spawn(move || {
            let mut last = 0;
            while !stopped.load(Ordering::Relaxed) {
                let (seconds, micros): (u64, u64) =
                    redis::cmd("TIME").query(&mut connection).unwrap();
                let now = seconds * 1000 + micros / 1000;
                if now / INTERVAL > last && now % INTERVAL >= INTERVAL / 2 {
                    last = now / INTERVAL;
                    let key = format!("{tag}{last}");
                    let count: u64 = redis::cmd("INCR").arg(&key).query(&mut connection).unwrap();
                    if every_time || count == 1 {
                        let mut expire = redis::cmd("PEXPIRE");
                        expire.arg(&key).arg(3 * INTERVAL).exec(&mut connection).unwrap();
                    }
                    counted.fetch_add(1, Ordering::Relaxed);
                }
                thread::sleep(Duration::from_millis(2));
            }
        });
        Self { stop, registrations, thread: Some(thread) }
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic there shows as registrations that never come.
            let _ = thread.join();
        }
    }
}

async fn counts_a_foreign_worker(every_time: bool) {
    let server = RedisServer::start();
    let config = Config::new("mixed", Duration::from_millis(INTERVAL)).unwrap();
    let config = config.with_prefix("p:").unwrap();
    let registry = RedisRegistry::from_client(server.client());
    let mut group = Group::new();
    let first = group.join(registry.clone(), &config);
    let second = group.join(registry, &config);
    group.settled().await;

    let foreign = Foreign::start(&server.client(), "p:{mixed}:", every_time);
    let thirds = || {
        let pairs = [group.lease(first)?.share().pair(), group.lease(second)?.share().pair()];
        (pairs[0].n() == 3 && pairs[1].n() == 3).then_some(pairs)
    };
    // Both own a third; the third that is left is the foreign worker's.
    let pairs = eventually_async("both own a third", thirds).await;
    assert_ne!(pairs[0].i(), pairs[1].i());
    assert!(foreign.registrations.load(Ordering::Relaxed) >= 2);

    let keys: Vec<String> = server.command(&["KEYS", "*"]);
    let mut counters = 0;
    for key in keys.iter().filter(|key| *key != "p:{mixed}:guard") {
        let interval = key.strip_prefix("p:{mixed}:").expect("a counter of the group");
        interval.parse::<u64>().unwrap();
        let value: Option<u64> = server.command(&["GET", key]);
        let left: i64 = server.command(&["PTTL", key]);
        // Gone meanwhile, or with a limited time to live.
        assert!(value.is_none() || (1..=3).contains(&value.unwrap()), "{key}: {value:?}");
        assert!(left == -2 || (1..=3 * 400).contains(&left), "{key}: {left} ms");
        let encoding: Option<String> = server.command(&["OBJECT", "ENCODING", key]);
        assert!(encoding.is_none_or(|encoding| encoding == "int"), "{key}");
        counters += 1;
    }
    assert!((2..=4).contains(&counters), "{keys:?}");

    drop(foreign);
    group.settled().await;
    group.check();
}

#[tokio::test]
async fn a_foreign_worker_that_sets_the_expiry_once_is_counted() {
    counts_a_foreign_worker(false).await;
}

#[tokio::test]
async fn a_foreign_worker_that_sets_the_expiry_every_time_is_counted() {
    counts_a_foreign_worker(true).await;
}

#[tokio::test]
async fn the_keys_expire_when_the_group_is_gone() {
    let server = RedisServer::start();
    let config = Config::new("gone", Duration::from_millis(200)).unwrap();
    let mut group = Group::new();
    let worker = group.join(RedisRegistry::from_client(server.client()), &config);
    group.settled().await;
    group.leave(worker).await;
    let gone = || (server.command::<u64>(&["DBSIZE"]) == 0).then_some(());
    eventually_async("all keys expire", gone).await;
}

#[tokio::test]
async fn another_interval_is_refused_until_the_group_is_gone() {
    let server = RedisServer::start();
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let registry = RedisRegistry::from_client(server.client());
    let slow = Config::new("interval", Duration::from_millis(500)).unwrap();
    let fast = Config::new("interval", Duration::from_millis(300)).unwrap();
    let mut group = Group::new();
    let old = group.join(registry.clone(), &slow);
    group.settled().await;

    let new = group.join(registry, &fast);
    let refused = || (log.count("registration failed") >= 4).then_some(());
    eventually_async("the new worker is refused again and again", refused).await;
    let error = &log.find("registration failed").unwrap().fields["error"];
    assert!(error.contains("500ms") && error.contains("300ms"), "{error}");
    assert!(group.lease(old).is_some(), "the old worker is not disturbed");
    assert_eq!(group.seen(new).len(), 1, "the new worker owns nothing");
    assert_eq!(group.idle(new).await, Reason::Starting);

    group.crash(old).await;
    group.settled().await;
    group.check();
}

#[tokio::test]
async fn two_prefixes_are_two_groups() {
    let server = RedisServer::start();
    let registry = RedisRegistry::from_client(server.client());
    let config = Config::new("same", Duration::from_millis(200)).unwrap();
    let (mut one, mut other) = (Group::new(), Group::new());
    one.join(registry.clone(), &config);
    other.join(registry, &config.with_prefix("other:").unwrap());
    one.settled().await;
    other.settled().await;
}
