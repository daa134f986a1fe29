//! The demo as lines.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use n_and_i_test_support::{RedisServer, eventually};
use serde_json::Value;

use crate::child::{Program, program};

/// Long enough to settle three times over.
const LENGTH: [&str; 4] = ["--interval", "200ms", "--for", "6s"];

#[test]
fn embedded_the_group_settles_takes_one_in_and_gets_over_a_crash() {
    let program = Program::start(&[&["demo", "--json"], &LENGTH[..]].concat());
    replay(&program.json());
}

#[test]
fn in_redis_too() {
    let server = RedisServer::start();
    let url = server.url();
    let arguments = ["demo", "--json", "--redis", &url, "--prefix", "p:", "--name", "x"];
    let program = Program::start(&[&arguments, &LENGTH[..]].concat());
    eventually("registrations", || (server.calls("incr") > 0).then_some(()));
    let keys: Vec<String> = server.command(&["KEYS", "*"]);
    assert!(keys.iter().all(|key| key.starts_with("p:{x}:")), "{keys:?}");
    replay(&program.json());
}

/// Checks what the lines tell: five share, then six, then five; no two at once own one index.
fn replay(lines: &[Value]) {
    let mut owners = BTreeMap::new();
    let mut settled_at = Vec::new();
    let mut last_time = 0;
    for line in lines {
        for field in ["t_ms", "event", "worker", "i", "n", "reason", "stage"] {
            assert!(line.get(field).is_some(), "{line} lacks {field}");
        }
        let time = line["t_ms"].as_u64().expect("a whole number");
        assert!(time >= last_time, "{line} goes back in time");
        last_time = time;
        let event = line["event"].as_str().expect("a word");
        let Some(worker) = line["worker"].as_str() else {
            assert_eq!(event, "summary");
            continue;
        };
        if let (Some(i), Some(n)) = (line["i"].as_u64(), line["n"].as_u64()) {
            assert!(line["reason"].is_null() && line["stage"].is_u64(), "{line}");
            owners.insert(worker, (i, n));
        } else {
            assert_eq!(line["reason"].is_string(), event == "change", "{line}");
            owners.remove(worker);
        }
        for task in 0..60 {
            let count = owners.values().filter(|(i, n)| task % n == *i).count();
            assert!(count <= 1, "task {task} has {count} owners after {line}: {owners:?}");
        }
        let n = owners.len() as u64;
        let mut pairs: Vec<_> = owners.values().copied().collect();
        pairs.sort_unstable();
        if n > 1 && pairs == (0..n).map(|i| (i, n)).collect::<Vec<_>>() {
            settled_at.push(n);
        }
    }
    settled_at.dedup();
    // A loaded machine may unsettle a group on the way.
    for phases in [[5, 6], [6, 5]] {
        assert!(settled_at.windows(2).any(|two| two == phases), "settled at {settled_at:?}");
    }
    let events: Vec<_> = lines.iter().filter(|line| line["event"] != "change").collect();
    let events: Vec<_> = events.iter().map(|line| (&line["event"], &line["worker"])).collect();
    let (join, crash, summary) = ("join".into(), "crash".into(), "summary".into());
    let expected = [(&join, &"F".into()), (&crash, &"B".into()), (&summary, &Value::Null)];
    assert_eq!(events, expected);
    let after_crash = lines.iter().skip_while(|line| line["event"] != "crash").skip(1);
    assert!(after_crash.clone().all(|line| line["worker"] != "B"));

    let summary = lines.last().expect("there is a summary");
    assert_eq!(summary["conflicts"], 0);
    let mean = summary["share_mean"].as_f64().expect("something was owned");
    assert!(mean > 0.2 && mean <= 1.0, "{summary}");
    assert!(summary["first_ownership_ms"].as_u64().is_some_and(|first| first > 200));
    // The end of the demo itself is not counted.
    let counts = |line: &&Value| line["event"] == "change" && line["reason"] != "stopped";
    assert_eq!(summary["changes"], lines.iter().filter(counts).count());
    assert!(summary["intervals"].as_f64().is_some_and(|count| count >= 29.9), "{summary}");
}

#[test]
fn plain_lines_read_as_sentences_and_end_with_a_summary() {
    let mut program = Program::start(&[&["demo", "--workers", "1"], &LENGTH[..]].concat());
    assert!(program.end().success());
    let lines = program.stdout();
    assert!(lines[0].starts_with("1 worker in group \"demo\""), "{lines:?}");
    let mut rest = lines.iter();
    for expected in [
        "A: idle (starting)",
        "A: owns 0 of 1 (task % 1 == 0)",
        "B joins",
        " of 2 (task % 2 == ",
        "B crashes",
        "A: owns 0 of 1 (task % 1 == 0)",
        "Summary",
        "conflicts (a task with two owners)   0",
    ] {
        let found = rest.any(|line| line.contains(expected));
        assert!(found, "no {expected:?} in its place: {lines:#?}");
    }
}

#[test]
fn an_embedded_demo_asks_no_redis() {
    let mut command = program(&["demo", "--interval", "50ms", "--for", "500ms"]);
    let mut program = Program::run(command.env("REDIS_URL", "redis://127.0.0.1:1"));
    assert!(program.end().success());
    assert!(program.stderr().iter().all(|line| !line.contains("failed")));
}

#[test]
fn many_workers_share_without_conflict() {
    let program = Program::start(&[
        "demo",
        "--workers",
        "100",
        "--interval",
        "400ms",
        "--for",
        "4s",
        "--json",
    ]);
    let lines = program.json();
    let names: Vec<_> = lines.iter().filter_map(|line| line["worker"].as_str()).collect();
    assert!(names.contains(&"CV") && names.contains(&"CW"), "A to CV start, CW joins");
    assert_eq!(lines.last().expect("a summary")["conflicts"], 0);
}

#[test]
fn a_reader_that_has_seen_enough_ends_it_quietly() {
    let mut command = program(&["demo", "--interval", "50ms", "--for", "1m"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    reader.read_line(&mut String::new()).unwrap();
    drop(reader);
    let status = eventually("the program ends", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
    let errors = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert!(!errors.contains("panic") && !errors.contains("Broken pipe"), "{errors}");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_with_a_summary() {
    use rustix::process::Signal;

    for signal in [Signal::INT, Signal::TERM] {
        let mut program = Program::start(&["demo", "--interval", "200ms", "--for", "10m"]);
        program.wait_for("owns");
        program.signal(signal);
        assert_eq!(program.end().code(), Some(0));
        program.wait_for("conflicts (a task with two owners)   0");
    }
}
