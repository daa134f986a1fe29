//! Keeps a log readable while the same thing fails again and again.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber, callsite::Identifier};
use tracing_subscriber::layer::{Context, Filter};

/// How long a repetition is held back.
pub(crate) const PERIOD: Duration = Duration::from_secs(5);
/// Lets an event through once in [`PERIOD`]: the same message with the same error, whichever
/// worker it comes from.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    last: Mutex<HashMap<(Identifier, String), Instant>>,
}

impl Throttle {
    fn lets_through(&self, key: (Identifier, String), now: Instant) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.retain(|_, at| now.saturating_duration_since(*at) < PERIOD);
        let is_new = !last.contains_key(&key);
        if is_new {
            last.insert(key, now);
        }
        is_new
    }
}

impl<S: Subscriber> Filter<S> for Throttle {
    fn enabled(&self, _: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        true
    }

    fn event_enabled(&self, event: &Event<'_>, _: &Context<'_, S>) -> bool {
        let mut error = Error(String::new());
        event.record(&mut error);
        // Two errors that differ in a number, a time or a port, are the same to a reader.
        error.0.retain(|character| !character.is_ascii_digit());
        self.lets_through((event.metadata().callsite(), error.0), Instant::now())
    }
}

/// The value of the field `error`.
struct Error(String);

impl Visit for Error {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "error" {
            self.0 = format!("{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tracing_subscriber::layer::{Layer, SubscriberExt};

    use super::*;

    static COUNT: AtomicU32 = AtomicU32::new(0);

    struct Counter;

    impl<S: Subscriber> Layer<S> for Counter {
        fn on_event(&self, _: &Event<'_>, _: Context<'_, S>) {
            COUNT.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn repetitions_are_held_back() {
        let subscriber =
            tracing_subscriber::registry().with(Counter.with_filter(Throttle::default()));
        tracing::subscriber::with_default(subscriber, || {
            for attempt in 1..=10 {
                tracing::error!(error = %format!("refused {attempt}"), attempt, "failed");
            }
            assert_eq!(COUNT.load(Ordering::Relaxed), 1);
            tracing::error!(error = "another", "failed");
            tracing::warn!("lease expired");
            assert_eq!(COUNT.load(Ordering::Relaxed), 3);
        });
    }

    #[test]
    fn after_a_while_it_is_said_again() {
        let throttle = Throttle::default();
        tracing::subscriber::with_default(tracing_subscriber::registry(), || {
            let span = tracing::error_span!("x");
            let key = || (span.metadata().unwrap().callsite(), String::new());
            let now = Instant::now();
            assert!(throttle.lets_through(key(), now));
            assert!(!throttle.lets_through(key(), now + PERIOD / 2));
            assert!(throttle.lets_through(key(), now + PERIOD));
        });
    }
}
