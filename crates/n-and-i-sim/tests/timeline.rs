//! Timelines: that they are complete, and that what they tell agrees with the rest.

use std::collections::BTreeMap;

use n_and_i_core::{Mapping, Reason, Share};
use n_and_i_sim::{Fault, Faults, Plan, Planned, Rebalancing, Scenario, Span, State, Timeline};

const INTERVALS: u64 = 90;
const INTERVAL: u64 = 5_000_000_000;
const END: u64 = INTERVALS * INTERVAL;
/// Tasks to look at, of all that there are. Whole numbers of them belong to few workers.
const TASKS: u64 = 2_520;

fn timeline(scenario: &Scenario, seed: u64) -> Timeline {
    let scenario = scenario.clone().with_intervals(INTERVALS).allow_unsettled();
    let outcome = scenario.with_timeline(0..INTERVALS).run(seed);
    assert_eq!(outcome.violation, None, "seed {seed}");
    outcome.timeline.expect("it was asked for")
}

/// Groups with much going on, each with a seed.
fn groups() -> Vec<(Scenario, u64)> {
    let mut groups = Vec::new();
    for rebalancing in Rebalancing::ALL {
        for mapping in Mapping::ALL {
            for seed in 1..=5 {
                let group = |faults| {
                    let scenario = Scenario::new(4, faults).with_weather(20, 10);
                    scenario.with_rebalance(rebalancing).with_mapping(mapping)
                };
                groups.push((group(Faults::all()), seed));
                for plan in Plan::ALL {
                    let planned = group(Faults::only(Fault::LongStall)).with_plan(plan, 6.0);
                    groups.push((planned.expect("a good distance"), seed));
                }
            }
        }
    }
    groups
}

fn lives(timeline: &Timeline) -> BTreeMap<(usize, u32), Vec<Span>> {
    let mut lives = BTreeMap::<_, Vec<_>>::new();
    for span in &timeline.spans {
        lives.entry((span.worker, span.life)).or_default().push(*span);
    }
    lives
}

/// What is owned at a time.
fn owned(timeline: &Timeline, at: u64) -> Vec<Share> {
    let spans = timeline.spans.iter().filter(|span| span.from <= at && at < span.until);
    let owned = spans.filter_map(|span| match span.state {
        State::Owns(share) => Some(share),
        State::Idle(_) => None,
    });
    owned.collect()
}

