//! What holds for every sequence of inputs, however odd: property tests of the contract between
//! the machine and its embedder.
//!
//! A test that fails shows its seed and the smallest sequence of inputs that fails.
//! `PROPTEST_RNG_SEED=<seed>` repeats the run exactly, `PROPTEST_CASES=<number>` runs longer.

mod embedder;
mod inputs;

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

use n_and_i_core::{
    Failure, Instant, Machine, Reason, Rebalance, Reply, ServerTime, Stamp, Timing,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};

use embedder::{Draining, Embedder};
use inputs::{
    Input, Step, Wait, any_group, any_step, cycle, even_worse_step, extreme_timing, sequence,
};

/// The environment's settings, with a seed that is chosen here so that it can be shown.
fn config() -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(RandomState::new().hash_one(0));
    }
    if let RngSeed::Fixed(seed) = config.rng_seed {
        // Captured by the test harness, and shown if the test fails.
        eprintln!("PROPTEST_RNG_SEED={seed}");
    }
    config
}

const START: Instant = Instant::from_nanos(5_000_000_000);

proptest! {
    #![proptest_config(config())]

    /// The embedder checks the contract after each input.
    #[test]
    fn the_contract_holds_after_every_input(group in any_group(), steps in sequence(any_step())) {
        let mut embedder = Embedder::new(group, START, Draining::Always);
        for step in steps {
            embedder.take(step);
        }
    }

    /// When outputs are drained decides what is said, never what is done.
    #[test]
    fn draining_late_or_never_changes_nothing(
        group in any_group(),
        steps in sequence((any_step(), any::<bool>())),
    ) {
        let mut always = Embedder::new(group, START, Draining::Always);
        let mut sometimes = Embedder::new(group, START, Draining::Sometimes);
        let mut never = Embedder::new(group, START, Draining::Never);
        for (step, drain) in steps {
            always.take(step);
            sometimes.take(step);
            if drain {
                sometimes.drain();
            }
            never.take(step);
            for other in [&sometimes, &never] {
                prop_assert_eq!(always.machine.lease(), other.machine.lease());
                prop_assert_eq!(always.machine.in_flight(), other.machine.in_flight());
                prop_assert_eq!(always.machine.poll_timeout(), other.machine.poll_timeout());
                prop_assert_eq!(always.machine.is_stopped(), other.machine.is_stopped());
            }
        }
        // What is said in the end is what is true in the end.
        for mut late in [sometimes, never] {
            late.drain();
            prop_assert_eq!(late.owns(), always.owns());
            prop_assert_eq!(late.scheduled(), always.scheduled());
        }
    }

    /// Silence, and one late wake-up: what happens is what would have happened at the deadlines,
    /// except that fewer registrations were tried.
    #[test]
    fn no_deadline_is_missed_by_sleeping_through_it(
        group in any_group(),
        steps in sequence(cycle()),
        silence in 0_u32..4_000,
    ) {
        let mut punctual = Embedder::new(group, START, Draining::Always);
        for step in steps {
            punctual.take(step);
        }
        let mut late = punctual.clone();
        let until = punctual.after(Wait::Thousandths(silence));
        let changes_before = punctual.changes.len();

        punctual.sleep_until(until);
        late.handle_timeout(until);

        // A loss carries the time at which the window for draining closes, not that of the
        // wake-up: the changes are the same, whole.
        prop_assert_eq!(&punctual.changes[changes_before..], &late.changes[changes_before..]);
        prop_assert_eq!(punctual.expiries, late.expiries);
        prop_assert_eq!(punctual.lapses, late.lapses);
        prop_assert_eq!(punctual.machine.lease(), late.machine.lease());
        prop_assert_eq!(
            punctual.machine.in_flight().is_some(),
            late.machine.in_flight().is_some()
        );
    }

    /// An answer that is the first thing an embedder sees after a deadline finds the machine
    /// as if the deadline had been handled before.
    #[test]
    fn an_answer_does_not_overtake_a_deadline(
        group in any_group(),
        steps in sequence(cycle()),
        late in 0_u32..1_000,
        answer in cycle(),
    ) {
        let mut after_the_deadline = Embedder::new(group, START, Draining::Always);
        for step in steps {
            after_the_deadline.take(step);
        }
        after_the_deadline.sleep_until_in_flight();
        let mut before_the_deadline = after_the_deadline.clone();

        let wait = Wait::Request(late, 0);
        let answered_at = after_the_deadline.after(wait);
        after_the_deadline.sleep_until(answered_at);
        after_the_deadline.take(Step { wait: Wait::Nothing, ..answer });
        before_the_deadline.take(Step { wait, ..answer });

        let (after, before) = (after_the_deadline.machine, before_the_deadline.machine);
        prop_assert_eq!(after.lease(), before.lease());
        prop_assert_eq!(after.in_flight(), before.in_flight());
        prop_assert_eq!(after.poll_timeout(), before.poll_timeout());
    }

    /// With a server's clock that runs as the worker's does: rules 4, 6 and 7 by server time.
    #[test]
    fn by_server_time_no_registration_is_early_and_no_request_outlives_its_attempt(
        group in any_group(),
        steps in sequence(cycle()),
    ) {
        // A microsecond is the resolution of the server's clock.
        const RESOLUTION: u64 = 1;
        let timing = group.0;
        let mut embedder = Embedder::new(group, START, Draining::Always);
        let mut earliest = None;
        for step in steps {
            embedder.sleep_until_in_flight();
            let sent = embedder.server_time_at(embedder.sent).as_micros();
            if let Some(earliest) = earliest.take() {
                prop_assert!(sent + RESOLUTION >= earliest, "{} < {}", sent, earliest);
            }
            if let Some(not_after) = embedder.not_after {
                let given_up = embedder.sent.saturating_add(timing.interval());
                prop_assert!(not_after <= embedder.server_time_at(given_up));
            }

            let answered_before = embedder.answered.len();
            embedder.take(step);
            let slot_after = |at: ServerTime, index, replicas| {
                let slot = u64::try_from(timing.slot(index, replicas).as_micros());
                let length = u64::try_from(timing.interval().as_micros()).expect("49 days fit");
                (timing.interval_at(at) + 1) * length + slot.expect("49 days fit")
            };
            let last = embedder.answered.last();
            if embedder.answered.len() > answered_before {
                earliest = last.and_then(|reply| {
                    Some(slot_after(reply.at, reply.index, reply.replicas?))
                });
            } else if step.input == Input::Failure(Failure::Unknown)
                && embedder.machine.in_flight().is_none()
            {
                earliest = last.and_then(|reply| {
                    Some(slot_after(embedder.server_time(), reply.index, reply.replicas?))
                });
            }
        }
    }

    /// Nothing overflows, wherever the clocks stand or go and however long the interval is.
    #[test]
    fn extreme_values_do_not_panic(
        timing in extreme_timing(),
        start in prop_oneof![Just(0), any::<u64>(), u64::MAX - 10_000_000_000..=u64::MAX],
        steps in sequence(even_worse_step()),
    ) {
        let start = Instant::from_nanos(start);
        let mut embedder = Embedder::new((timing, Rebalance::KeepServing), start, Draining::Unchecked);
        for step in steps {
            embedder.take(step);
        }
    }
}

