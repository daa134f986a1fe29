//! Every placement of a few faults in a small group, checked with `stateright`.
//!
//! The workers are real [`Machine`](n_and_i_core::Machine)s and the registry is the real
//! [`Store`](n_and_i::counters::Store); only time, transport and faults are the model's.
//! A [`Setup`] says which faults may happen and how many of them; [`LeaseModel`] is what the
//! checker walks through; [`check`] walks and prints what it counted.
//!
//! Time jumps from event to event. That loses nothing: what a server forgets, and how its clock
//! steps, shows only at the next registration that it executes, and a worker that crashes, leaves
//! or stalls differs only in which of its own events it still handles and when. So a fault
//! of the server is tried just before each execution and a fault of a worker at each
//! of its events, which stands for all the time between. How long a delay or a stall takes does
//! matter; the setup lists the lengths, chosen to end before, at and after slots and leases.

mod action;
mod apply;
mod choices;
mod model;
mod report;
mod safety;
mod server;
mod setup;
mod worker;
mod world;

pub use action::{Action, Fate, ServerFault};
pub use model::LeaseModel;
pub use report::{Counted, check, counterexample};
pub use setup::{BrokenRule, Fault, Setup};
pub use world::World;
