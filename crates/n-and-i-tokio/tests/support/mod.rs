//! A registry that can be told to misbehave, on Tokio's paused clock.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use n_and_i::{
    Clock, Config, Instant, MemoryRegistry, Registered, RegistrationError, Registry, Request,
    Runtime, ServerTime,
};
use n_and_i_tokio::Tokio;

pub(crate) const INTERVAL: Duration = Duration::from_secs(10);

/// What happens to one registration.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    Refuse,
    /// Counted, but the answer is lost.
    Lose,
    /// Never answered.
    Hang,
    /// Answered after this time.
    Delay(Duration),
}

/// A [`MemoryRegistry`] whose next registrations meet the planned faults, then none.
#[derive(Clone)]
pub(crate) struct Faulty {
    inner: MemoryRegistry,
    clock: Arc<dyn Clock>,
    plan: Arc<Mutex<VecDeque<Fault>>>,
    calls: Arc<Mutex<Vec<Instant>>>,
    waiting: Arc<AtomicUsize>,
}

impl Faulty {
    pub(crate) fn new(tokio: &Tokio) -> Self {
        let clock = tokio.clock();
        let server = Arc::clone(&clock);
        let inner = MemoryRegistry::with_clock(move || {
            ServerTime::from_micros(1_800_000_000_000_000 + server.now().as_nanos() / 1_000)
        });
        Self { inner, clock, plan: Arc::default(), calls: Arc::default(), waiting: Arc::default() }
    }

    pub(crate) fn plan(&self, faults: impl IntoIterator<Item = Fault>) {
        self.plan.lock().unwrap().extend(faults);
    }

    /// When registrations were made so far.
    pub(crate) fn calls(&self) -> Vec<Instant> {
        self.calls.lock().unwrap().clone()
    }

    /// How many registrations are being waited for.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }
}

impl Registry for Faulty {
    async fn register(&self, request: Request<'_>) -> Result<Registered, RegistrationError> {
        self.calls.lock().unwrap().push(self.clock.now());
        let _waiting = Waiting::new(&self.waiting);
        let fault = self.plan.lock().unwrap().pop_front();
        match fault {
            None => self.inner.register(request).await,
            Some(Fault::Refuse) => Err(RegistrationError::NotExecuted("refused".into())),
            Some(Fault::Lose) => {
                self.inner.register(request).await?;
                Err(RegistrationError::Unknown("lost".into()))
            }
            Some(Fault::Hang) => std::future::pending().await,
            Some(Fault::Delay(by)) => {
                let registered = self.inner.register(request).await;
                tokio::time::sleep(by).await;
                registered
            }
        }
    }

    fn kind(&self) -> &'static str {
        "faulty"
    }
}

/// Counts calls that were neither answered nor dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(crate) fn config() -> Config {
    Config::new("driver", INTERVAL).unwrap()
}
