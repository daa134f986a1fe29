//! The promise, as conditions on a state.
//!
//! Who owns what changes only at events, apart from leases that end, so a condition that
//! holds after every event holds at all times between.

use n_and_i_core::Pair;

use crate::setup::Setup;
use crate::world::World;

/// Nobody shares a task with another.
pub(crate) fn is_exclusive(setup: &Setup, world: &World) -> bool {
    let owned: Vec<_> = owned(setup, world).collect();
    owned.iter().enumerate().all(|(place, (_, pair))| {
        owned[place + 1..].iter().all(|(_, other)| !pair.intersects(*other))
    })
}

/// Nobody owns a task that another may still be finishing. An earlier owner could only be so
/// if two had owned it at once, which is wrong anyway.
pub(crate) fn respects_drains(setup: &Setup, world: &World) -> bool {
    owned(setup, world).all(|(place, pair)| {
        let others = world.drains.iter().filter(|(owner, _)| *owner != Some(place));
        others.clone().all(|(_, drain)| !drain.pair.intersects(pair))
    })
}

/// What each worker owns at this moment, by its own clock, also while it stalls.
pub(crate) fn owned(setup: &Setup, world: &World) -> impl Iterator<Item = (usize, Pair)> {
    world.workers.iter().enumerate().filter_map(|(place, worker)| {
        let pair = worker.as_ref()?.owns(setup, world.now)?;
        Some((place, pair))
    })
}
