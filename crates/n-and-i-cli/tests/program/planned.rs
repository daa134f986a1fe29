//! Simulations in which membership changes by plan, and what the changes cost.

use crate::child::json;
use crate::simulate::{SHORT, object, run};

/// Workers come and go without a storm.
const PLANNED: &[&str] = &["--scenario", "rolling-restart"];
#[test]
fn each_scenario_tells_what_its_changes_cost() {
    for (scenario, costs, others) in [
        ("rolling-restart", &["restart"][..], &["join", "leave"][..]),
        ("join-and-leave", &["join", "leave"], &["restart"]),
    ] {
        let planned = ["--scenario", scenario, "--every", "5.5"];
        let (code, lines, _) = run(&[SHORT, &planned, &["--json"]]);
        let object = object(&lines[0]);
        assert_eq!((code, &object["conflicts"]), (Some(0), &0.into()), "{object}");
        assert_eq!((&object["scenario"], &object["every"]), (&scenario.into(), &5.5.into()));
        // There are no faults unless asked for.
        assert_eq!((&object["peaces"], &object["faults"]), (&1.into(), &json("{}")));
        assert_eq!((&object["unsettled"], &object["clock_rate"]), (&0.into(), &0.0.into()));
        assert!(object["changes"].as_u64().is_some_and(|count| (15..25).contains(&count)));
        for kind in costs {
            let cost = object[format!("lost_per_{kind}")].as_f64();
            assert!(cost.is_some_and(|cost| cost > 0.3 && cost < 3.0), "{kind} in {object}");
        }
        for kind in others.iter().chain(&["crash"]) {
            assert!(object[format!("lost_per_{kind}")].is_null(), "{kind} in {object}");
        }

        let (code, lines, _) = run(&[SHORT, &planned]);
        assert_eq!(code, Some(0));
        let group = format!("faults none, scenario {scenario}, every 5.5, seed 1");
        assert!(lines[0].ends_with(&group), "{lines:#?}");
        let mut rest = lines.iter();
        for expected in ["settled before the first change", "planned changes of membership"] {
            assert!(rest.any(|line| line.trim().starts_with(expected)), "{expected}: {lines:#?}");
        }
        for kind in costs {
            let line = rest.next().expect("a line");
            assert!(line.trim().starts_with(&format!("lost per {kind} ")), "{lines:#?}");
            assert!(line.ends_with(" intervals of the group"), "{lines:#?}");
        }
    }
}

#[test]
fn one_joins_and_one_crashes_after_a_third_each() {
    let planned = ["--scenario", "join-and-crash"];
    let (code, lines, _) = run(&[SHORT, &planned, &["--json"]]);
    let object = object(&lines[0]);
    assert_eq!((code, &object["conflicts"]), (Some(0), &0.into()), "{object}");
    assert_eq!((&object["every"], &object["changes"]), (&40.0.into(), &2.into()));
    assert_eq!((&object["peaces"], &object["unsettled"]), (&1.into(), &0.into()));
    for kind in ["join", "crash"] {
        let cost = object[format!("lost_per_{kind}")].as_f64();
        assert!(cost.is_some_and(|cost| cost > 0.3 && cost < 3.0), "{kind} in {object}");
    }
    assert!(object["lost_per_leave"].is_null() && object["lost_per_restart"].is_null());
    // What is lost in the last two thirds, and nothing else.
    let lost = |kind: &str| object[format!("lost_per_{kind}")].as_f64().expect("a number");
    let served = 1.0 - (lost("join") + lost("crash")) / 80.0;
    let mean = object["served_mean"].as_f64().expect("a number");
    assert!((mean - served).abs() < 1e-5, "{object}");

    let (_, lines, _) = run(&[SHORT, &planned]);
    let group = "faults none, scenario join-and-crash, every 40, seed 1";
    assert!(lines[0].ends_with(group), "{lines:#?}");
    for expected in ["lost per join ", "lost per crash "] {
        assert!(lines.iter().any(|line| line.trim().starts_with(expected)), "{lines:#?}");
    }
    let (_, lines, _) = run(&[SHORT, &planned, &["--sweep", "every=10..50/3"]]);
    let columns: Vec<_> = lines[3].split_whitespace().collect();
    assert_eq!(columns[7..10], ["join", "crash", "intervals"]);
}

#[test]
fn who_keeps_serving_loses_less() {
    let cost = |rebalance: &str, mapping: &str| {
        let group = ["--rebalance", rebalance, "--mapping", mapping, "--intervals", "1000"];
        let planned = ["--scenario", "join-and-leave", "--every", "8"];
        let (code, lines, _) = run(&[&["simulate", "--json"], &planned, &group]);
        let object = object(&lines[0]);
        assert_eq!((code, &object["conflicts"]), (Some(0), &0.into()), "{object}");
        let asked = (&rebalance.into(), &mapping.into());
        assert_eq!((&object["rebalance"], &object["mapping"]), asked);
        assert!(object["served_mean"].as_f64().is_some_and(|mean| mean > 0.8), "{object}");
        object["lost_per_join"].as_f64().expect("a number")
    };
    let [stands_down, mixed, keeps_serving] =
        ["stand-down", "mixed", "keep-serving"].map(|rebalance| cost(rebalance, "jump"));
    assert!(keeps_serving < mixed && mixed < stands_down, "{keeps_serving} {mixed} {stands_down}");
    assert!(keeps_serving < cost("keep-serving", "modulo"));
    // A settled share is as large under both.
    assert!((stands_down - cost("stand-down", "modulo")).abs() < 1e-9);
}

