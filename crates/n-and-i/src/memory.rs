//! A registry inside one process.

use std::collections::HashMap;
use std::fmt;
use std::future::ready;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use n_and_i_core::ServerTime;

use crate::clock::{BootClock, Clock};
use crate::config::Config;
use crate::layout::{Layout, Refusal};
use crate::registry::{Registered, RegistrationError, Registry, Request, WorkerId};
use crate::{counters, slots};

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
    groups: Mutex<HashMap<String, Group>>,
}

/// A group in either layout; one of them at most has not expired.
#[derive(Default)]
struct Group {
    counters: counters::Store,
    slots: slots::Store,
}

impl Group {
    fn is_expired(&self, at: ServerTime) -> bool {
        self.counters.is_expired(at) && self.slots.is_expired(at)
    }

    /// The interval at which the group runs in another layout than this.
    fn other(&self, layout: Layout, at: ServerTime) -> Option<(Layout, u64)> {
        match layout {
            Layout::Counters => Some((Layout::Slots, self.slots.interval_millis(at)?)),
            Layout::Slots => Some((Layout::Counters, self.counters.interval_millis(at)?)),
        }
    }
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
        let timing = config.timing();
        if let Some((other, millis)) = group.other(config.layout(), at) {
            return Err(RegistrationError::LayoutMismatch {
                name: config.name().to_owned(),
                own: config.layout(),
                group: other,
                interval: Duration::from_millis(millis),
            });
        }
        let registered = match config.layout() {
            Layout::Counters => {
                group.counters.register(at, THE_ONLY_SERVER, timing, stamp, not_after)
            }
            Layout::Slots => {
                let worker = request.worker();
                group.slots.register(at, THE_ONLY_SERVER, timing, worker, stamp, not_after)
            }
        };
        match registered {
            Ok(reply) => Ok(reply.into()),
            Err(Refusal::Gone) => {
                Err(RegistrationError::NotExecuted("this worker has left its group".into()))
            }
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

    fn supports(&self, _: Layout) -> bool {
        true
    }

    fn release(&self, config: &Config, worker: WorkerId) -> impl Future<Output = ()> + Send {
        let mut groups = self.shared.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let at = (self.shared.clock)();
        if let Some(group) = groups.get_mut(config.tag()) {
            group.slots.release(at, config.timing(), worker);
        }
        ready(())
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
