//! What is wrong with a server.

use n_and_i_test_support::{RedisCluster, RedisServer, eventually};

use super::{Look, SILENT, settles, worker};
use crate::child::Program;

#[test]
fn a_policy_that_evicts_is_wrong() {
    for policy in ["allkeys-lru", "volatile-ttl"] {
        let server = RedisServer::start_with(&["--maxmemory-policy", policy]);
        let look = Look::json(&server.url(), &[]);
        look.has_problem(&format!("maxmemory-policy is {policy}: it evicts"));
        let text = Look::at(&server.url(), &[]).text();
        assert!(text.contains("WRONG") && text.contains(policy), "{text}");
        assert!(text.contains("-> CONFIG SET maxmemory-policy noeviction"), "{text}");
        server.command::<String>(&["CONFIG", "SET", "maxmemory-policy", "noeviction"]);
        assert_eq!(Look::json(&server.url(), &[]).problems(), [""; 0]);
    }
}

#[test]
fn a_full_memory_is_wrong() {
    let server = RedisServer::start();
    server.command::<String>(&["CONFIG", "SET", "maxmemory", "100kb"]);
    let look = Look::json(&server.url(), &[]);
    look.has_problem("the memory is full");
    assert_eq!(look.object()["server"]["maxmemory"], 100 * 1024);
}

