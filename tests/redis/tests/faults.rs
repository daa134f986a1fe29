//! Whatever happens to the server: leases end on time, nothing panics, the log says what is
//! wrong, and the workers own again soon after, without being restarted.

use std::time::Duration;

use n_and_i::{BootClock, Clock, Config, Reason};
use n_and_i_redis::RedisRegistry;
use n_and_i_test_support::{Group, Log, RedisServer, eventually_async};

const INTERVAL: Duration = Duration::from_millis(300);
const WORKERS: usize = 2;

fn config() -> Config {
    Config::new("faults", INTERVAL).unwrap()
}

/// The number of the server's present interval.
fn present_interval(server: &RedisServer) -> u64 {
    let (seconds, micros): (u64, u64) = server.command(&["TIME"]);
    (seconds * 1_000_000 + micros) / u64::try_from(INTERVAL.as_micros()).unwrap()
}

/// Breaks a settled group's server and repairs it. `error` is part of what must be logged.
async fn survives(
    mut server: RedisServer,
    url: String,
    break_it: impl FnOnce(&mut RedisServer),
    error: &str,
    repair: impl FnOnce(&mut RedisServer),
) {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let registry = RedisRegistry::from_client(redis::Client::open(url).unwrap());
    let config = config();
    let mut group = Group::new();
    for _ in 0..WORKERS {
        group.join(registry.clone(), &config);
    }
    group.settled().await;
    assert_eq!(log.count("registration failed"), 0);

    break_it(&mut server);
    let broken = BootClock.now();
    for worker in group.workers() {
        assert_eq!(group.idle(worker).await, Reason::Expired);
        assert!(group.lease(worker).is_none());
    }
    let latest_end = broken.saturating_add(INTERVAL.mul_f64(1.0 + config.gap()));
    for span in group.history().spans() {
        assert!(span.until <= latest_end, "{span} outlives the fault at {broken:?}");
    }
    let expired = log.find("lease expired").unwrap();
    assert_eq!(expired.level, tracing::Level::WARN);
    let logged = || {
        let events = log.events();
        let failures = events.iter().filter(|event| event.message == "registration failed");
        let mut errors = failures.map(|event| (event.level, &event.fields["error"]));
        errors.any(|(level, text)| level == tracing::Level::ERROR && text.contains(error))
    };
    let failed = || (log.count("registration failed") >= 3 * WORKERS).then_some(());
    eventually_async("registrations fail", failed).await;
    let errors: Vec<_> =
        log.events().into_iter().filter_map(|event| event.fields.get("error").cloned()).collect();
    assert!(logged(), "no {error:?} in {errors:#?}");

    repair(&mut server);
    let repaired = present_interval(&server);
    for worker in group.workers() {
        let lease = group.owns_after(worker, repaired).await;
        let took = lease.stage() - repaired;
        assert!(took <= 5, "worker {worker} owned again only after {took} intervals");
    }
    group.settled().await;
    group.check();
}

#[tokio::test]
async fn server_killed_and_restarted() {
    let server = RedisServer::start();
    let url = server.url();
    survives(server, url, RedisServer::kill, "refused", RedisServer::restart).await;
}

#[tokio::test]
async fn server_suspended_and_resumed() {
    let server = RedisServer::start();
    let url = server.url();
    survives(server, url, |server| server.suspend(), "given up", |server| server.resume()).await;
}

#[tokio::test]
async fn server_became_a_replica() {
    let server = RedisServer::start();
    let url = server.url();
    let demote = |server: &mut RedisServer| {
        server.command::<String>(&["REPLICAOF", "127.0.0.1", "1"]);
    };
    let promote = |server: &mut RedisServer| {
        server.command::<String>(&["REPLICAOF", "NO", "ONE"]);
    };
    survives(server, url, demote, "READONLY", promote).await;
}

#[tokio::test]
async fn server_out_of_memory() {
    let server = RedisServer::start_with(&["--maxmemory-policy", "noeviction"]);
    let url = server.url();
    let fill = |server: &mut RedisServer| {
        server.command::<String>(&["CONFIG", "SET", "maxmemory", "1"]);
    };
    let free = |server: &mut RedisServer| {
        server.command::<String>(&["CONFIG", "SET", "maxmemory", "0"]);
    };
    survives(server, url, fill, "OOM", free).await;
}

#[tokio::test]
async fn counters_of_another_type() {
    let server = RedisServer::start();
    let url = server.url();
    let keys = |server: &RedisServer| {
        let present = present_interval(server);
        (present..present + 12).map(|interval| format!("{{faults}}:{interval}"))
    };
    let block = |server: &mut RedisServer| {
        for key in keys(server) {
            server.command::<u64>(&["DEL", &key]);
            server.command::<u64>(&["RPUSH", &key, "x"]);
        }
    };
    let clear = |server: &mut RedisServer| {
        for key in keys(server) {
            server.command::<u64>(&["DEL", &key]);
        }
    };
    survives(server, url, block, "WRONGTYPE", clear).await;
}

