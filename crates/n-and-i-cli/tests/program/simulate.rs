//! Simulations: one run, sweeps, traces, and what ends with which exit code.

use n_and_i_sim::{Fault, Faults};
use serde_json::Value;

use crate::child::{Program, json};

/// Short, and with some of everything.
pub(crate) const SHORT: &[&str] = &["simulate", "--intervals", "120", "--workers", "5"];
/// So slow that no group settles.
const HOPELESS: &[&str] = &["simulate", "--faults", "none", "--delay", "4s"];

/// Exit code, lines on standard output, lines on standard error.
pub(crate) fn run(arguments: &[&[&str]]) -> (Option<i32>, Vec<String>, Vec<String>) {
    let mut program = Program::start(&arguments.concat());
    let status = program.end();
    (status.code(), program.stdout(), program.stderr())
}

pub(crate) fn object(line: &str) -> Value {
    let mut object = json(line);
    let seconds = object.as_object_mut().expect("an object").remove("seconds");
    assert!(seconds.is_some_and(|seconds| seconds.as_f64().is_some_and(|s| s >= 0.0)));
    object
}

#[test]
fn one_seed_gives_one_run() {
    for format in [&[][..], &["--json"]] {
        let lines = |seed| {
            let (code, mut lines, errors) = run(&[SHORT, format, &["--seed", seed]]);
            assert_eq!((code, errors), (Some(0), vec![]), "{lines:?}");
            if format.is_empty() {
                let seconds = lines.pop().expect("a last line");
                assert!(seconds.trim().starts_with("seconds"), "{seconds}");
                lines
            } else {
                lines.iter().map(|line| object(line).to_string()).collect()
            }
        };
        assert_eq!(lines("3"), lines("3"));
        assert_ne!(lines("3"), lines("4"));
    }
}

#[test]
fn people_get_a_summary() {
    let (code, lines, _) = run(&[SHORT, &["--faults", "crash,lost-reply", "--interval", "1500ms"]]);
    assert_eq!(code, Some(0));
    let first =
        "5 workers, interval 1500ms, gap 0.15, delay 500us, faults lost-reply,crash, seed 1";
    assert_eq!(lines[0], first);
    let mut rest = lines.iter();
    for expected in [
        "intervals simulated                    120",
        "conflicts (a task with two owners)     0",
        "settled in peace                       3 of 3 times",
        "tasks that had an owner, mean ",
        "in the interval with the fewest ",
        "first ownership                        after ",
        "workers' time owning nothing ",
        "starting ",
        "registrations per worker and interval  ",
        "faults injected ",
        "lost-reply ",
        "crash ",
        "seconds ",
    ] {
        let found = rest.any(|line| line.trim().starts_with(expected));
        assert!(found, "no {expected:?} in its place: {lines:#?}");
    }
}

#[test]
fn programs_get_an_object() {
    let (code, lines, _) = run(&[SHORT, &["--json", "--seed", "9", "--gap", "0.2"]]);
    assert_eq!((code, lines.len()), (Some(0), 1));
    let object = object(&lines[0]);
    for (field, expected) in [
        ("seed", 9.0),
        ("workers", 5.0),
        ("interval_ms", 5000.0),
        ("gap", 0.2),
        ("delay_ms", 0.5),
        ("intervals", 120.0),
        ("peaces", 3.0),
        ("unsettled", 0.0),
        ("clock_rate", 0.001),
        ("foreign", 0.0),
        ("conflicts", 0.0),
        ("changes", 0.0),
    ] {
        assert_eq!(object[field].as_f64(), Some(expected), "{field} in {object}");
    }
    let number =
        |field: &str| object[field].as_f64().unwrap_or_else(|| panic!("{field}: {object}"));
    assert!(number("worker_intervals") > 400.0 && number("registrations") > 300.0, "{object}");
    assert!(number("served_mean") > 0.2 && number("served_min") <= number("served_mean"));
    assert!(number("first_ownership") > 1.0);
    let rate = number("registrations") / number("worker_intervals");
    assert!((number("registrations_per_worker_interval") - rate).abs() < 1e-5);
    let faults = object["faults"].as_object().expect("an object");
    assert_eq!(faults.len(), Faults::all().kinds().count(), "{faults:?}");
    assert!(faults.values().filter_map(Value::as_u64).sum::<u64>() > 10, "{faults:?}");
    assert_eq!(object["mixed_gaps"], false);
    for (field, expected) in
        [("rebalance", "stand-down"), ("mapping", "modulo"), ("scenario", "storms")]
    {
        assert_eq!(object[field], expected, "{field}");
    }
    for field in ["every", "lost_per_join", "lost_per_leave", "lost_per_restart"] {
        assert_eq!(object.get(field), Some(&Value::Null), "{field}");
    }
    let rates = object["fault_rates"].as_object().expect("an object");
    assert!(rates.keys().eq(faults.keys()) && rates["crash"] == 0.03, "{rates:?}");
    assert!(object["idle"]["starting"].as_f64().is_some_and(|idle| idle > 5.0), "{object}");
    assert!(object.get("violation").is_none() && object.get("sweep").is_none(), "{object}");
}

