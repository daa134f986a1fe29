//! The worker's own clock.

use std::time::Duration;

use n_and_i_core::Instant;

/// A monotonic clock that any thread may read.
///
/// It must never go back and should keep counting while the computer sleeps: whether a lease
/// is live is decided by it alone.
pub trait Clock: Send + Sync + 'static {
    /// The present reading, counted from an origin that stays the same.
    fn now(&self) -> Instant;
}

impl<F: Fn() -> Instant + Send + Sync + 'static> Clock for F {
    fn now(&self) -> Instant {
        self()
    }
}

/// The operating system's clock that counts through suspend: `CLOCK_BOOTTIME` on Linux,
/// Android and OpenBSD, `CLOCK_MONOTONIC` on other Unix systems (which counts through suspend
/// on Apple's), the standard library's `Instant` elsewhere (which does on Windows).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct BootClock;

impl Clock for BootClock {
    fn now(&self) -> Instant {
        Instant::from_elapsed(elapsed())
    }
}

#[cfg(unix)]
fn elapsed() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    #[cfg(any(target_os = "linux", target_os = "android", target_os = "openbsd"))]
    const COUNTS_THROUGH_SUSPEND: ClockId = ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "openbsd")))]
    const COUNTS_THROUGH_SUSPEND: ClockId = ClockId::Monotonic;

    // Readings count from the boot, so neither part is negative.
    let reading = clock_gettime(COUNTS_THROUGH_SUSPEND);
    Duration::new(
        u64::try_from(reading.tv_sec).unwrap_or(0),
        u32::try_from(reading.tv_nsec).unwrap_or(0),
    )
}

#[cfg(not(unix))]
fn elapsed() -> Duration {
    use std::sync::OnceLock;
    static ORIGIN: OnceLock<std::time::Instant> = OnceLock::new();
    ORIGIN.get_or_init(std::time::Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_moves_with_real_time_and_never_back() {
        let first = BootClock.now();
        let reference = std::time::Instant::now();
        while reference.elapsed() < Duration::from_millis(5) {
            assert!(BootClock.now() >= first);
        }
        assert!(BootClock.now().saturating_duration_since(first) >= Duration::from_millis(5));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn on_linux_it_counts_from_the_boot() {
        let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
        let seconds: f64 = uptime.split(' ').next().unwrap().parse().unwrap();
        let read = Duration::from_nanos(BootClock.now().as_nanos()).as_secs_f64();
        assert!((read - seconds).abs() < 60.0, "clock {read}, uptime {seconds}");
    }
}
