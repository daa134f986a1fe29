//! Deterministic simulation of [`n_and_i`] groups under faults.
//!
//! The real machines of `n-and-i-core` run against a model of the counter layout, in virtual
//! time and on one thread, with messages, processes, clocks and the server misbehaving as
//! [`Faults`] says. At every event the promise is checked, under both mappings of tasks: none has
//! two owners, nobody is handed one within the drain window of who had it before, fencing tokens
//! rise from owner to owner. One seed gives one run.
//!
//! ```
//! use n_and_i_sim::{Faults, Scenario};
//!
//! let outcome = Scenario::new(10, Faults::all()).with_intervals(500).run(42);
//! assert_eq!(outcome.violation, None, "seed 42");
//! assert!(outcome.worker_intervals > 2_000);
//! ```
//!
//! With the feature `proptest`, `any_faults` makes faults for property tests of your own, and
//! failing cases shrink to few of them.

mod account;
mod agenda;
mod claims;
mod clock;
mod faults;
mod nanos;
mod plan;
mod process;
mod random;
mod rehearsal;
mod scenario;
mod server;
#[cfg(feature = "proptest")]
mod strategy;
mod timeline;
mod world;

pub use claims::{Claim, Violation};
pub use faults::{Fault, Faults, UnknownFault};
pub use plan::{Plan, PlanError, Planned, Rebalancing};
pub use rehearsal::{Member, Rehearsal, Time};
pub use scenario::{Outcome, Scenario};
#[cfg(feature = "proptest")]
pub use strategy::any_faults;
pub use timeline::{Incident, MembershipChange, Registration, Span, State, Timeline};