#[test]
fn without_faults_everything_is_served() {
    let (code, lines, _) = run(&[SHORT, &["--json", "--faults", "none"]]);
    let object = object(&lines[0]);
    assert_eq!(code, Some(0));
    assert_eq!(object["faults"], json("{}"));
    assert!(object["served_mean"].as_f64().is_some_and(|mean| mean > 0.99), "{object}");
}

#[test]
fn a_sweep_is_a_table() {
    for (sweep, values, others) in [
        (
            "gap=0.1..0.3/3",
            &["0.1", "0.2", "0.3"][..],
            "workers 5, interval 5s, delay 500us, intervals 120, faults none, seed 1",
        ),
        (
            "interval=1s..4s/3",
            &["1s", "2s", "4s"],
            "workers 5, gap 0.15, delay 500us, intervals 120, faults none, seed 1",
        ),
        (
            "workers=2..50",
            &["2", "3", "4", "7", "10", "15", "22", "33", "50"],
            "interval 5s, gap 0.15, delay 500us, intervals 120, faults none, seed 1",
        ),
        (
            "delay=1ms..4ms/3",
            &["1ms", "2ms", "4ms"],
            "workers 5, interval 5s, gap 0.15, intervals 120, faults none, seed 1",
        ),
    ] {
        let (code, lines, errors) = run(&[SHORT, &["--faults", "none", "--sweep", sweep]]);
        assert_eq!((code, errors), (Some(0), vec![]), "{lines:#?}");
        assert_eq!(lines[0], others);
        assert!(lines[2].contains("served") && lines[2].contains("idle, %"), "{lines:#?}");
        let columns: Vec<_> = lines[3].split_whitespace().collect();
        assert_eq!(columns[0], sweep.split('=').next().expect("a field"));
        assert_eq!(columns.last(), Some(&"conflicts"));
        let rows: Vec<Vec<_>> =
            lines[4..].iter().map(|row| row.split_whitespace().collect()).collect();
        let found: Vec<_> = rows.iter().map(|row| row[0]).collect();
        assert_eq!(found, values);
        for (row, line) in rows.iter().zip(&lines[4..]) {
            assert_eq!((row.len(), row[1], row[9]), (10, "3/3", "0"), "{line}");
            assert_eq!(line.len(), lines[3].len(), "the columns stand under their heads: {line}");
            assert!(row[2..9].iter().all(|cell| cell.parse::<f64>().is_ok()), "{line}");
        }
    }
}

