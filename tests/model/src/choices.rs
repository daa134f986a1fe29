//! What can happen next in a state.
//!
//! At one moment, first the workers handle what is due, then the server executes what has arrived,
//! in every order; then workers may crash, leave and start; then time passes. The order
//! of inputs to different workers makes no difference, so only one is tried.

use crate::action::{Action, Fate, ServerFault};
use crate::setup::{Fault, Setup};
use crate::world::World;

pub(crate) fn choices(setup: &Setup, world: &World, actions: &mut Vec<Action>) {
    if world.silent.is_some() {
        return;
    }
    let before = actions.len();
    inputs(setup, world, actions);
    if actions.len() == before {
        executions(setup, world, actions);
    }
    if actions.len() == before {
        comings_and_goings(setup, world, actions);
        if world.next_event(setup).is_some_and(|next| next < setup.end()) {
            actions.push(Action::Wait);
        }
    }
}

fn allowed(setup: &Setup, world: &World, fault: Fault) -> bool {
    world.budget > 0 && setup.faults.contains(&fault)
}

/// What the first worker with something to handle may do.
fn inputs(setup: &Setup, world: &World, actions: &mut Vec<Action>) {
    for (place, worker) in world.workers.iter().enumerate() {
        let Some(worker) = worker.as_ref().filter(|worker| worker.stalled_until.is_none()) else {
            continue;
        };
        let before = actions.len();
        if world.answer_for(place).is_some() {
            actions.push(Action::Hear(place));
        }
        if world.is_due(worker) {
            actions.push(Action::Wake(place));
        }
        if actions.len() > before {
            if allowed(setup, world, Fault::Stall) {
                actions.extend(setup.delays.iter().map(|&delay| Action::Stall(place, delay)));
            }
            return;
        }
    }
}

/// What the server may do with the requests that reach it now.
fn executions(setup: &Setup, world: &World, actions: &mut Vec<Action>) {
    let before = actions.len();
    for (place, worker) in world.workers.iter().enumerate() {
        if worker.as_ref().is_some_and(|worker| worker.outgoing.is_some()) {
            fates(setup, world, |fate| actions.push(Action::Send(place, fate)));
        }
    }
    for message in world.arrived_requests() {
        actions.push(Action::Execute(message, 0));
        let answered = world.messages[message].worker.is_some();
        if answered && allowed(setup, world, Fault::LateReply) {
            actions.extend(setup.delays.iter().map(|&delay| Action::Execute(message, delay)));
        }
    }
    if actions.len() > before {
        server_faults(setup, world, actions);
    }
}

fn fates(setup: &Setup, world: &World, mut add: impl FnMut(Fate)) {
    add(Fate::Prompt);
    if allowed(setup, world, Fault::LostRequest) {
        [Fate::Lost, Fate::Refused, Fate::LostUnknown].into_iter().for_each(&mut add);
    }
    if allowed(setup, world, Fault::LostReply) {
        [Fate::ReplyLost, Fate::ReplyUnknown].into_iter().for_each(&mut add);
    }
    for &delay in &setup.delays {
        for (fault, fate) in [
            (Fault::LateReply, Fate::ReplyLate(delay)),
            (Fault::LateRequest, Fate::RequestLate(delay)),
            (Fault::Duplicate, Fate::Twice(delay)),
        ] {
            if allowed(setup, world, fault) {
                add(fate);
            }
        }
    }
}

fn server_faults(setup: &Setup, world: &World, actions: &mut Vec<Action>) {
    let mut add = |fault| {
        if world.server.would_suffer(fault, world.now) {
            actions.push(Action::Server(fault));
        }
    };
    if allowed(setup, world, Fault::ClockStep) {
        setup.steps.iter().for_each(|&millis| add(ServerFault::Step(millis)));
    }
    for (fault, what) in [
        (Fault::LoseOpen, ServerFault::LoseOpen),
        (Fault::LoseClosed, ServerFault::LoseClosed),
        (Fault::LoseGuard, ServerFault::LoseGuard),
    ] {
        if allowed(setup, world, fault) {
            add(what);
        }
    }
    if allowed(setup, world, Fault::RollBack) {
        (0..=world.server.writes_to_lose()).for_each(|writes| add(ServerFault::RollBack(writes)));
    }
}

fn comings_and_goings(setup: &Setup, world: &World, actions: &mut Vec<Action>) {
    for (place, worker) in world.workers.iter().enumerate() {
        // A worker that is gone later, before its next event, has done nothing more.
        if worker.as_ref().is_some_and(|worker| worker.acted) {
            if allowed(setup, world, Fault::Crash) {
                actions.push(Action::Crash(place));
            }
            if allowed(setup, world, Fault::Leave) {
                actions.push(Action::Leave(place));
            }
        }
    }
    if world.starts > 0 && world.now.is_multiple_of(setup.tick()) {
        let mut free = (0..world.workers.len()).filter(|&place| world.workers[place].is_none());
        let limit = if setup.has_equal_places() { 1 } else { usize::MAX };
        actions.extend(free.by_ref().take(limit).map(Action::Start));
    }
}
