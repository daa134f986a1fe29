//! What was logged through `tracing`.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span;
use tracing::{Level, Metadata, Subscriber};

/// A `tracing` subscriber that keeps every event.
#[derive(Clone, Debug, Default)]
pub struct Log {
    events: Arc<Mutex<Vec<Event>>>,
}

/// One event that was logged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Its level.
    pub level: Level,
    /// Its message.
    pub message: String,
    /// Its fields other than the message, by name, as text.
    pub fields: BTreeMap<&'static str, String>,
}

impl Log {
    /// The events so far.
    pub fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The first event with this message.
    pub fn find(&self, message: &str) -> Option<Event> {
        self.events().into_iter().find(|event| event.message == message)
    }

    /// How many events have this message.
    pub fn count(&self, message: &str) -> usize {
        self.events().iter().filter(|event| event.message == message).count()
    }

    /// Forgets all events so far.
    pub fn clear(&self) {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("n_and_i")
    }

    fn event(&self, event: &tracing::Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let message = fields.0.remove("message").unwrap_or_default();
        let event = Event { level: *event.metadata().level(), message, fields: fields.0 };
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

#[derive(Default)]
struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write!(text, "{value:?}");
        self.0.insert(field.name(), text);
    }
}