#[tokio::test]
async fn guard_of_another_kind() {
    let server = RedisServer::start();
    let url = server.url();
    let block = |server: &mut RedisServer| {
        server.command::<String>(&["SET", "{faults}:guard", "something else"]);
    };
    let clear = |server: &mut RedisServer| {
        server.command::<u64>(&["DEL", "{faults}:guard"]);
    };
    survives(server, url, block, "BADGUARD {faults}:guard", clear).await;
}

/// A server with a user of the name `worker` that has this password, and the user's URL.
fn server_with_user() -> (RedisServer, String) {
    let server = RedisServer::start();
    grant(&server, &["on", ">secret", "~{faults}:*", "+@all"]);
    let url = format!("redis://worker:secret@127.0.0.1:{}", server.port());
    (server, url)
}

fn grant(server: &RedisServer, rules: &[&str]) {
    server.command::<String>(&[&["ACL", "SETUSER", "worker"], rules].concat());
}

#[tokio::test]
async fn password_changed() {
    let (server, url) = server_with_user();
    let change = |server: &mut RedisServer| {
        grant(server, &["resetpass", ">other"]);
        server.command::<u64>(&["CLIENT", "KILL", "USER", "worker"]);
    };
    let restore = |server: &mut RedisServer| grant(server, &["resetpass", ">secret"]);
    survives(server, url, change, "Password authentication failed", restore).await;
}

#[tokio::test]
async fn user_deleted_and_restored() {
    let (server, url) = server_with_user();
    let delete = |server: &mut RedisServer| {
        server.command::<u64>(&["ACL", "DELUSER", "worker"]);
    };
    let restore =
        |server: &mut RedisServer| grant(server, &["on", ">secret", "~{faults}:*", "+@all"]);
    survives(server, url, delete, "Password authentication failed", restore).await;
}

#[tokio::test]
async fn scripts_forbidden() {
    let (server, url) = server_with_user();
    let forbid = |server: &mut RedisServer| grant(server, &["-eval", "-evalsha"]);
    let allow = |server: &mut RedisServer| grant(server, &["+eval", "+evalsha"]);
    survives(server, url, forbid, "not possible as things are configured", allow).await;
}

#[tokio::test]
async fn counting_forbidden_inside_the_script() {
    let (server, url) = server_with_user();
    let forbid = |server: &mut RedisServer| grant(server, &["-incr"]);
    let allow = |server: &mut RedisServer| grant(server, &["+incr"]);
    survives(server, url, forbid, "not possible as things are configured", allow).await;
}

#[tokio::test]
async fn storing_forbidden() {
    let (server, url) = server_with_user();
    let forbid = |server: &mut RedisServer| grant(server, &["-set"]);
    let allow = |server: &mut RedisServer| {
        let keys: Vec<String> = server.command(&["KEYS", "*"]);
        for key in keys {
            let left: i64 = server.command(&["PTTL", &key]);
            assert_ne!(left, -1, "{key} never expires");
        }
        grant(server, &["+set"]);
    };
    survives(server, url, forbid, "not possible as things are configured", allow).await;
}

#[tokio::test]
async fn server_without_its_replicas() {
    let server = RedisServer::start();
    let url = server.url();
    let cut_off = |server: &mut RedisServer| {
        server.command::<String>(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
    };
    let restore = |server: &mut RedisServer| {
        server.command::<String>(&["CONFIG", "SET", "min-replicas-to-write", "0"]);
    };
    survives(server, url, cut_off, "NOREPLICAS", restore).await;
}

#[tokio::test]
async fn the_least_permissions_are_enough() {
    let server = RedisServer::start();
    let commands = ["+eval", "+evalsha", "+time", "+get", "+set", "+incr", "+pexpire", "+info"];
    grant(&server, &[&["on", ">secret", "~{faults}:*", "-@all"], &commands[..]].concat());
    let url = format!("redis://worker:secret@127.0.0.1:{}", server.port());
    let registry = RedisRegistry::from_client(redis::Client::open(url).unwrap());
    let mut group = Group::new();
    group.join(registry, &config());
    group.settled().await;
}

#[tokio::test]
async fn requests_that_were_given_up_leave_no_ghosts() {
    let server = RedisServer::start();
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let registry = RedisRegistry::from_client(server.client());
    let mut group = Group::new();
    for _ in 0..WORKERS {
        group.join(registry.clone(), &config());
    }
    group.settled().await;

    server.suspend();
    let given_up = || (log.count("registration failed") >= 3 * WORKERS).then_some(());
    eventually_async("three attempts of each were given up", given_up).await;
    server.resume();
    let resumed = present_interval(&server);
    for worker in group.workers() {
        group.owns_after(worker, resumed).await;
    }
    // All that was sent meanwhile has been executed by now; only those still waited for count.
    let mut counted = 0;
    for interval in resumed..present_interval(&server) {
        let count: Option<usize> = server.command(&["GET", &format!("{{faults}}:{interval}")]);
        assert!(count.unwrap_or(0) <= WORKERS, "{count:?} in interval {interval}");
        counted += count.unwrap_or(0);
    }
    assert!(counted >= WORKERS);
    group.check();
}