#[test]
fn faults_can_happen_while_changes_are_planned() {
    let faults = ["--faults", "lost-reply,crash", "--rebalance", "mixed"];
    let (code, lines, _) = run(&[SHORT, PLANNED, &faults, &["--json"]]);
    let object = object(&lines[0]);
    assert_eq!((code, &object["conflicts"]), (Some(0), &0.into()), "{object}");
    assert!(object["faults"]["lost-reply"].as_u64() > Some(0), "{object}");
    assert!(object["every"] == 4.0 && object["changes"].as_u64() > Some(20), "{object}");
}

#[test]
fn a_sweep_of_planned_changes_has_their_cost_in_columns() {
    let planned = ["--scenario", "join-and-leave", "--mapping", "jump"];
    let (code, lines, errors) = run(&[SHORT, &planned, &["--sweep", "every=2..8/3"]]);
    assert_eq!((code, errors), (Some(0), vec![]), "{lines:#?}");
    let group = "faults none, mapping jump, scenario join-and-leave, seed 1";
    assert!(lines[0].ends_with(group), "{lines:#?}");
    assert!(lines[2].contains(" lost per "), "{lines:#?}");
    let columns: Vec<_> = lines[3].split_whitespace().collect();
    assert_eq!(columns[..3], ["every", "at", "first"]);
    assert_eq!(columns[7..10], ["join", "leave", "intervals"]);
    let values: Vec<_> = lines[4..].iter().map(|row| row.split_whitespace().next()).collect();
    assert_eq!(values, [Some("2"), Some("4"), Some("8")]);
    for row in &lines[4..] {
        assert_eq!(row.len(), lines[3].len(), "the columns stand under their heads: {row}");
        let cells: Vec<_> = row.split_whitespace().collect();
        assert_eq!((cells.len(), cells[1], cells[11]), (12, "1/1", "0"), "{row}");
        assert!(cells[2..11].iter().all(|cell| cell.parse::<f64>().is_ok()), "{row}");
    }

    let (_, lines, _) = run(&[SHORT, PLANNED, &["--json", "--sweep", "every=2..8/3"]]);
    let objects: Vec<_> = lines.iter().map(|line| object(line)).collect();
    for (object, every) in objects.iter().zip([2.0, 4.0, 8.0]) {
        assert_eq!((&object["sweep"], &object["every"]), (&"every".into(), &every.into()));
        assert!(object["lost_per_restart"].is_number(), "{object}");
    }
}

#[test]
fn a_plan_that_makes_no_sense_is_a_usage_error() {
    let unplanned = "but with storms nothing is planned: must come with --scenario rolling-restart";
    let table: &[(&[&str], [&str; 2], &[&str])] = &[
        (
            &[],
            ["--scenario", "calm"],
            &["'calm' for '--scenario", "storms, rolling-restart, join-"],
        ),
        (&[], ["--rebalance", "both"], &["'both' for '--rebal", "stand-down, keep-serving, mixed"]),
        (&[], ["--mapping", "hash"], &["'hash' for '--mapping", "modulo, jump"]),
        (&[], ["--every", "4"], &["every is 4, ", unplanned, " or join-and-leave"]),
        (&["--scenario", "storms"], ["--every", "2"], &["every is 2, ", unplanned]),
        (&[], ["--sweep", "every=3..5"], &["every is 3, ", unplanned]),
        (PLANNED, ["--every", "0"], &["every is 0, must be from 0.1 to 1000000"]),
        (PLANNED, ["--every", "-4"], &["every is -4, must be from 0.1"]),
        (PLANNED, ["--every", "NaN"], &["every is NaN, must be from 0.1"]),
        (PLANNED, ["--every", "x"], &["'x' for '--every", "must be a number of intervals"]),
        (PLANNED, ["--sweep", "every=a..2"], &["every is \"a\", must be a number of intervals"]),
        (PLANNED, ["--intervals", "18"], &["intervals is 18, must be more than 18: the group"]),
        (
            &["--scenario", "join-and-crash"],
            ["--every", "500"],
            &["intervals is 1000, must be more than 1001: one worker joins after 500, and one "],
        ),
        (PLANNED, ["--sweep", "every=2..2000"], &["intervals is 1000, must be more than "]),
    ];
    for (scenario, wrong, expected) in table {
        let (code, lines, errors) = run(&[&["simulate"], scenario, wrong]);
        let message = errors.join("\n");
        assert_eq!((code, lines.len()), (Some(2), 0), "{wrong:?}: {message}");
        for part in *expected {
            assert!(message.contains(part), "{wrong:?} lacks {part:?}: {message}");
        }
    }
}
