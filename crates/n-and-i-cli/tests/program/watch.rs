//! One worker of a real group.

use std::time::Duration;

use n_and_i_test_support::{RedisServer, eventually};
use rustix::process::Signal;

use crate::child::{Program, json, program};

const WATCH: [&str; 5] = ["watch", "--name", "x", "--interval", "200ms"];

fn watch(url: &str, more: &[&str]) -> Program {
    Program::start(&[&WATCH, &["--redis", url][..], more].concat())
}

#[test]
fn a_signal_ends_it_with_a_last_idle_line() {
    let server = RedisServer::start();
    for signal in [Signal::INT, Signal::TERM] {
        let name = format!("signal-{signal:?}");
        let mut worker = Program::start(&[
            "watch",
            "--name",
            &name,
            "--interval",
            "500ms",
            "--redis",
            &server.url(),
        ]);
        worker.wait_for("owns 0 of 1 (task % 1 == 0), stage ");
        worker.signal(signal);
        assert_eq!(worker.end().code(), Some(0));
        let lines = worker.stdout();
        assert!(lines[0].ends_with("idle (starting)"), "{lines:?}");
        let last = lines.last().unwrap();
        assert!(last.contains("idle (stopped)"), "{lines:?}");
        assert!(last.ends_with("left to finish what was begun"), "{lines:?}");
    }
}

#[test]
fn who_owned_nothing_has_nothing_to_say_at_the_end() {
    let server = RedisServer::start();
    let url = server.url();
    let mut worker = Program::start(&["watch", "--name", "x", "--interval", "1h", "--redis", &url]);
    worker.wait_for("idle (starting)");
    worker.signal(Signal::TERM);
    assert_eq!(worker.end().code(), Some(0));
    assert_eq!(worker.stdout().len(), 1, "{:?}", worker.stdout());
}

#[test]
fn json_lines_have_their_fields() {
    let server = RedisServer::start();
    let worker = watch(&server.url(), &["--json", "--gap", "0.2", "--prefix", "p:"]);
    worker.wait_for("\"i\":0");
    let keys: Vec<String> = server.command(&["KEYS", "*"]);
    assert!(keys.iter().all(|key| key.starts_with("p:{x}:")), "{keys:?}");
    worker.signal(Signal::TERM);
    let lines = worker.json();
    for line in &lines {
        let fields: Vec<_> = line.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields, ["i", "n", "pi", "pn", "reason", "stage", "t_ms", "token"], "{line}");
        assert!(line["t_ms"].is_u64(), "{line}");
    }
    let (first, last) = (&lines[0], &lines[lines.len() - 1]);
    assert_eq!((first["reason"].as_str(), first["stage"].as_u64()), (Some("starting"), None));
    assert_eq!(last["reason"], "stopped");
    assert!(last["stage"].is_u64(), "{last}");
    let owning = lines.iter().find(|line| line["i"] == 0).unwrap();
    assert_eq!((owning["n"].as_u64(), owning["reason"].as_str()), (Some(1), None));
    assert!(owning["pi"].is_null() && owning["pn"].is_null(), "{owning}");
    let stage = owning["stage"].as_u64().unwrap();
    assert_eq!(owning["token"].as_u64(), Some(stage * 200), "{owning}");
    assert!(first["token"].is_null() && last["token"].is_null());
}

#[test]
fn one_that_keeps_serving_goes_on_with_what_both_pairs_give_it() {
    let server = RedisServer::start();
    let watch = |more: &[&str]| {
        let url = server.url();
        let group = ["watch", "--name", "x", "--interval", "500ms", "--redis", &url];
        Program::start(&[&group[..], more].concat())
    };
    let worker = watch(&["--rebalance", "keep-serving"]);
    let in_json = watch(&["--rebalance", "keep-serving", "--json"]);
    eventually("both own a half", || {
        let line = in_json.stdout().last().map(|line| json(line))?;
        (line["n"] == 2 && line["pn"].is_null()).then_some(())
    });
    worker.wait_for(" of 2 (task % 2 == ");
    let before = in_json.stdout().len();
    // Workers of both kinds can be in one group.
    let third = watch(&["--rebalance", "stand-down", "--json"]);
    eventually("the third owns its part", || {
        third.stdout().iter().map(|line| json(line)).any(|line| line["n"] == 3).then_some(())
    });
    let partly = eventually("a share that two pairs have in common", || {
        let told = in_json.stdout();
        let mut told = told[before..].iter().map(|line| json(line));
        told.find(|line| line["n"] == 3 && line["pn"] == 2)
    });
    assert!(partly["i"].as_u64() < Some(3) && partly["pi"].as_u64() < Some(2), "{partly}");
    assert!(partly["reason"].is_null(), "{partly}");
    assert_eq!(partly["token"].as_u64(), partly["stage"].as_u64().map(|stage| stage * 500));
    eventually("it owns all of the new one", || {
        let line = in_json.stdout().last().map(|line| json(line))?;
        (line["n"] == 3 && line["pn"].is_null()).then_some(())
    });

    let line = worker.wait_for(" of 2 (task % 3 == ");
    assert!(
        line.contains("owns ") && line.contains(" of 3 and ") && line.contains(" and task % 2 == "),
        "{line}"
    );
    assert!(line.contains("), stage ") && line.contains(", token "), "{line}");
    assert!(line.ends_with(" s left to finish what it owns no more"), "{line}");
}

