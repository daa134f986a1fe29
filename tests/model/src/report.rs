//! Runs the checker, and says what it counted or found.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use stateright::{Checker, HasDiscoveries, Model};

use crate::action::Action;
use crate::model::LeaseModel;
use crate::safety::owned;
use crate::setup::{INTERVAL, SETTLING, Setup};
use crate::world::World;

/// Both cores of a small machine.
const THREADS: usize = 2;
const NANOS_PER_MICRO: u64 = 1_000;

/// States, each with the action taken in it; none in the last.
type Steps = Vec<(World, Option<Action>)>;

/// How large a check was.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// States that differ.
    pub unique_states: usize,
    /// States, however often they were reached.
    pub states: usize,
    /// How many actions the longest path has.
    pub depth: usize,
    /// How long it took.
    pub took: Duration,
}

/// Walks through every state of the setup and prints how many there are.
///
/// # Panics
/// With a readable path, if a state breaks the promise; and if no state shows what the
/// setup should make possible.
pub fn check(setup: Setup) -> Counted {
    let started = Instant::now();
    let name = format!("{}, {}, {}", setup.name, setup.layout, setup.mode());
    let checker = LeaseModel { setup }.checker().threads(THREADS).spawn_dfs().join();
    for (property, path) in checker.discoveries() {
        let failed = checker.model().property(property).expectation.discovery_is_failure();
        assert!(
            !failed,
            "{name}, broken: {property}\n{}",
            describe(checker.model(), &path.into_vec())
        );
    }
    checker.assert_properties();
    let counted = Counted {
        unique_states: checker.unique_state_count(),
        states: checker.state_count(),
        depth: checker.max_depth(),
        took: started.elapsed(),
    };
    println!(
        "{name}: {} unique states of {}, depth {}, {:.1} s",
        counted.unique_states,
        counted.states,
        counted.depth,
        counted.took.as_secs_f64()
    );
    counted
}

/// The shortest path to a state that breaks the promise in this way, printed and returned.
pub fn counterexample(setup: &Setup, property: &'static str) -> Option<String> {
    let model = LeaseModel { setup: setup.clone() };
    let mut shortest = find(&model, property, None)?;
    // The checker keeps the last one that it met before it noticed that it was done.
    while let Some(shorter) = find(&model, property, Some(shortest.len())) {
        shortest = shorter;
    }
    let text = describe(&model, &shortest);
    println!("{}, {:?}, broken: {property}\n{text}", setup.name, setup.broken);
    Some(text)
}

/// A path to a state that breaks the promise in this way, with fewer states than `fewer_than`.
fn find(model: &LeaseModel, property: &'static str, fewer_than: Option<usize>) -> Option<Steps> {
    let wanted = HasDiscoveries::AnyOf([property].into());
    let checker = model.clone().checker().finish_when(wanted);
    let checker = checker.target_max_depth(fewer_than.unwrap_or(usize::MAX));
    Some(checker.spawn_bfs().join().discovery(property)?.into_vec())
}

/// One line for each action, with the time at which it happens and, where it changed, who
/// owns and drains what after it.
fn describe(model: &LeaseModel, steps: &Steps) -> String {
    let mut text = String::new();
    let mut before = String::new();
    for (step, next) in steps.iter().zip(&steps[1..]) {
        let ((world, action), (next, _)) = (step, next);
        let Some(action) = action else { continue };
        let after = standing(model, next);
        if *action == Action::Wait && after == before {
            continue;
        }
        let micros = (world.now - SETTLING * INTERVAL) / NANOS_PER_MICRO;
        let _ = write!(text, "{:>5}.{:03} ms  {action}", micros / 1_000, micros % 1_000);
        if after != before {
            let _ = write!(text, "  [{after}]");
        }
        text.push('\n');
        before = after;
    }
    text
}

/// Who owns and drains what.
fn standing(model: &LeaseModel, world: &World) -> String {
    let owns = owned(&model.setup, world).map(|(place, share)| format!("{place} owns {share}"));
    let drains = world.drains.iter().map(|(owner, drain)| match owner {
        Some(place) => format!("{place} drains {}", drain.share),
        None => format!("who left drains {}", drain.share),
    });
    owns.chain(drains).collect::<Vec<_>>().join(", ")
}
