//! The demo as lines.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use n_and_i_test_support::{RedisServer, eventually};
use serde_json::Value;

use crate::child::{Program, program};

const FIELDS: [&str; 11] =
    ["t_ms", "event", "rebalance", "worker", "i", "n", "pi", "pn", "reason", "stage", "token"];
/// Long enough to settle three times over.
const LENGTH: [&str; 4] = ["--interval", "200ms", "--for", "6s"];
const MODES: [&str; 2] = ["stand-down", "keep-serving"];

#[test]
fn embedded_both_groups_settle_take_one_in_and_get_over_a_crash() {
    let program = Program::start(&[&["demo", "--json"], &LENGTH[..]].concat());
    replay_both(&program.json());
}

#[test]
fn in_redis_too() {
    let server = RedisServer::start();
    let url = server.url();
    let arguments = ["demo", "--json", "--redis", &url, "--prefix", "p:", "--name", "x"];
    let program = Program::start(&[&arguments, &LENGTH[..]].concat());
    for mode in MODES {
        let group = format!("p:{{x-{mode}}}:");
        eventually("registrations of both groups", || {
            let keys: Vec<String> = server.command(&["KEYS", "*"]);
            assert!(keys.iter().all(|key| key.starts_with("p:{x-")), "{keys:?}");
            keys.iter().any(|key| key.starts_with(&group)).then_some(())
        });
    }
    replay_both(&program.json());
}

#[test]
fn in_slots_too() {
    let program = Program::start(&[&["demo", "--json", "--layout", "slots"], &LENGTH[..]].concat());
    replay_both(&program.json());

    let server = RedisServer::start();
    let url = server.url();
    let arguments = ["demo", "--json", "--layout", "slots", "--redis", &url, "--name", "x"];
    let program = Program::start(&[&arguments, &LENGTH[..]].concat());
    for mode in MODES {
        let key = format!("{{x-{mode}}}:guard");
        eventually("one key for each group", || {
            let kind: String = server.command(&["TYPE", &key]);
            (kind == "hash").then_some(())
        });
    }
    let keys: Vec<String> = server.command(&["KEYS", "*"]);
    assert_eq!(keys.len(), 2, "{keys:?}");
    replay_both(&program.json());
}

#[test]
fn a_demo_in_slots_says_so() {
    let group = ["demo", "--interval", "50ms", "--for", "200ms"];
    for (layout, expected) in
        [("slots", "\"demo-keep-serving\", layout slots, one"), ("counters", "serving\", one")]
    {
        let mut program = Program::start(&[&group[..], &["--layout", layout]].concat());
        assert!(program.end().success());
        let first = program.stdout().swap_remove(0);
        assert!(first.contains(expected), "{first}");
    }
}

#[test]
fn one_group_can_be_alone() {
    for mode in MODES {
        let arguments = ["demo", "--json", "--rebalance", mode];
        let lines = Program::start(&[&arguments, &LENGTH[..]].concat()).json();
        assert!(lines.iter().all(|line| line["rebalance"] == mode));
        replay(&lines, mode);
    }
}

/// Two groups with the same fate at the same time.
fn replay_both(lines: &[Value]) {
    let times: Vec<_> = lines.iter().map(|line| line["t_ms"].as_u64().expect("a number")).collect();
    assert!(times.is_sorted(), "{times:?}");
    let summaries = MODES.map(|mode| {
        let of_mode = lines.iter().filter(|line| line["rebalance"] == mode);
        replay(&of_mode.cloned().collect::<Vec<_>>(), mode)
    });
    assert_eq!(lines[lines.len() - 2..], summaries);
}

#[test]
fn the_group_that_keeps_serving_loses_less() {
    // A machine that is busy with other things may hold up one group and not the other.
    let mut seen = Vec::new();
    for _ in 0..5 {
        let lines = Program::start(&[&["demo", "--json"], &LENGTH[..]].concat()).json();
        let summaries = &lines[lines.len() - 2..];
        let figures = ["lost_by_join", "lost_by_crash"].map(|field| {
            let figure = |summary: &Value| summary[field].as_f64().expect("a number");
            (figure(&summaries[0]), figure(&summaries[1]))
        });
        if figures.iter().all(|(stands_down, keeps_serving)| keeps_serving < stands_down) {
            return;
        }
        seen.push(figures);
    }
    panic!("lost by join and crash, standing down and keeping serving: {seen:?}");
}