/// Whether the task belongs to it; as the hash of a key, the number must be spread.
fn owns(share: Share, task: u64, mapping: Mapping) -> bool {
    match mapping {
        Mapping::Modulo => share.owns(task),
        Mapping::Jump => share.owns_hash(task.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
    }
}

/// The moments at which something begins or ends.
fn moments(timeline: &Timeline) -> Vec<u64> {
    let mut moments: Vec<_> =
        timeline.spans.iter().flat_map(|span| [span.from, span.until]).collect();
    moments.push(0);
    moments.sort_unstable();
    moments.dedup();
    moments.retain(|moment| *moment < END);
    moments
}

#[test]
fn spans_tile_the_life_of_each_worker() {
    for (group, seed) in groups() {
        let traced = group.clone().with_intervals(INTERVALS).allow_unsettled().trace(seed);
        let timeline = timeline(&group, seed);
        let mut begun = Vec::new();
        let mut gone = Vec::new();
        for (life, spans) in lives(&timeline) {
            assert_eq!(spans[0].state, State::Idle(Reason::Starting), "{life:?}");
            assert!(spans.iter().all(|span| span.from < span.until));
            for (span, next) in spans.iter().zip(&spans[1..]) {
                assert_eq!(span.until, next.from, "{span:?} and {next:?}, seed {seed}");
            }
            begun.push(spans[0].from);
            gone.extend(spans.last().map(|span| span.until).filter(|until| *until < END));
        }
        // From where the trace says that it starts to where it says that it is gone.
        let told = |what: &str| {
            let lines = traced.trace.lines().filter(|line| line.contains(what));
            let mut times: Vec<_> = lines
                .map(|line| line.split_whitespace().next().unwrap().replace('.', "") + "000")
                .map(|nanos| nanos.parse::<u64>().unwrap())
                .filter(|time| *time < END)
                .collect();
            times.sort_unstable();
            times
        };
        for (mut times, what) in [(begun, " starts"), (gone, " is gone")] {
            for time in &mut times {
                *time -= *time % 1_000;
            }
            times.sort_unstable();
            assert_eq!(times, told(what), "{what}, seed {seed}");
        }
    }
}

#[test]
fn no_two_own_one_task_at_one_time() {
    for (group, seed) in groups() {
        let timeline = timeline(&group, seed);
        for moment in moments(&timeline) {
            let owned = owned(&timeline, moment);
            for (index, share) in owned.iter().enumerate() {
                for other in &owned[index + 1..] {
                    for mapping in Mapping::ALL {
                        let both = share.intersects(*other, mapping);
                        assert!(!both, "{share} and {other} at {moment}, seed {seed}");
                    }
                }
            }
        }
    }
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn the_curve_is_what_the_spans_own() {
    for (group, seed) in groups().into_iter().step_by(5) {
        let (timeline, mapping) = (timeline(&group, seed), group.mapping());
        // Hashes are spread well, but not evenly.
        let exact = if mapping == Mapping::Modulo { 1e-9 } else { 0.03 };
        assert_eq!(timeline.served[0].0, 0);
        for moment in moments(&timeline) {
            let owned = owned(&timeline, moment);
            let is_owned = |task: &u64| owned.iter().any(|share| owns(*share, *task, mapping));
            let counted = (0..TASKS).filter(is_owned).count() as f64 / TASKS as f64;
            let told = timeline.served.iter().rfind(|(from, _)| *from <= moment).unwrap().1;
            let is_whole = owned.iter().all(|share| TASKS.is_multiple_of(share.pair().n().into()));
            let exact = if is_whole { exact } else { 0.03 };
            assert!((counted - told).abs() < exact, "{counted}, {told} at {moment}, seed {seed}");
        }
    }
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn the_curve_has_the_mean_of_the_outcome() {
    for (group, seed) in groups() {
        let group = group.with_intervals(INTERVALS).allow_unsettled().with_timeline(0..INTERVALS);
        let outcome = group.run(seed);
        let begin = match group.plan() {
            None => 5,
            Some((Plan::JoinAndCrash, _)) => 6,
            Some(_) => 10,
        } * INTERVAL;
        let served = outcome.timeline.expect("it was asked for").served;
        let ends = served.iter().skip(1).map(|(from, _)| *from).chain([END]);
        let sum: f64 = (served.iter().zip(ends))
            .map(|(&(from, share), end)| share * end.saturating_sub(from.max(begin)) as f64)
            .sum();
        let mean = sum / (END - begin) as f64;
        assert!((mean - outcome.served_mean).abs() < 1e-9, "{mean}, {}", outcome.served_mean);
    }
}

#[test]
fn a_timeline_changes_nothing_and_is_only_there_if_asked_for() {
    let group = Scenario::new(5, Faults::all()).with_intervals(200);
    let mut with = group.clone().with_timeline(0..200).trace(7);
    let without = group.trace(7);
    assert!(with.timeline.take().is_some() && without.timeline.is_none());
    assert_eq!(with, without);
}

#[test]
fn a_window_is_cut_out_of_the_whole() {
    let group = Scenario::new(4, Faults::all()).with_intervals(INTERVALS);
    let of = |window| group.clone().with_timeline(window).run(5).timeline.unwrap();
    let (all, part) = (of(0..INTERVALS), of(20..30));
    let (from, until) = (20 * INTERVAL, 30 * INTERVAL);
    assert_eq!((part.from, part.until), (from, until));
    let cut = all.spans.iter().filter(|span| span.from < until && span.until > from);
    let cut: Vec<_> = cut
        .map(|span| (span.worker, span.from.max(from), span.until.min(until), span.state))
        .collect();
    let spans = part.spans.iter().map(|it| (it.worker, it.from, it.until, it.state));
    let spans: Vec<_> = spans.collect();
    assert_eq!(spans, cut);
    let within = |at: u64| (from..until).contains(&at);
    let registrations: Vec<_> =
        all.registrations.iter().copied().filter(|it| within(it.at)).collect();
    let incidents: Vec<_> = all.incidents.iter().copied().filter(|it| within(it.at)).collect();
    assert!(registrations.len() > 20 && incidents.len() > 3, "{registrations:?} {incidents:?}");
    assert_eq!((part.registrations, part.incidents), (registrations, incidents));
    assert_eq!(part.served[0].0, from);
    assert!(part.served[1..].iter().all(|served| all.served.contains(served)));
    // Beyond the end there is nothing.
    let beyond = of(100..120);
    assert_eq!((beyond.from, beyond.until, beyond.spans.len()), (END, END, 0));
    assert!(beyond.served.is_empty() && beyond.boundaries.is_empty());
}

#[test]
fn registrations_and_faults_are_those_that_were_counted() {
    for seed in 1..=5 {
        let group = Scenario::new(6, Faults::all()).with_intervals(INTERVALS);
        let outcome = group.with_timeline(0..INTERVALS).run(seed);
        let timeline = outcome.timeline.expect("it was asked for");
        assert_eq!(u64::try_from(timeline.registrations.len()).unwrap(), outcome.registrations);
        for (fault, count) in outcome.faults {
            let incidents = timeline.incidents.iter().filter(|it| it.fault == fault);
            assert_eq!(u64::try_from(incidents.count()).unwrap(), count, "{fault}");
        }
        // A crash strikes one that is there, and ends it.
        for crash in timeline.incidents.iter().filter(|it| it.fault == Fault::Crash) {
            let ends = |span: &Span| Some(span.worker) == crash.worker && span.until == crash.at;
            assert!(timeline.spans.iter().any(ends), "{crash:?}");
        }
    }
}

#[test]
fn boundaries_are_an_interval_apart_unless_the_clock_steps() {
    let calm = timeline(&Scenario::new(3, Faults::none()), 1).boundaries;
    assert!(calm[0] < INTERVAL && calm.len() == 90, "{calm:?}");
    assert!(calm.windows(2).all(|two| two[1] - two[0] == INTERVAL));
    // Every worker registers once between two of them.
    let registrations = timeline(&Scenario::new(3, Faults::none()), 1).registrations;
    for two in calm[1..].windows(2) {
        let within = registrations.iter().filter(|it| (two[0]..two[1]).contains(&it.at));
        assert_eq!(within.count(), 3, "{two:?}");
    }
    let faults = Faults::only(Fault::ClockStep).with(Fault::ClockStep, 0.2);
    let steps = timeline(&Scenario::new(3, faults), 1).boundaries;
    assert!(steps.windows(2).any(|two| two[1] - two[0] != INTERVAL));
}

#[test]
fn one_joins_and_later_one_in_the_middle_crashes() {
    for workers in [1, 2, 5] {
        let group = Scenario::new(workers, Faults::none()).with_plan(Plan::JoinAndCrash, 30.0);
        let group = group.expect("a good distance").with_intervals(INTERVALS);
        let outcome = group.with_timeline(0..INTERVALS).run(1);
        assert_eq!((outcome.violation, outcome.changes, outcome.peaces), (None, 2, 1));
        assert!(outcome.lost_per_join.is_some_and(|lost| (0.5..1.5).contains(&lost)));
        assert!(outcome.lost_per_crash.is_some_and(|lost| (0.5..2.5).contains(&lost)));
        assert_eq!((outcome.lost_per_leave, outcome.lost_per_restart), (None, None));
        let timeline = outcome.timeline.expect("it was asked for");
        let [join, crash] = timeline.changes[..] else { panic!("{:?}", timeline.changes) };
        assert_eq!((join.what, join.worker), (Planned::Join, Some(workers)));
        assert_eq!(crash.what, Planned::Crash);
        for (change, after) in [(join, 30), (crash, 60)] {
            assert!((after * INTERVAL..(after + 1) * INTERVAL).contains(&change.at), "{change:?}");
        }
        let lives = lives(&timeline);
        assert_eq!(lives.len(), workers + 1, "nobody else comes");
        let last = |worker: usize| lives[&(worker, 1)].last().copied().unwrap();
        let crashed = crash.worker.expect("somebody was there");
        assert_eq!(last(crashed).until, crash.at);
        let State::Owns(share) = last(crashed).state else { panic!("it owned nothing") };
        assert_eq!(share.pair().i() as usize, workers.div_ceil(2));
        assert!((0..=workers).all(|worker| worker == crashed || last(worker).until == END));
    }
}