#[test]
fn replicas_need_a_primary_that_minds_them() {
    let (primary, replica) = (RedisServer::start(), RedisServer::start());
    let port = primary.port().to_string();
    replica.command::<String>(&["REPLICAOF", "127.0.0.1", &port]);
    eventually("the replica follows", || {
        let info: String = replica.command(&["INFO", "replication"]);
        info.contains("master_link_status:up").then_some(())
    });
    let look = Look::json(&primary.url(), &[]);
    look.has_problem("1 replica and no min-replicas-to-write");
    let look = Look::json(&replica.url(), &[]);
    look.has_problem("this is a replica: nobody can register here");
    let text = Look::at(&replica.url(), &[]).text();
    assert!(text.contains(&format!("the primary, 127.0.0.1:{port}")), "{text}");

    primary.command::<String>(&["CONFIG", "SET", "min-replicas-to-write", "2"]);
    eventually("one replica is seen to be too few", || {
        let look = Look::json(&primary.url(), &[]);
        look.problems()[0].contains("only 1 of 1 replicas").then_some(())
    });
    primary.command::<String>(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
    assert_eq!(Look::json(&primary.url(), &[]).problems(), [""; 0]);
    replica.command::<String>(&["REPLICAOF", "NO", "ONE"]);
    eventually("the primary notices", || {
        let look = Look::json(&primary.url(), &[]);
        look.problems().iter().any(|problem| problem.contains("NOREPLICAS")).then_some(())
    });
}

const COUNTERS: &str = "+eval +evalsha +time +get +hget +set +incr +pexpire +info";
const SLOTS: &str = "+eval +evalsha +time +get +hget +hmget +hset +hdel +pexpire +info";

/// A user who may do that, and who leaves out what.
fn user(server: &RedisServer, allowed: &str, without: &str) -> String {
    let allowed = allowed.split(' ').filter(|command| command.trim_start_matches('+') != without);
    let start = ["ACL", "SETUSER", "worker", "reset", "on", ">secret", "~{x}:*", "-@all"];
    server.command::<String>(&start.into_iter().chain(allowed).collect::<Vec<_>>());
    format!("redis://worker:secret@127.0.0.1:{}", server.port())
}

#[test]
fn a_user_with_the_permissions_of_a_worker_can_look() {
    let server = RedisServer::start();
    for (layout, allowed, all) in [("counters", COUNTERS, 1), ("slots", SLOTS, 2)] {
        server.command::<String>(&["FLUSHALL"]);
        let url = user(&server, allowed, "none");
        let of_group = ["watch", "--name", "x", "--interval", "500ms", "--layout", layout];
        let worker = Program::start(&[&of_group[..], &["--redis", &url]].concat());
        worker.wait_for("owns 0 of 1");
        let look = Look::json(&url, &[]);
        assert_eq!(look.problems(), [""; 0]);
        let object = look.object();
        assert_eq!(object["layout"], layout);
        let mut unchecked = look.unchecked();
        unchecked.retain(|note| !note.starts_with(SILENT));
        assert_eq!(unchecked.len(), all, "{object}");
        assert!(unchecked[0].starts_with("PTTL: "), "{object}");
        assert!(object["keys"][0]["ttl_ms"].is_null(), "{object}");
    }
}

#[test]
fn a_command_that_workers_lack_is_named() {
    let server = RedisServer::start();
    for (layout, allowed) in [("counters", COUNTERS), ("slots", SLOTS)] {
        for lacking in allowed.split(' ').map(|command| command.trim_start_matches('+')) {
            let url = user(&server, allowed, lacking);
            let look = Look::json(&url, &["--layout", layout]);
            let name = lacking.to_ascii_uppercase();
            match lacking {
                // Nothing can be seen without.
                "time" => {
                    let error = look.object()["error"].as_str().unwrap().to_owned();
                    assert!(look.code == Some(1) && error.contains("time"), "{error}");
                    let words = format!("ACL SETUSER with ~{{x}}:* {allowed}");
                    // In the same words, whatever the order.
                    assert!(words.split(' ').all(|word| error.contains(word)), "{error}");
                }
                "eval" => look.has_problem("workers cannot register: EVAL is refused"),
                _ => look.has_refused(&format!("{name} is refused")),
            }
        }
    }
}

#[test]
fn a_command_that_was_taken_away_is_named() {
    let server = RedisServer::start_with(&["--rename-command", "INCR", "\"\""]);
    let look = Look::json(&server.url(), &[]);
    look.has_refused("INCR is refused or not there");
    let look = Look::json(&server.url(), &["--layout", "slots"]);
    assert_eq!(look.problems(), [""; 0]);
}

#[test]
fn a_group_of_another_layout_is_wrong_if_one_was_asked_for() {
    let server = RedisServer::start();
    let _worker = worker(&server, "slots");
    settles(&server, 1);
    assert_eq!(Look::json(&server.url(), &["--layout", "slots"]).problems(), [""; 0]);
    let look = Look::json(&server.url(), &["--layout", "counters"]);
    look.has_problem("the group has the layout slots: workers with counters are refused");
}

#[test]
fn a_key_of_somebody_else_is_wrong() {
    let server = RedisServer::start();
    for words in [
        &["SET", "{x}:guard", "mine"][..],
        &["SET", "{x}:guard", "counters 500 x"],
        &["HSET", "{x}:guard", "group", "slots"],
        &["HSET", "{x}:guard", "mine", "1"],
        &["RPUSH", "{x}:guard", "1"],
    ] {
        server.command::<String>(&["FLUSHALL"]);
        server.command::<redis::Value>(words);
        let look = Look::json(&server.url(), &[]);
        look.has_problem("holds something else");
        assert_eq!(look.object()["state"], "absent", "{words:?}");
    }
}

#[test]
fn a_group_ahead_of_the_clock_and_a_key_that_stays_are_wrong() {
    let server = RedisServer::start();
    server.command::<String>(&["SET", "{x}:guard", "counters 1000 9000000000 1 a 1 b c"]);
    let problems = Look::json(&server.url(), &[]).problems();
    assert!(
        problems[0].contains("intervals ahead: the server's clock was set back"),
        "{problems:?}"
    );
    assert!(problems[1].contains("no time to live"), "{problems:?}");
    assert_eq!(problems.len(), 2);
}

#[test]
fn a_server_that_cannot_be_asked_is_an_error() {
    let mut server = RedisServer::start();
    server.suspend();
    let look = Look::json(&server.url(), &[]);
    server.resume();
    let object = look.object();
    assert_eq!((look.code, object["state"].is_null()), (Some(1), true));
    assert!(object["error"].as_str().unwrap().contains("timed out"), "{object}");

    server.kill();
    let look = Look::at(&server.url(), &["--intervals", "2"]);
    assert_eq!(look.code, Some(1));
    let text = look.text();
    assert!(text.contains("error      Redis at 127.0.0.1:"), "{text}");
    assert!(text.contains(" cannot be asked: Connection refused"), "{text}");
}

#[test]
fn a_node_of_a_cluster_names_the_one_to_ask() {
    let cluster = RedisCluster::start();
    let slot = cluster.slot("{x}:guard");
    let home = cluster.primary(slot).expect("somebody serves it");
    let other = (home + 1) % 3;
    let look = Look::json(&cluster.node(other).url(), &[]);
    let error = look.object()["error"].as_str().unwrap().to_owned();
    let url = cluster.node(home).url();
    assert!(look.code == Some(1) && error.ends_with(&format!("use --redis {url}")), "{error}");
    let look = Look::json(&url, &[]);
    assert_eq!(look.object()["server"]["mode"], "cluster");
    assert_eq!(look.problems(), [""; 0]);
}
