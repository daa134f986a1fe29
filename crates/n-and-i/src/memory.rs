//! A registry inside one process.

use std::collections::HashMap;
use std::fmt;
use std::future::ready;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use n_and_i_core::{Reply, ServerTime, Stamp, Timing};

use crate::clock::{BootClock, Clock};
use crate::registry::{Registered, RegistrationError, Registry, Request};

/// How many intervals a group is remembered without a registration, as in Redis.
const KEPT_INTERVALS: u64 = 3;

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
        let at = (self.shared.clock)();
        if request.not_after().is_some_and(|limit| at > limit) {
            return Err(RegistrationError::TooLate { at });
        }
        let mut groups = self.shared.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let group = match groups.get_mut(config.tag()) {
            Some(group) if !group.is_forgotten_by(at) => group,
            _ => {
                groups.retain(|_, group| !group.is_forgotten_by(at));
                let group = Group::open(config.timing(), request.stamp(), at);
                groups.entry(config.tag().to_owned()).insert_entry(group).into_mut()
            }
        };
        if group.timing.interval() != config.interval() {
            return Err(RegistrationError::IntervalMismatch {
                name: config.name().to_owned(),
                own: config.interval(),
                group: group.timing.interval(),
            });
        }
        Ok(group.register(at, request.stamp()).into())
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

/// The open interval of one group, and what is known of the one before.
struct Group {
    timing: Timing,
    interval: u64,
    count: u32,
    stamp: Stamp,
    previous: Option<(u32, Stamp)>,
    last: ServerTime,
}

impl Group {
    fn open(timing: Timing, stamp: Stamp, at: ServerTime) -> Self {
        Self { timing, interval: timing.interval_at(at), count: 0, stamp, previous: None, last: at }
    }

    fn is_forgotten_by(&self, now: ServerTime) -> bool {
        let kept = self.timing.interval() * u32::try_from(KEPT_INTERVALS).unwrap_or(u32::MAX);
        let kept = u64::try_from(kept.as_micros()).unwrap_or(u64::MAX);
        now.as_micros() > self.last.as_micros().saturating_add(kept)
    }

    fn register(&mut self, at: ServerTime, stamp: Stamp) -> Reply {
        let interval = self.timing.interval_at(at);
        if interval != self.interval {
            // Only the interval right after carries the count on. A clock that stepped back
            // begins an interval anew, under a new stamp.
            let follows = self.interval.checked_add(1) == Some(interval);
            self.previous = (follows && self.count > 0).then_some((self.count, self.stamp));
            (self.interval, self.count, self.stamp) = (interval, 0, stamp);
        }
        self.last = at;
        let index = self.count;
        self.count = index.saturating_add(1);
        Reply {
            interval,
            index,
            replicas: self.previous.map(|(count, _)| count),
            at,
            stamp: self.stamp,
            previous_stamp: self.previous.map(|(_, stamp)| stamp),
        }
    }
}