#[test]
fn two_share() {
    let server = RedisServer::start();
    let workers = [watch(&server.url(), &["--json"]), watch(&server.url(), &["--json"])];
    eventually("one has 0 of 2 and the other 1 of 2", || {
        let mut indices: Vec<_> = workers
            .iter()
            .filter_map(|worker| worker.stdout().last().map(|line| json(line)))
            .filter(|line| line["n"] == 2)
            .filter_map(|line| line["i"].as_u64())
            .collect();
        indices.sort_unstable();
        (indices == [0, 1]).then_some(())
    });
}

#[test]
fn without_redis_it_reports_and_waits_for_it() {
    let mut server = RedisServer::start();
    server.kill();
    let mut worker = watch(&server.url(), &[]);
    let line = worker.wait_for_error("registration failed");
    assert!(line.contains("ERROR") && line.contains("Connection refused"), "{line}");
    // It is tried again five times a second, and more often at first.
    std::thread::sleep(Duration::from_secs(2));
    assert!(worker.is_running());
    let reports = worker.stderr().iter().filter(|line| line.contains("ERROR")).count();
    assert!(reports <= 2, "it floods the terminal: {:?}", worker.stderr());
    assert_eq!(worker.stdout().len(), 1, "{:?}", worker.stdout());
    server.restart();
    worker.wait_for("owns 0 of 1");
    server.kill();
    worker.wait_for("idle (expired)");
    assert!(worker.is_running());
    worker.signal(Signal::TERM);
    assert_eq!(worker.end().code(), Some(0));
}

#[test]
fn the_address_is_taken_from_the_environment_unless_given() {
    let (server, other) = (RedisServer::start(), RedisServer::start());
    let from_environment = Program::run(program(&WATCH).env("REDIS_URL", server.url()));
    from_environment.wait_for("owns 0 of 1");
    assert!(server.calls("incr") > 0);

    let mut command = program(&[&WATCH, &["--redis", &other.url()][..]].concat());
    let given = Program::run(command.env("REDIS_URL", server.url()));
    given.wait_for("owns 0 of 1");
    assert!(other.calls("incr") > 0);
    for line in [from_environment.stdout(), given.stdout()].concat() {
        assert!(!line.contains("of 2"), "the other server has another group: {line}");
    }
}

#[test]
fn a_unix_socket_will_do() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("redis.sock");
    let socket = socket.to_str().expect("a path in UTF-8");
    let _server = RedisServer::start_with(&["--unixsocket", socket]);
    watch(&format!("redis+unix://{socket}"), &[]).wait_for("owns 0 of 1");
}

#[test]
fn another_interval_than_the_groups_is_reported() {
    let server = RedisServer::start();
    let first = watch(&server.url(), &[]);
    first.wait_for("owns 0 of 1");
    let url = server.url();
    let second = Program::start(&["watch", "--name", "x", "--interval", "500ms", "--redis", &url]);
    let line = second.wait_for_error("registration failed");
    assert!(line.contains("200ms") && line.contains("500ms"), "{line}");
}

#[test]
fn in_slots_who_stays_keeps_its_index_and_who_comes_is_last() {
    let server = RedisServer::start();
    let watch = || watch(&server.url(), &["--layout", "slots", "--json"]);
    let owns = |worker: &Program, pair: (u64, u64)| {
        eventually(&format!("one owns {} of {}", pair.0, pair.1), || {
            let line = worker.stdout().last().map(|line| json(line))?;
            (line["i"] == pair.0 && line["n"] == pair.1).then_some(())
        });
    };
    let first = watch();
    owns(&first, (0, 1));
    let second = watch();
    owns(&second, (1, 2));
    let mut third = watch();
    for (i, worker) in (0..).zip([&first, &second, &third]) {
        owns(worker, (i, 3));
    }
    let keys: Vec<String> = server.command(&["KEYS", "*"]);
    assert_eq!(keys, ["{x}:guard"]);
    third.signal(Signal::TERM);
    assert_eq!(third.end().code(), Some(0));
    for (i, worker) in (0..).zip([&first, &second]) {
        owns(worker, (i, 2));
        let lines = worker.stdout();
        let mut told = lines.iter().map(|line| json(line));
        assert!(told.all(|line| line["i"].is_null() || line["i"] == i), "{lines:#?}");
    }
}

#[test]
fn another_layout_than_the_groups_is_reported() {
    let server = RedisServer::start();
    for (name, group, own) in [("a", "counters", "slots"), ("b", "slots", "counters")] {
        let url = server.url();
        let watch = |layout: &str| {
            let of_group = ["watch", "--name", name, "--interval", "200ms", "--redis", &url];
            Program::start(&[&of_group[..], &["--layout", layout]].concat())
        };
        let mut first = watch(group);
        first.wait_for("owns 0 of 1");
        let mut second = watch(own);
        let line = second.wait_for_error("registration failed");
        let both =
            format!("group \"{name}\" has the layout {group}, this worker is configured for {own}");
        assert!(line.contains("ERROR") && line.contains(&both), "{line}");
        assert!(second.is_running());
        let owns = second.stdout().into_iter().find(|line| line.contains("owns"));
        assert_eq!(owns, None, "the group is not its own");
        // Once the group is gone the other layout takes over.
        first.signal(Signal::TERM);
        assert_eq!(first.end().code(), Some(0));
        assert!(first.stdout().iter().all(|line| !line.contains("of 2")), "{:?}", first.stdout());
        second.wait_for("owns 0 of 1");
    }
}
