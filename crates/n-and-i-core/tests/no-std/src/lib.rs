//! A static library without the standard library, without an allocator and with a panic
//! handler of its own. Were the core, or anything beneath it, to link `std`, there would be two
//! panic handlers; were it to link `alloc`, there would be no allocator. Neither compiles.

#![no_std]

#[cfg(feature = "needs-alloc")]
extern crate alloc;
#[cfg(feature = "needs-std")]
extern crate std;

use core::panic::PanicInfo;
use core::time::Duration;

use n_and_i_core::{Failure, Instant, Machine, Output, Reply, ServerTime, Stamp, Timing};

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}

/// Registers a worker that is alone until it owns the whole task space; returns how many
/// registrations that took, or 0 if it never came about.
#[unsafe(no_mangle)]
pub extern "C" fn n_and_i_registrations_until_owned(interval_millis: u32) -> u32 {
    let interval = Duration::from_millis(u64::from(interval_millis));
    let Ok(timing) = Timing::new(interval, Timing::DEFAULT_GAP) else { return 0 };
    let mut now = Instant::ORIGIN;
    let mut machine = Machine::new(timing, now);
    let mut registrations = 0;
    while let Some(deadline) = machine.poll_timeout() {
        while let Some(output) = machine.poll_output() {
            if let Output::Register { attempt, .. } = output {
                registrations += 1;
                if machine.handle_reply(now, attempt, reply(timing, now)).is_err() {
                    let _ = machine.handle_failure(now, attempt, Failure::Unknown);
                }
            }
        }
        if machine.lease().is_some() {
            return registrations;
        }
        if registrations > 10 {
            machine.handle_stop(now);
        }
        now = deadline;
        machine.handle_timeout(now);
    }
    0
}

fn reply(timing: Timing, now: Instant) -> Reply {
    let at = ServerTime::from_micros(1_000_000_000_000 + now.as_nanos() / 1_000);
    let interval = timing.interval_at(at);
    let stamp = |interval: u64| Stamp::from_u128(u128::from(interval));
    Reply {
        interval,
        index: 0,
        replicas: Some(1),
        at,
        stamp: stamp(interval),
        previous_stamp: Some(stamp(interval - 1)),
    }
}
