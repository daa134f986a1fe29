//! Where workers register.

use std::error::Error;
use std::fmt;
use std::future::ready;
use std::time::Duration;

use n_and_i_core::{Failure, InvalidReply, Reply, ServerTime, Stamp};

use crate::config::Config;
use crate::layout::Layout;

/// Any error.
pub type BoxError = Box<dyn Error + Send + Sync + 'static>;

/// Counts registrations, one counter per group and interval, with one clock for all workers.
///
/// The adapters implement it for Redis clients, [`MemoryRegistry`](crate::MemoryRegistry)
/// inside one process. An implementation of your own must keep this contract; exclusiveness
/// rests on it. For a registration that is counted, in one atomic step:
///
/// 1. It reads the registry's clock, `at`, and takes `N = floor(at / T)` with the interval `T`
///    of the [configuration](Request::config).
/// 2. It refuses with [`RegistrationError::TooLate`] if `at` is later than
///    [`Request::not_after`], and with [`RegistrationError::IntervalMismatch`] if the group is
///    in use at another interval (until three such intervals passed without a registration).
/// 3. It gives out the count of `N` as `index` and adds one to it: within one incarnation of the
///    counter no two registrations get the same index. (With [`Layout::Slots`] no two *workers* do;
///    which index that is, is said there.)
/// 4. It answers with the final count of `N - 1` as `replicas`, and with the stamps of `N`
///    and `N - 1`. A counter that is created, found missing or found to have lost counts takes
///    [`Request::stamp`] as its stamp. So does one whose interval the clock returns to. The stamp
///    of `N - 1` is reported only if no registration of another interval came between the
///    last one of `N - 1` and the first one of `N`, and if nothing that `N - 1` counted
///    can have been lost.
///
/// Times are in microseconds since the Unix epoch. Answers must not be cached, and a
/// registration must not be repeated by the transport: whether to try again is decided by the
/// machine from the [error](RegistrationError).
///
/// The future is dropped when the driver gives up on it, at most one interval after it was
/// made. What was sent already may still be executed; `not_after` sees to it that this leaves
/// no trace.
pub trait Registry: Send + Sync + 'static {
    /// Makes one registration.
    ///
    /// # Errors
    /// The variant tells whether the registration may have been counted. When in doubt it is
    /// [`RegistrationError::Unknown`].
    fn register(
        &self,
        request: Request<'_>,
    ) -> impl Future<Output = Result<Registered, RegistrationError>> + Send;

    /// What kind of registry this is, in a word, for logs: `redis`, `memory`.
    fn kind(&self) -> &'static str;

    /// Whether it keeps groups of this [layout](Config::layout). With [`Layout::Slots`] it promises
    /// that a worker which asks again in one interval gets the same answer and is not counted
    /// again, so that whatever failed is tried again at once.
    fn supports(&self, layout: Layout) -> bool {
        layout == Layout::Counters
    }

    /// The worker leaves in order, and will not register again: its index may be given to
    /// who is new. Nothing rests on this, so it may fail. Asked of layouts other than
    /// [`Layout::Counters`], and dropped if it takes long.
    fn release(&self, _config: &Config, _worker: WorkerId) -> impl Future<Output = ()> + Send {
        ready(())
    }
}

/// Tells one worker from all others, for ever: a random 128-bit number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(u128);

impl WorkerId {
    /// The worker with this number.
    pub const fn from_u128(number: u128) -> Self {
        Self(number)
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkerId({self})")
    }
}

/// What a registry is asked to count.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    config: &'a Config,
    worker: WorkerId,
    stamp: Stamp,
    not_after: Option<ServerTime>,
}

impl<'a> Request<'a> {
    /// A request of a worker that never made one before. The driver makes them; others are
    /// useful to test a registry.
    pub fn new(config: &'a Config, stamp: Stamp, not_after: Option<ServerTime>) -> Self {
        Self { config, worker: WorkerId(stamp.as_u128()), stamp, not_after }
    }

    /// The request of this worker.
    #[must_use]
    pub fn with_worker(mut self, worker: WorkerId) -> Self {
        self.worker = worker;
        self
    }

    /// Who asks. The [counter layout](crate::Layout::Counters) does not care.
    pub fn worker(&self) -> WorkerId {
        self.worker
    }

    /// The group, its interval and its keys.
    pub fn config(&self) -> &'a Config {
        self.config
    }

    /// A random value, never used before, for a counter that needs a new stamp.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// After this time on the registry's clock the worker has given up, and the registration
    /// must be refused. None as long as the worker does not know the registry's clock.
    pub fn not_after(&self) -> Option<ServerTime> {
        self.not_after
    }
}

/// A registration that was counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Registered {
    /// The registry's answer.
    pub reply: Reply,
    /// The SHA-1 of a script that had to be loaded on the way, for the log.
    pub script_loaded: Option<&'static str>,
}

impl Registered {
    /// Notes that the script with this SHA-1 had to be loaded.
    #[must_use]
    pub fn with_script_loaded(mut self, sha: &'static str) -> Self {
        self.script_loaded = Some(sha);
        self
    }
}

impl From<Reply> for Registered {
    fn from(reply: Reply) -> Self {
        Self { reply, script_loaded: None }
    }
}

/// Why a registration gave no reply. It is logged and tried again; it never reaches the
/// consumer's loop.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistrationError {
    /// It certainly was not counted and will not be. Tried again after a back-off.
    #[error("registration was not made")]
    NotExecuted(#[source] BoxError),
    /// It may have been counted. Tried again in the next interval.
    #[error("registration may have been counted or not")]
    Unknown(#[source] BoxError),
    /// It cannot succeed until somebody changes something: credentials, permissions, a key of
    /// another type. Not counted. Tried again after a back-off.
    #[error("registration is not possible as things are configured")]
    Configuration(#[source] BoxError),
    /// The group runs at another interval. Not counted. Tried again after a back-off: once the
    /// workers with the other interval are gone, this one takes over.
    #[error(
        "group {name:?} runs at an interval of {group:?}, this worker is configured for {own:?}"
    )]
    IntervalMismatch {
        /// The group's name.
        name: String,
        /// The interval that this worker asked for.
        own: Duration,
        /// The interval that the group runs at.
        group: Duration,
    },
    /// The group has another layout. Not counted. Tried again after a back-off: once the workers
    /// with the other layout are gone, this one takes over.
    #[error("group {name:?} has the layout {group}, this worker is configured for {own}")]
    LayoutMismatch {
        /// The group's name.
        name: String,
        /// The layout that this worker asked for.
        own: Layout,
        /// The layout of the group.
        group: Layout,
        /// The interval that the group runs at.
        interval: Duration,
    },
    /// It reached the registry after its time limit and was refused there. Not counted.
    #[error("registration reached the registry after its time limit, at server time {at}")]
    TooLate {
        /// The registry's time when it refused.
        at: ServerTime,
    },
    /// The registry's answer makes no sense. Probably counted, so tried again in the next
    /// interval.
    #[error("registry gave an answer that makes no sense")]
    InvalidReply(#[from] InvalidReply),
}

impl RegistrationError {
    /// What the machine needs to know of it.
    pub fn failure(&self) -> Failure {
        match self {
            Self::NotExecuted(_) | Self::Configuration(_) => Failure::NotExecuted,
            Self::Unknown(_) | Self::InvalidReply(_) => Failure::Unknown,
            Self::IntervalMismatch { group, .. } | Self::LayoutMismatch { interval: group, .. } => {
                Failure::IntervalMismatch { group: *group }
            }
            Self::TooLate { at } => Failure::TooLate { at: *at },
        }
    }
}