#[test]
fn a_sweep_is_an_object_per_line() {
    let (code, lines, _) = run(&[SHORT, &["--json", "--sweep", "interval=1s..4s/3"]]);
    assert_eq!(code, Some(0));
    let objects: Vec<_> = lines.iter().map(|line| object(line)).collect();
    let values: Vec<_> = objects.iter().map(|object| object["value"].as_str()).collect();
    assert_eq!(values, [Some("1s"), Some("2s"), Some("4s")]);
    for (object, millis) in objects.iter().zip([1000.0, 2000.0, 4000.0]) {
        assert_eq!(
            (&object["sweep"], &object["interval_ms"]),
            (&"interval".into(), &millis.into())
        );
        assert_eq!(object["conflicts"], 0);
    }
    // A run of a sweep is the run that the option of that name gives.
    let (_, lines, _) = run(&[SHORT, &["--json", "--interval", "2s"]]);
    let alone = object(&lines[0]);
    for (field, value) in alone.as_object().expect("an object") {
        assert_eq!(&objects[1][field], value, "{field}");
    }
}

#[test]
fn a_trace_is_written_and_changes_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("trace");
    let path = path.to_str().expect("a path in UTF-8");
    let (code, lines, _) = run(&[SHORT, &["--json", "--trace", path]]);
    assert_eq!(code, Some(0));
    let trace = std::fs::read_to_string(path).expect("a trace");
    for expected in ["worker 0 starts", "owns: worker", "a storm begins", "fault: "] {
        assert!(trace.contains(expected), "no {expected:?} in the trace");
    }
    let (_, untraced, _) = run(&[SHORT, &["--json"]]);
    assert_eq!(object(&lines[0]), object(&untraced[0]));
}

#[test]
fn a_trace_that_cannot_be_written_is_a_failure() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("missing").join("trace");
    let path = path.to_str().expect("a path in UTF-8");
    let (code, lines, errors) = run(&[SHORT, &["--trace", path]]);
    assert_eq!((code, lines.len()), (Some(1), 0));
    assert!(errors[0].starts_with(&format!("n-and-i: {path} cannot be written: ")), "{errors:?}");
}

#[test]
fn a_group_that_does_not_settle_is_measured_to_the_end() {
    let (code, lines, errors) = run(&[HOPELESS, &["--json"]]);
    let object = object(&lines[0]);
    assert_eq!((code, errors), (Some(0), vec![]), "{object}");
    assert_eq!((&object["intervals"], &object["first_ownership"]), (&1000.0.into(), &Value::Null));
    assert_eq!((&object["peaces"], &object["unsettled"]), (&26.into(), &26.into()));
    assert!(object.get("violation").is_none(), "{object}");

    let (code, lines, errors) = run(&[HOPELESS]);
    assert_eq!((code, errors), (Some(0), vec![]));
    let text = lines.join("\n");
    assert!(text.contains("settled in peace                       0 of 26 times"), "{text}");
    assert!(text.contains("first ownership                        never"), "{text}");

    let sweep = ["simulate", "--faults", "none", "--sweep", "delay=1ms..4s/2"];
    let (code, lines, errors) = run(&[&sweep]);
    assert_eq!((code, errors), (Some(0), vec![]));
    let settled = |line: &str| line.split_whitespace().nth(1).map(str::to_owned);
    let settled: Vec<_> = lines[4..].iter().filter_map(|line| settled(line)).collect();
    assert_eq!(settled, ["26/26", "0/26"]);
}