/// Readings must not decrease; one that does is taken for the time of the request.
#[test]
fn a_reply_cannot_be_older_than_its_request() {
    let timing = Timing::new(Duration::from_secs(1), Timing::DEFAULT_GAP).expect("in bounds");
    let reply = Reply {
        interval: 100,
        index: 0,
        replicas: Some(1),
        at: ServerTime::from_micros(100_400_000),
        stamp: Stamp::from_u128(100),
        previous_stamp: None,
    };
    let [punctual, early] = [START, Instant::ORIGIN].map(|now| {
        let mut machine = Machine::new(timing, START);
        let attempt = machine.in_flight().expect("registers at once");
        machine.handle_reply(now, attempt, reply).expect("in flight");
        machine
    });
    assert_eq!(early, punctual);
}

/// The properties above are worth something only if their inputs get far.
#[test]
fn random_inputs_lead_everywhere() {
    let mut runner = TestRunner::deterministic();
    let mut seen = [0; 6];
    for _ in 0..1024 {
        let inputs = (any_group(), sequence(any_step()));
        let (group, steps) = inputs.new_tree(&mut runner).expect("no filters").current();
        let mut embedder = Embedder::new(group, START, Draining::Always);
        for step in steps {
            embedder.take(step);
        }
        for change in embedder.changes {
            seen[match change.owned {
                Ok(_) => 0,
                Err(Reason::Starting) => 1,
                Err(Reason::Rebalancing) => 2,
                Err(Reason::Expired) => 3,
                Err(Reason::ClockStepped) => 4,
                Err(_) => 5,
            }] += 1;
        }
    }
    assert!(seen.iter().all(|&times| times >= 5), "owned, then idle by reason: {seen:?}");
}
