//! Waiting for conditions, with a limit so generous that only a real failure reaches it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);
const STEP: Duration = Duration::from_millis(5);

/// Returns what `condition` gives as soon as it gives something.
///
/// # Panics
/// With `what` if that takes longer than a minute.
pub fn eventually<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(start.elapsed() < LIMIT, "waited {LIMIT:?} in vain: {what}");
        std::thread::sleep(STEP);
    }
}

/// [`eventually`] for async code on Tokio.
///
/// # Panics
/// With `what` if that takes longer than a minute.
#[cfg(feature = "tokio")]
pub async fn eventually_async<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(start.elapsed() < LIMIT, "waited {LIMIT:?} in vain: {what}");
        tokio::time::sleep(STEP).await;
    }
}

/// A group name that no other test in this process uses.
pub fn unique_name(purpose: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{purpose}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}