#[test]
fn a_broken_promise_ends_the_run_and_is_a_failure() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("trace");
    let path = path.to_str().expect("a path in UTF-8");
    // The promise does not cover two lengths of interval while everything is lost.
    let (mut seeds, faults) = (1..=20, "flush=0.5,other-interval=0.3");
    let (command, object) = seeds
        .find_map(|seed: u32| {
            let seed = seed.to_string();
            let arguments = ["--intervals", "2000", "--workers", "4", "--seed", &seed];
            let odd = ["--faults", faults, "--mixed-gaps", "--clock-rate", "0.001"];
            let (code, lines, errors) = run(&[&["simulate", "--json"], &arguments, &odd]);
            if code == Some(0) {
                return None;
            }
            assert_eq!(code, Some(1), "{errors:?}");
            let alarm = format!("n-and-i: seed {seed}: the promise was broken: ");
            assert!(errors[0].starts_with(&alarm), "{errors:?}");
            let command = errors[1].strip_prefix("For a trace: n-and-i ").expect("a command");
            Some((command.to_owned(), object(&lines[0])))
        })
        .expect("a seed that breaks the promise");
    assert_eq!(object["conflicts"], 1);
    assert!(object["intervals"].as_f64().is_some_and(|length| length < 2000.0), "{object}");
    let violation = object["violation"].as_str().expect("a text");

    let command = command.strip_suffix("FILE").expect("where to write");
    let command: Vec<_> = command.split_whitespace().chain([path]).collect();
    let (code, _, errors) = run(&[&command]);
    assert_eq!((code, &errors[1]), (Some(1), &format!("The trace is in {path}.")));
    assert!(errors[0].ends_with(violation), "the same again: {errors:?}");
    let trace = std::fs::read_to_string(path).expect("a trace");
    let last = trace.lines().last().expect("a line");
    assert!(last.contains(&format!("VIOLATION: {violation}")), "{last}");
}

#[test]
fn each_fault_happens_as_often_as_was_asked_for() {
    let counts = |faults: &str| {
        let (code, lines, _) = run(&[SHORT, &["--json", "--faults", faults]]);
        assert_eq!(code, Some(0));
        let object = object(&lines[0]);
        let count = |fault: &str| object["faults"][fault].as_u64();
        (count("crash"), count("lost-reply"))
    };
    let (usual, _) = counts("crash");
    let (often, lost) = counts("crash=3,lost-reply=1");
    assert!(usual < Some(20) && often > Some(100) && lost > Some(50), "{often:?} {lost:?}");
    let (never, lost) = counts("all,crash=0");
    assert!(never.is_none() && lost.is_some(), "{never:?} {lost:?}");
}

#[test]
fn the_group_may_be_made_up_of_others() {
    let odd = ["--faults", "crash=0", "--clock-rate", "0.01", "--mixed-gaps", "--foreign", "5"];
    let (code, lines, _) = run(&[SHORT, &odd]);
    let (first, rest) = lines.split_first().expect("a summary");
    assert_eq!(code, Some(0));
    let group = "faults none, clock-rate 0.01, mixed-gaps, foreign 5, seed 1";
    assert!(first.ends_with(group), "{first}");
    assert!(!rest.iter().any(|line| line.contains("settled")), "nobody looks: {rest:#?}");

    let (_, lines, _) = run(&[SHORT, &odd, &["--json"]]);
    let object = object(&lines[0]);
    for (field, expected) in [
        ("clock_rate", Value::from(0.01)),
        ("mixed_gaps", true.into()),
        ("foreign", 5.into()),
        ("peaces", 0.into()),
        ("unsettled", 0.into()),
    ] {
        assert_eq!(object[field], expected, "{field}");
    }
    // Half of the indices are those of the others.
    assert!(object["served_mean"].as_f64().is_some_and(|mean| mean < 0.6), "{object}");

    let (_, lines, _) = run(&[SHORT, &odd, &["--sweep", "delay=1ms..2ms/2"]]);
    assert!(lines[0].ends_with(group), "{lines:#?}");
    assert!(lines[4].starts_with("1ms                -"), "{lines:#?}");
}

