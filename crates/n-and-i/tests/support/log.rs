//! What was logged through `tracing`, one line per event.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber, span};

/// A subscriber that keeps every event as `LEVEL message field=value field=value`.
#[derive(Clone, Default)]
pub(crate) struct Log {
    lines: Arc<Mutex<Vec<String>>>,
}

impl Log {
    /// The lines since the last call.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.lines.lock().unwrap())
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn event(&self, event: &Event<'_>) {
        assert_eq!(event.metadata().target(), "n_and_i");
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut line = event.metadata().level().to_string();
        line += " ";
        line += &fields.0.remove("message").unwrap();
        for (name, value) in fields.0 {
            // Writing to a string cannot fail.
            let _ = write!(line, " {name}={value}");
        }
        self.lines.lock().unwrap().push(line);
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
        self.0.insert(field.name(), format!("{value:?}"));
    }
}
