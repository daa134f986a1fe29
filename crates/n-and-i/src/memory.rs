//! A registry inside one process.

use std::collections::HashMap;
use std::fmt;
use std::future::ready;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use n_and_i_core::ServerTime;

use crate::clock::{BootClock, Clock};
use crate::counters::{Refusal, Store};
use crate::registry::{Registered, RegistrationError, Registry, Request};

/// Nothing in this process's memory is ever lost or rolled back.
const THE_ONLY_SERVER: u64 = 0;

/// A complete registry for groups whose workers live in one process: the embedded default, and
/// what to test with. Clones share their groups.
///
/// Its clock starts at the system's time and then runs with [`BootClock`], so it never steps.
/// [`MemoryRegistry::with_clock`] takes another.
#[derive(Clone)]
pub struct MemoryRegistry {
    shared: Arc<Shared>,
}

struct Shared {
    clock: Box<dyn Fn() -> ServerTime + Send + Sync>,
    /// By tag: prefix and name together.
    groups: Mutex<HashMap<String, Store>>,
}

impl MemoryRegistry {
    /// A registry without groups.
    pub fn new() -> Self {
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let start = BootClock.now();
        Self::with_clock(move || {
            let elapsed = BootClock.now().saturating_duration_since(start);
            let micros = u64::try_from((epoch + elapsed).as_micros()).unwrap_or(u64::MAX);
            ServerTime::from_micros(micros)
        })
    }

    /// A registry whose server time is what `clock` says. It may step, as a server's may.
    pub fn with_clock(clock: impl Fn() -> ServerTime + Send + Sync + 'static) -> Self {
        let shared = Shared { clock: Box::new(clock), groups: Mutex::default() };
        Self { shared: Arc::new(shared) }
    }

    fn count(&self, request: Request<'_>) -> Result<Registered, RegistrationError> {
        let config = request.config();
        let mut groups = self.shared.groups.lock().unwrap_or_else(PoisonError::into_inner);
        // Read under the lock: registrations are counted in the order of their times.
        let at = (self.shared.clock)();
        let group = if let Some(group) = groups.get_mut(config.tag()) {
            group
        } else {
            groups.retain(|_, group| !group.is_expired(at));
            groups.entry(config.tag().to_owned()).or_default()
        };
        let (stamp, not_after) = (request.stamp(), request.not_after());
        match group.register(at, THE_ONLY_SERVER, config.timing(), stamp, not_after) {
            Ok(reply) => Ok(reply.into()),
            Err(Refusal::TooLate) => Err(RegistrationError::TooLate { at }),
            Err(Refusal::Interval(millis)) => Err(RegistrationError::IntervalMismatch {
                name: config.name().to_owned(),
                own: config.interval(),
                group: Duration::from_millis(millis),
            }),
        }
    }
}

impl Default for MemoryRegistry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry for MemoryRegistry {
    fn register(
        &self,
        request: Request<'_>,
    ) -> impl Future<Output = Result<Registered, RegistrationError>> + Send {
        ready(self.count(request))
    }

    fn kind(&self) -> &'static str {
        "memory"
    }
}

impl fmt::Debug for MemoryRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups = self.shared.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let mut names: Vec<_> = groups.keys().collect();
        names.sort();
        f.debug_struct("MemoryRegistry").field("groups", &names).finish_non_exhaustive()
    }
}
