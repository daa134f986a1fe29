//! The promise, as conditions on a state.
//!
//! Who owns what changes only at events, apart from leases that end, so a condition that
//! holds after every event holds at all times between.

use n_and_i_core::{Mapping, Share};

use crate::setup::{INTERVAL, Setup};
use crate::worker::Worker;
use crate::world::World;

/// Nobody shares a task with another.
pub(crate) fn is_exclusive(setup: &Setup, world: &World) -> bool {
    let owned: Vec<_> = owned(setup, world).collect();
    owned.iter().enumerate().all(|(place, (_, share))| {
        owned[place + 1..].iter().all(|(_, other)| !intersect(*share, *other))
    })
}

/// Nobody owns a task that another may still be finishing. An earlier owner could only be so
/// if two had owned it at once, which is wrong anyway.
pub(crate) fn respects_drains(setup: &Setup, world: &World) -> bool {
    owned(setup, world).all(|(place, share)| {
        let mut others = world.drains.iter().filter(|(owner, _)| *owner != Some(place));
        others.all(|(_, drain)| !intersect(drain.share, share))
    })
}

/// Of two owners of a task, the later has the greater token. Not so across a server's clock
/// that was set back.
pub(crate) fn tokens_rise(setup: &Setup, world: &World) -> bool {
    let Some(fences) = &world.fences else { return true };
    let handed = |place: usize| world.workers[place].as_ref().and_then(Worker::handed);
    owned(setup, world).all(|(place, _)| {
        let Some(ours) = handed(place) else { return true };
        let past = fences.iter().filter(|(owner, _)| *owner != Some(place)).map(|(_, past)| *past);
        // Leases that are over, though their workers have not noticed.
        let others = (0..world.workers.len()).filter(|other| *other != place).filter_map(handed);
        past.chain(others).all(|past| past.token < ours.token || !intersect(past.share, ours.share))
    })
}

/// If members only come and go: from the last slot of the fourth interval after the one in which the
/// last of them did, each owns the whole of a pair, all of one count, which is theirs.
pub(crate) fn is_restored(setup: &Setup, world: &World) -> bool {
    let last_slots = (world.changed / INTERVAL + 5) * INTERVAL - INTERVAL / 10;
    if !setup.only_membership_changes() || world.now < last_slots {
        return true;
    }
    let members = world.workers.iter().flatten().count();
    let whole =
        |share: &Share| share.is_settled() && usize::try_from(share.pair().n()) == Ok(members);
    owned(setup, world).filter(|(_, share)| whole(share)).count() == members
}

/// What each worker owns at this moment, by its own clock, also while it stalls.
pub(crate) fn owned(setup: &Setup, world: &World) -> impl Iterator<Item = (usize, Share)> {
    world.workers.iter().enumerate().filter_map(|(place, worker)| {
        let share = worker.as_ref()?.owns(setup, world.now)?;
        Some((place, share))
    })
}

/// Whether some task belongs to both, however tasks are mapped.
fn intersect(one: Share, other: Share) -> bool {
    Mapping::ALL.into_iter().any(|mapping| one.intersects(other, mapping))
}
