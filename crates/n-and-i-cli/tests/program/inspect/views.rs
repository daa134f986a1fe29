//! Looking on.

use n_and_i_test_support::{RedisServer, eventually};
use rustix::process::Signal;

use super::{settles, worker};
use crate::child::{Program, json};
use crate::terminal::Terminal;

fn watch(server: &RedisServer, more: &[&str]) -> Program {
    let url = server.url();
    let look = ["inspect", "--name", "x", "--watch", "--redis", &url];
    Program::start(&[&look[..], more].concat())
}

#[test]
fn without_a_terminal_there_is_a_line_per_change() {
    let mut server = RedisServer::start();
    let mut onlooker = watch(&server, &[]);
    onlooker.wait_for("absent");
    let first = worker(&server, "counters");
    onlooker.wait_for("settled (closed: 1 1; open: ");
    let _second = worker(&server, "counters");
    onlooker.wait_for("changing (closed: ");
    onlooker.wait_for(" 2 2; open: ");
    server.command::<String>(&["CONFIG", "SET", "maxmemory-policy", "volatile-lru"]);
    onlooker.wait_for("; WRONG: maxmemory-policy is volatile-lru");
    server.kill();
    onlooker.wait_for(" cannot be asked: ");
    assert!(onlooker.is_running());
    server.restart();
    eventually("the group is seen to have settled again", || {
        onlooker.stdout().last()?.contains("settled (closed: ").then_some(())
    });
    drop(first);
    onlooker.signal(Signal::TERM);
    assert_eq!(onlooker.end().code(), Some(0));
    let lines = onlooker.stdout();
    assert!(lines.iter().all(|line| line.contains(" s  ")), "{lines:#?}");
}

#[test]
fn with_json_there_is_an_object_per_change() {
    let server = RedisServer::start();
    let mut onlooker = watch(&server, &["--json"]);
    onlooker.wait_for("\"absent\"");
    let _worker = worker(&server, "slots");
    onlooker.wait_for("\"settled\"");
    onlooker.signal(Signal::INT);
    assert_eq!(onlooker.end().code(), Some(0));
    let objects = onlooker.stdout().into_iter().map(|line| json(&line));
    let seen = objects.map(|object| (object["open"]["interval"].clone(), object["state"].clone()));
    let seen: Vec<_> = seen.collect();
    assert!(seen.windows(2).all(|two| two[0] != two[1]), "{seen:#?}");
    assert_eq!((&seen[0].1, &seen.last().unwrap().1), (&"absent".into(), &"settled".into()));
}

#[test]
fn on_a_terminal_there_is_a_picture_that_changes() {
    let mut server = RedisServer::start();
    let first = worker(&server, "counters");
    settles(&server, 1);
    let url = server.url();
    let arguments = ["inspect", "--name", "x", "--watch", "--redis", &url];
    let mut terminal = Terminal::start(&arguments, (24, 80), false);
    let screen = terminal.wait_for("settled: 1 worker");
    assert!(screen.alternate_screen() && screen.hide_cursor());
    let contents = screen.contents();
    for expected in
        ["n-and-i inspect", "counts", "█", "{x}:guard", "findings   none", "Ctrl-C ends"]
    {
        assert!(contents.contains(expected), "no {expected:?}: {contents}");
    }
    let second = worker(&server, "counters");
    terminal.wait_for("changing: its intervals do not agree yet");
    let contents = terminal.wait_for("settled: 2 workers").contents();
    let bars = contents.lines().find(|line| line.starts_with("counts")).unwrap();
    assert!(bars.contains("▄█"), "half as many before: {contents}");
    assert_eq!(contents.matches("n-and-i inspect").count(), 1, "in its place: {contents}");
    terminal.resize(10, 40);
    terminal.wait_for("settled: 2 workers");
    terminal.resize(30, 100);
    server.kill();
    terminal.wait_for("error      Redis at 127.0.0.1:");
    server.restart();
    terminal.wait_for("settled: 2 workers");
    drop((first, second));
    terminal.wait_for("absent: no worker");
    terminal.signal(Signal::INT);
    assert_eq!(terminal.end().code(), Some(0));
    let screen = terminal.given_back("absent: no worker");
    assert!(!screen.contents().contains("Ctrl-C ends"), "{}", screen.contents());
}

#[test]
fn a_worker_is_a_picture_too() {
    let mut server = RedisServer::start();
    let url = server.url();
    let arguments = ["watch", "--name", "x", "--interval", "500ms", "--redis", &url];
    let mut terminal = Terminal::start(&arguments, (24, 80), false);
    let screen = terminal.wait_for("owns 0 of 1  task % 1 == 0  token ");
    assert!(screen.alternate_screen() && screen.hide_cursor());
    let contents = screen.contents();
    for expected in [
        "group \"x\", layout counters, interval 500ms",
        "lease █",
        " s left",
        "CHANGES",
        "Ctrl-C ends",
    ] {
        assert!(contents.contains(expected), "no {expected:?}: {contents}");
    }
    let second = worker(&server, "counters");
    terminal.wait_for("owns nothing: rebalancing");
    terminal.wait_for("of 2  task % 2 == ");
    drop(second);
    terminal.wait_for("owns 0 of 1  task");
    server.kill();
    let contents = terminal.wait_for("registrations fail: ").contents();
    assert!(!contents.contains("ERROR"), "{contents}");
    terminal.wait_for("owns nothing: expired");
    server.restart();
    terminal.wait_for("owns 0 of 1  task");
    terminal.signal(Signal::INT);
    assert_eq!(terminal.end().code(), Some(0));
    terminal.given_back("owns nothing: stopped");
}