#[test]
fn wrong_arguments_are_usage_errors() {
    let table: &[(&[&str], &[&str])] = &[
        (&["--workers", "0"], &["1..=10000"]),
        (&["--workers", "10001"], &["1..=10000"]),
        (&["--intervals", "9"], &["10..=10000000"]),
        (&["--interval", "0s"], &["interval is 0ns, must be from 1ms", "Usage: n-and-i simulate"]),
        (&["--interval", "1500us"], &["whole number of milliseconds"]),
        (&["--interval", "5"], &["time unit needed", "300ms"]),
        (&["--gap", "0.5"], &["gap is 0.5, must be", "less than 0.5"]),
        (&["--gap", "-0.1"], &["gap is -0.1, must be greater than 0"]),
        (&["--gap", "NaN"], &["gap is NaN"]),
        (&["--delay", "50days"], &["delay is 4320000s, must be at most"]),
        (&["--interval", "40days", "--workers", "1000"], &["at most 36", "days with"]),
        (&["--clock-rate", "0.02"], &["clock-rate is 0.02, must be from 0 to 0.01"]),
        (&["--clock-rate", "-1"], &["clock-rate is -1, must be", "Usage: n-and-i simulate"]),
        (&["--foreign", "10001"], &["--foreign", "10001", "0..=10000"]),
        (&["--faults", "crsh"], &["no fault is called \"crsh\"", "slow-message", "other-interval"]),
        (&["--faults", "crash=x"], &["the rate of crash is \"x\"", "from 0 to 100", "interval"]),
        (&["--faults", "duplicate=2"], &["the rate of duplicate is \"2\"", "from 0 to 1 "]),
        (&["--faults", "crash,all"], &["all must come first"]),
        (&["--faults", "none,crash"], &["none must stand alone"]),
        (&["--faults", ""], &["--faults"]),
        (&["--seed", "-1"], &["-1"]),
        (&["--seed", "x"], &["--seed", "x"]),
        (&["--sweep", "gap"], &["FIELD=FROM..TO", "gap=0.05..0.45"]),
        (
            &["--sweep", "seed=1..5"],
            &["\"seed\" cannot be varied", "interval, workers, delay or every"],
        ),
        (&["--sweep", "gap=0.1..0.9"], &["gap is 0.", "less than 0.5"]),
        (&["--sweep", "gap=0..0.4"], &["gap is 0, must be greater than 0"]),
        (&["--sweep", "interval=1500us..1s"], &["whole number of milliseconds"]),
        (&["--sweep", "workers=5..2"], &["5..2 must rise"]),
        (&["--sweep", "workers=5..20000"], &["workers is \"20000\", must be from 1 to 10000"]),
        (&["--sweep", "delay=0s..1s"], &["delay must begin with more than 0"]),
        (&["--sweep", "gap=0.1..0.2/1"], &["steps is \"1\", must be from 2 to 1000"]),
        (&["--sweep", "gap=0.1..0.2", "--trace", "x"], &["cannot be used with"]),
        (&["--prefix", "x"], &["--prefix"]),
    ];
    for (arguments, expected) in table {
        let (code, lines, errors) = run(&[&["simulate"], arguments]);
        let message = errors.join("\n");
        assert_eq!((code, lines.len()), (Some(2), 0), "{arguments:?}: {message}");
        for part in *expected {
            assert!(message.contains(part), "{arguments:?} lacks {part:?}: {message}");
        }
    }
}

#[test]
fn help_documents_every_field_and_fault() {
    let (code, lines, _) = run(&[&["simulate", "--help"]]);
    let text = lines.join("\n");
    assert_eq!(code, Some(0));
    let (_, rows, _) = run(&[SHORT, &["--json", "--sweep", "gap=0.1..0.2/2"]]);
    let fields = json(&rows[0]);
    let fields = fields.as_object().expect("an object").keys();
    for expected in fields.map(String::as_str).chain(["violation", "Example"]) {
        assert!(text.contains(expected), "no {expected:?} in {text}");
    }
    let words: Vec<_> = text.split_whitespace().collect();
    for fault in Fault::ALL {
        let mut entry = vec![fault.name().to_owned(), fault.usual_rate().to_string()];
        let description = fault.description().trim_end_matches('.');
        entry.extend(description.split_whitespace().map(str::to_owned));
        let found = words.windows(entry.len()).any(|words| words == entry);
        assert!(found, "no {fault} in {text}");
    }
    let place = |text: &str| lines.iter().position(|line| line.contains(text));
    let (messages, others) = (place("probability per message"), place("expected per interval"));
    for fault in Fault::ALL {
        let entry = place(&format!("    {fault} "));
        assert!(entry > messages && (entry > others) != fault.is_of_messages(), "{fault}: {text}");
    }
}
