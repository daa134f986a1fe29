//! The model as the checker sees it.

use stateright::{Model, Property};

use crate::action::Action;
use crate::choices::choices;
use crate::safety::{is_exclusive, is_restored, owned, respects_drains, tokens_rise};
use crate::setup::{INTERVAL, SETTLING, Setup};
use crate::worker::as_u64;
use crate::world::World;

/// When the first worker starts; the others follow at this distance.
const FIRST_STARTS: u64 = INTERVAL / 5;

/// A group under every placement of the faults of a setup.
#[derive(Clone, Debug)]
pub struct LeaseModel {
    /// What is checked.
    pub setup: Setup,
}

impl LeaseModel {
    /// No two workers own one task.
    pub const EXCLUSIVE: &str = "no task has two owners";
    /// What was lost may be drained.
    pub const DRAINED: &str = "no task is handed out before its drain deadline";
    /// Stages are fencing tokens.
    pub const FENCED: &str = "of two owners of a task the later has the greater token";
    /// The machine always knows what to wait for.
    pub const AWAKE: &str = "every machine has a deadline in the future";
    /// Not vacuous: the faults leave somebody to own something.
    pub const SERVED: &str = "every worker owns a share at the end";
    /// A group whose members come and go owns everything by the end of the fourth interval after
    /// that in which the last of them did.
    pub const RESTORED: &str = "three intervals after the change shows all is owned again";
    /// Not vacuous either: who is to keep serving does.
    pub const NARROWED: &str = "a worker owns what two intervals have in common";

    /// The group after it has settled in peace, by all rules.
    fn settled(&self) -> World {
        let setup = Setup { broken: None, ..self.setup.clone() };
        let mut world = World::empty(&setup);
        for place in 0..setup.running {
            run_in_peace(&setup, &mut world, FIRST_STARTS * (1 + as_u64(place)));
            world.starts = 1;
            world.apply(&setup, Action::Start(place));
        }
        run_in_peace(&setup, &mut world, SETTLING * INTERVAL);
        (world.budget, world.starts) = (setup.budget, setup.starts);
        world
    }
}

fn run_in_peace(setup: &Setup, world: &mut World, until: u64) {
    let mut actions = Vec::new();
    loop {
        actions.clear();
        choices(setup, world, &mut actions);
        let next = actions.first().copied().unwrap_or(Action::Wait);
        if next == Action::Wait && world.next_event(setup).is_none_or(|event| event >= until) {
            world.now = until;
            return;
        }
        world.apply(setup, next);
    }
}

impl Model for LeaseModel {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![self.settled()]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        choices(&self.setup, world, actions);
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        next.apply(&self.setup, action);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(Self::EXCLUSIVE, |model, world| is_exclusive(&model.setup, world)),
            Property::always(Self::DRAINED, |model, world| respects_drains(&model.setup, world)),
            Property::always(Self::FENCED, |model, world| tokens_rise(&model.setup, world)),
            Property::always(Self::AWAKE, |_, world: &World| world.silent.is_none()),
            Property::always(Self::RESTORED, |model, world| is_restored(&model.setup, world)),
            Property::sometimes(Self::SERVED, |model: &Self, world: &World| {
                let late = world.now + INTERVAL >= model.setup.end();
                late && owned(&model.setup, world).count() == model.setup.gaps.len()
            }),
            Property::sometimes(Self::NARROWED, |model: &Self, world: &World| {
                !model.setup.keeps_serving()
                    || owned(&model.setup, world).any(|(_, share)| !share.is_settled())
            }),
        ]
    }
}
