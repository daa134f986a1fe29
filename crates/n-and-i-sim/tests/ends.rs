//! How runs and lives end: each once, and counted to the end.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use n_and_i_sim::{Fault, Faults, Scenario};

#[test]
fn the_last_interval_counts() {
    let group = Scenario::new(3, Faults::none());
    let served = |intervals| {
        let outcome = group.clone().with_intervals(intervals).run(1);
        (outcome.served_mean, outcome.worker_intervals)
    };
    // The 6th is the first that counts.
    let ((mean, _), (none, _)) = (served(6), served(5));
    assert!(mean > 0.999 && none == 0.0, "{mean}, {none}");
    // They live from a moment of the first interval to the end.
    let (_, lived) = served(6);
    assert!((15..18).contains(&lived), "{lived}");
}

/// Traces of groups in which workers that were asked to stop take their time, and crash meanwhile.
fn traces() -> impl Iterator<Item = String> {
    let faults = Faults::none().with(Fault::Leave, 0.5).with(Fault::Crash, 0.5);
    (1..=20).map(move |seed| {
        let scenario = Scenario::new(3, faults.clone()).with_intervals(200);
        let rehearsal = scenario.with_weather(200, 14).rehearse(seed, |mut member| async move {
            while member.peers.next().await.is_some() {}
            member.time.sleep(Duration::from_secs(3600)).await;
        });
        assert_eq!(rehearsal.violation, None, "{}", rehearsal.trace);
        rehearsal.trace
    })
}

#[test]
fn who_crashes_while_it_stops_is_buried_once() {
    for trace in traces() {
        let mut there = HashSet::new();
        for line in trace.lines() {
            let words: Vec<_> = line.split_whitespace().skip(1).collect();
            match *words {
                ["worker", place, "starts", ..] => assert!(there.insert(place), "{line}\n{trace}"),
                ["worker", place, "is", "gone"] => assert!(there.remove(place), "{line}\n{trace}"),
                _ => {}
            }
        }
    }
}

#[test]
fn who_crashes_while_it_stops_is_replaced_once() {
    // Within three intervals, each moment as likely: the first of two would come earlier.
    let mut waits = Vec::new();
    for trace in traces() {
        let mut gone = HashMap::new();
        for line in trace.lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            let now: f64 = words[0].parse().expect("a time");
            match words[1..] {
                ["worker", place, "is", "gone"] => drop(gone.insert(place, now)),
                ["worker", place, "starts", ..] => {
                    waits.extend(gone.remove(place).map(|it| now - it));
                }
                _ => {}
            }
        }
    }
    let count = f64::from(u32::try_from(waits.len()).expect("a few"));
    let mean = waits.iter().sum::<f64>() / count / 5.0;
    assert!(count > 1_000.0 && (mean - 1.5).abs() < 0.08, "{mean} intervals, of {count}");
}
