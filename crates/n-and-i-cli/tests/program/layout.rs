//! Simulations of groups that are kept in one layout or the other.

use crate::child::json;
use crate::simulate::{SHORT, object, run};

const SLOTS: &[&str] = &["--layout", "slots"];

#[test]
fn counters_are_the_usual_layout() {
    let (code, usual, _) = run(&[SHORT, &["--json"]]);
    let (_, asked_for, _) = run(&[SHORT, &["--json", "--layout", "counters"]]);
    let usual = object(&usual[0]);
    assert_eq!((code, &usual["layout"]), (Some(0), &"counters".into()), "{usual}");
    assert_eq!(usual, object(&asked_for[0]));
}

#[test]
fn slots_bear_all_faults_too() {
    for seed in ["1", "2", "3"] {
        let (code, lines, errors) = run(&[SHORT, SLOTS, &["--json", "--seed", seed]]);
        assert_eq!((code, errors), (Some(0), vec![]), "{lines:#?}");
        let object = object(&lines[0]);
        assert_eq!((&object["layout"], &object["conflicts"]), (&"slots".into(), &0.into()));
        assert_eq!((&object["peaces"], &object["unsettled"]), (&3.into(), &0.into()), "{object}");
    }
    let (code, lines, _) = run(&[SHORT, SLOTS, &["--faults", "crash,flush"]]);
    assert_eq!(code, Some(0));
    assert!(lines[0].ends_with(", faults crash,flush, layout slots, seed 1"), "{lines:#?}");
}

#[test]
fn who_joins_or_leaves_costs_less_in_slots() {
    let cost = |layout: &str| {
        let group = ["--layout", layout, "--rebalance", "keep-serving", "--mapping", "jump"];
        let planned = ["--scenario", "join-and-leave", "--every", "8"];
        let (code, lines, _) = run(&[&["simulate", "--json"], &planned, &group]);
        let object = object(&lines[0]);
        assert_eq!((code, &object["conflicts"]), (Some(0), &0.into()), "{object}");
        assert_eq!(object["layout"], layout);
        let cost = |kind: &str| object[kind].as_f64().expect("a number");
        (cost("lost_per_join"), cost("lost_per_leave"))
    };
    let (counters, slots) = (cost("counters"), cost("slots"));
    assert!(slots.0 < counters.0 && slots.1 < counters.1, "{counters:?} {slots:?}");
}

#[test]
fn a_sweep_has_the_layout_above_its_table_and_in_each_object() {
    let sweep = ["--faults", "none", "--sweep", "workers=2..8/3"];
    let (code, lines, errors) = run(&[SHORT, SLOTS, &sweep]);
    assert_eq!((code, errors), (Some(0), vec![]), "{lines:#?}");
    assert!(lines[0].ends_with(", faults none, layout slots, seed 1"), "{lines:#?}");
    let rows: Vec<Vec<_>> = lines[4..].iter().map(|row| row.split_whitespace().collect()).collect();
    for (row, workers) in rows.iter().zip(["2", "4", "8"]) {
        assert_eq!((row[0], row[1], row[9]), (workers, "3/3", "0"), "{lines:#?}");
    }
    assert_eq!(rows.len(), 3);

    let (_, lines, _) = run(&[SHORT, SLOTS, &sweep, &["--json"]]);
    let layouts: Vec<_> = lines.iter().map(|line| json(line)["layout"].clone()).collect();
    assert_eq!(layouts, ["slots"; 3]);
}

#[test]
fn those_who_know_only_the_counters_are_refused() {
    for more in [&[][..], &["--sweep", "gap=0.1..0.2/2"]] {
        let (code, lines, errors) = run(&[SHORT, SLOTS, &["--foreign", "2"], more]);
        let message = errors.join("\n");
        assert_eq!((code, lines.len()), (Some(2), 0), "{message}");
        let wrong = "foreign is 2, but workers that know only the counters cannot take part with \
                     --layout slots: must be 0, or come with --layout counters";
        assert!(message.contains(wrong), "{message}");
        assert!(message.contains("Usage: n-and-i simulate"), "{message}");
    }
    let (code, _, errors) = run(&[SHORT, &["--foreign", "2", "--layout", "counters"]]);
    assert_eq!((code, errors), (Some(0), vec![]));
}
