//! Waiting for a moment of the clock that counts through suspend.

use n_and_i::{BootClock, Clock, Instant};

/// Completes at that moment. After a suspend that it fell into, it does at once.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) async fn alarm(at: Instant) {
    // Without such a timer there is still the other kind.
    match timer(at) {
        Ok(timer) => drop(timer.readable().await),
        Err(_) => sleep_until(at).await,
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn timer(at: Instant) -> std::io::Result<tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>> {
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };

    const NANOS_PER_SECOND: u64 = 1_000_000_000;

    let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
    let timer = timerfd_create(TimerfdClockId::Boottime, flags)?;
    // Zero would be no alarm at all.
    let nanos = at.as_nanos().max(1);
    let at = Timespec {
        tv_sec: i64::try_from(nanos / NANOS_PER_SECOND).unwrap_or(i64::MAX),
        tv_nsec: (nanos % NANOS_PER_SECOND).try_into().expect("it is below 10^9"),
    };
    let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: at };
    timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME, &once)?;
    #[expect(deprecated, reason = "its successor is unsafe to call, for types other than this one")]
    tokio::io::unix::AsyncFd::new(timer)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) async fn alarm(at: Instant) {
    sleep_until(at).await;
}

async fn sleep_until(at: Instant) {
    loop {
        let left = at.saturating_duration_since(BootClock.now());
        if left.is_zero() {
            return;
        }
        tokio::time::sleep(left).await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn it_rings_when_the_clock_shows_the_time_and_not_before() {
        for wait in [0, 1, 30] {
            let at = BootClock.now().saturating_add(Duration::from_millis(wait));
            alarm(at).await;
            assert!(BootClock.now() >= at, "{wait}");
        }
        alarm(Instant::from_nanos(0)).await;
    }
}
