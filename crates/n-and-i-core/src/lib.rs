//! Sans-IO state machine that leases an exclusive pair `(i, n)` to each worker of a changing
//! group, so that workers can split tasks by `task.id % n == i`.
//!
//! Once per interval each worker registers with a shared counter and learns its index there
//! and the final count of the interval before. [`Machine`] turns those answers and the time
//! into leases. It does no I/O, reads no clock, draws no random numbers, allocates nothing and
//! needs no operating system. Most people want the `n-and-i` crate, which runs it; take this
//! one to drive the protocol from an executor, simulator or model checker of your own.
//!
//! The embedder calls a `handle_*` method for every input, drains [`Machine::poll_output`]
//! after each, and sleeps until [`Machine::poll_timeout`] or the next input:
//!
//! ```
//! use std::time::Duration;
//! use n_and_i_core::{Instant, Machine, Output, Reply, ServerTime, Stamp, Timing};
//!
//! let timing = Timing::new(Duration::from_secs(10), 0.15)?;
//! let mut now = Instant::ORIGIN; // your monotonic clock
//! let mut machine = Machine::new(timing, now);
//! let mut registrations = 0;
//! let share = 'owned: loop {
//!     let mut request = None;
//!     while let Some(output) = machine.poll_output() {
//!         match output {
//!             Output::Register { attempt, .. } => request = Some(attempt),
//!             Output::Yield(change) => match change.owned {
//!                 Ok(lease) => break 'owned lease.share,
//!                 Err(reason) => println!("idle: {reason}"),
//!             },
//!             _ => {} // expiry, diagnostics, and the deadline read below
//!         }
//!     }
//!     if let Some(attempt) = request {
//!         // A registry with this worker alone in it.
//!         let at = ServerTime::from_micros(1_000_000_000 + now.as_nanos() / 1_000);
//!         let interval = timing.interval_at(at);
//!         let stamp = |interval: u64| Stamp::from_u128(u128::from(interval));
//!         let reply = Reply {
//!             interval,
//!             index: 0,
//!             replicas: (registrations > 0).then_some(1),
//!             at,
//!             stamp: stamp(interval),
//!             previous_stamp: (registrations > 0).then_some(stamp(interval - 1)),
//!         };
//!         registrations += 1;
//!         machine.handle_reply(now, attempt, reply)?;
//!     } else if let Some(deadline) = machine.poll_timeout() {
//!         now = deadline; // here a real embedder sleeps
//!         machine.handle_timeout(now);
//!     }
//! };
//! assert_eq!((share.pair().i(), share.pair().n(), registrations), (0, 1, 3));
//! assert!(share.owns(42));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Time enters with every input as an [`Instant`] since an origin of the embedder's choice;
//! the server's time enters with replies. Failed registrations are inputs too
//! ([`Failure`]); they never end the machine. Inputs that cannot be right are refused with
//! [`Rejected`] and leave it unchanged.
//!
//! The feature `keys` adds [`Share`]'s `owns_key`, which hashes keys that are not numbers.

#![no_std]

mod clock;
mod machine;
mod outbox;
mod output;
mod registration;
mod share;
mod time;
mod timing;

pub use machine::Machine;
pub use output::{Change, Diagnostic, Lease, Output, Reason};
pub use registration::{AttemptId, Failure, InvalidReply, Rejected, Reply, Stamp};
pub use share::{Mapping, Pair, Rebalance, Share};
pub use time::{Instant, ServerTime};
pub use timing::{Timing, TimingError};

#[cfg(test)]
extern crate std;
