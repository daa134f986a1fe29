//! The rules of the protocol, a module for each: replies and times in, outputs out.
//!
//! The rules are stated and argued for in `docs/protocol.md`. The worker under test and the
//! way in which these tests speak of time are described in `support.rs`.

mod support;

mod rule_01_one_closed_interval;
mod rule_02_two_intervals_agree;
mod rule_03_lease_end;
mod rule_04_next_registration;
mod rule_05_expiry;
mod rule_06_hung_registration;
mod rule_07_failed_registration;
mod rule_08_counter_incarnation;
mod rule_09_clock_step;
mod rule_10_group_interval;

mod diagnostics;
mod rebalancing;
mod stop;
mod undrained;