/// Checks what the lines tell: five share, then six, then five; no two at once own one task,
/// and those that keep serving own what both their pairs give them. Returns the summary.
fn replay(lines: &[Value], mode: &str) -> Value {
    let mut owners = BTreeMap::new();
    let (mut settled_at, mut partly) = (Vec::new(), 0);
    for line in lines {
        for field in FIELDS {
            assert!(line.get(field).is_some(), "{line} lacks {field}");
        }
        let event = line["event"].as_str().expect("a word");
        let Some(worker) = line["worker"].as_str() else {
            assert_eq!(event, "summary");
            continue;
        };
        let pair = |i: &str, n: &str| Some((line[i].as_u64()?, line[n].as_u64()?));
        if let Some(newer) = pair("i", "n") {
            assert!(line["reason"].is_null() && line["stage"].is_u64(), "{line}");
            let older = pair("pi", "pn");
            partly += u32::from(older.is_some());
            // A stage begins with its interval.
            let stage = line["stage"].as_u64().expect("it was checked");
            assert_eq!(line["token"].as_u64(), Some(stage * 200), "{line}");
            owners.insert(worker, (newer, older));
        } else {
            assert_eq!(line["reason"].is_string(), event == "change", "{line}");
            assert!(["pi", "pn", "token"].iter().all(|field| line[field].is_null()), "{line}");
            owners.remove(worker);
        }
        for task in 0..60 {
            let owns = |(i, n): (u64, u64)| task % n == i;
            let owners =
                owners.iter().filter(|(_, (newer, older))| owns(*newer) && older.is_none_or(owns));
            let owners: Vec<_> = owners.collect();
            assert!(owners.len() <= 1, "task {task} has several after {line}: {owners:?}");
        }
        let n = owners.len() as u64;
        let mut pairs: Vec<_> = owners.values().copied().collect();
        pairs.sort_unstable();
        if n > 1 && pairs == (0..n).map(|i| ((i, n), None)).collect::<Vec<_>>() {
            settled_at.push(n);
        }
    }
    assert_eq!(partly > 0, mode == "keep-serving", "{partly} kept a part");
    settled_at.dedup();
    // A loaded machine may unsettle a group on the way.
    for phases in [[5, 6], [6, 5]] {
        assert!(settled_at.windows(2).any(|two| two == phases), "settled at {settled_at:?}");
    }
    let events: Vec<_> = lines.iter().filter(|line| line["event"] != "change").collect();
    let events: Vec<_> = events.iter().map(|line| (&line["event"], &line["worker"])).collect();
    let (join, crash, summary) = ("join".into(), "crash".into(), "summary".into());
    let expected = [(&join, &"F".into()), (&crash, &"C".into()), (&summary, &Value::Null)];
    assert_eq!(events, expected);
    let after_crash = lines.iter().skip_while(|line| line["event"] != "crash").skip(1);
    assert!(after_crash.clone().all(|line| line["worker"] != "C"));

    let summary = lines.last().expect("there is a summary");
    assert_eq!(summary["conflicts"], 0);
    let figure =
        |field: &str| summary[field].as_f64().unwrap_or_else(|| panic!("{field}: {summary}"));
    assert!(figure("share_mean") > 0.2 && figure("share_mean") <= 1.0, "{summary}");
    assert!(figure("share_min") < figure("share_mean"), "{summary}");
    assert!(figure("lost_by_join") > 0.1 && figure("lost_by_crash") > 0.1, "{summary}");
    assert!(figure("first_ownership_ms") > 200.0 && figure("intervals") >= 29.9, "{summary}");
    // The end of the demo itself is not counted.
    let counts = |line: &&Value| line["event"] == "change" && line["reason"] != "stopped";
    assert_eq!(summary["changes"], lines.iter().filter(counts).count());
    summary.clone()
}

#[test]
fn plain_lines_read_as_sentences_and_end_with_a_summary() {
    let mut program = Program::start(&[&["demo", "--workers", "1"], &LENGTH[..]].concat());
    assert!(program.end().success());
    let lines = program.stdout();
    let first = "1 worker in each of the groups \"demo-stand-down\" and \"demo-keep-serving\", ";
    assert!(lines[0].starts_with(first), "{lines:?}");
    for (mode, between) in [
        ("stand-down    ", "A: idle (rebalancing)"),
        ("keep-serving  ", "A: owns 0 of 2 and 0 of 1, 50.0 % of the keys"),
    ] {
        let told = lines.iter().filter_map(|line| line.split_once(mode));
        let mut told = told.map(|(_, told)| told);
        for expected in [
            "A: idle (starting)",
            "A: owns 0 of 1, 100.0 % of the keys",
            "B joins",
            between,
            "B: owns 1 of 2, 50.0 % of the keys",
            "B crashes",
            "A: owns 0 of 1, 100.0 % of the keys",
            "A: idle (stopped)",
        ] {
            let found = told.any(|line| line == expected);
            assert!(found, "no {expected:?} in its place: {lines:#?}");
        }
    }
    let summary = lines.iter().position(|line| line.starts_with("Summary")).expect("a summary");
    for (line, label) in lines[summary..].iter().zip([
        "Summary",
        "  intervals",
        "  changes handed to workers",
        "  first ownership, after intervals",
        "  keys that had an owner since then",
        "    in the worst interval once settled",
        "  lost by the join, intervals of the group",
        "  lost by the crash, intervals of the group",
        "  conflicts (a key with two owners)",
    ]) {
        let values = line.strip_prefix(label).unwrap_or_else(|| panic!("no {label:?} in {line}"));
        assert_eq!(values.replace(" %", "").split_whitespace().count(), 2, "{line}");
    }
    assert!(lines[lines.len() - 1].ends_with(" 0             0"), "{lines:#?}");
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
    for summary in &lines[lines.len() - 2..] {
        assert_eq!((&summary["event"], &summary["conflicts"]), (&"summary".into(), &0.into()));
    }
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
        let line = program.wait_for("conflicts (a key with two owners)");
        assert!(line.ends_with(" 0             0"), "{line}");
    }
}
