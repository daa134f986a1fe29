//! A worker on a clock and timers of the tests' own, polled by hand, and a registry that misbehaves
//! as planned.

#![allow(dead_code, unused_imports, reason = "each test uses a part of it")]

mod time;
mod worker;

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_lite::Stream;
use futures_lite::future::block_on;
use n_and_i::{
    BoxError, Change, Config, Instant, Layout, MemoryRegistry, Peers, Registered,
    RegistrationError, Registry, Request, ServerTime, Stamp, WorkerId, discover,
};

pub(crate) use time::Time;
pub(crate) use worker::{Work, Worker, until_told};

pub(crate) const INTERVAL: Duration = Duration::from_secs(10);

/// What happens to one registration.
pub(crate) enum Fault {
    /// Not counted.
    Refuse(BoxError),
    /// Never answered.
    Hang,
    /// Counted, and answered after this time.
    Delay(Duration),
    /// Not counted, and answered after this time.
    RefuseLate(Duration),
    /// Counted, but the answer is lost.
    LoseAnswer,
    /// Counted, but the answer names another interval.
    WrongInterval,
    /// Counted, and then what [`time::on_stall`] says, once the clock was read.
    Stall,
    /// A script had to be loaded.
    LoadScript,
    Panic,
}

/// One registration as it was asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Call {
    pub(crate) at: Instant,
    pub(crate) stamp: Stamp,
    pub(crate) not_after: Option<ServerTime>,
}

/// A [`MemoryRegistry`] whose next registrations meet the planned faults, then none.
#[derive(Clone)]
pub(crate) struct Planned {
    inner: MemoryRegistry,
    time: Time,
    plan: Arc<Mutex<VecDeque<Fault>>>,
    calls: Arc<Mutex<Vec<Call>>>,
}

impl Planned {
    pub(crate) fn new(time: &Time) -> Self {
        let clock = time.clone();
        let inner = MemoryRegistry::with_clock(move || clock.server());
        Self { inner, time: time.clone(), plan: Arc::default(), calls: Arc::default() }
    }

    pub(crate) fn plan(&self, faults: impl IntoIterator<Item = Fault>) {
        self.plan.lock().unwrap().extend(faults);
    }

    /// Somebody else registers.
    pub(crate) fn visit(&self) {
        self.visit_as(&config()).unwrap();
    }

    /// Somebody new registers with this configuration.
    pub(crate) fn visit_as(&self, config: &Config) -> Result<Registered, RegistrationError> {
        let stamp = Stamp::from_u128(self.time.reading().as_nanos().into());
        block_on(self.inner.register(Request::new(config, stamp, None)))
    }

    /// The worker's registrations so far.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    /// When they were made.
    pub(crate) fn times(&self) -> Vec<Instant> {
        self.calls().iter().map(|call| call.at).collect()
    }
}

impl Registry for Planned {
    async fn register(&self, request: Request<'_>) -> Result<Registered, RegistrationError> {
        let (at, stamp, not_after) = (self.time.reading(), request.stamp(), request.not_after());
        self.calls.lock().unwrap().push(Call { at, stamp, not_after });
        let fault = self.plan.lock().unwrap().pop_front();
        match fault {
            None => self.inner.register(request).await,
            Some(Fault::Refuse(error)) => Err(RegistrationError::NotExecuted(error)),
            Some(Fault::Hang) => std::future::pending().await,
            Some(Fault::Delay(by)) => {
                let registered = self.inner.register(request).await;
                self.time.sleep_for(by).await;
                registered
            }
            Some(Fault::RefuseLate(by)) => {
                self.time.sleep_for(by).await;
                Err(RegistrationError::NotExecuted("refused".into()))
            }
            Some(Fault::LoseAnswer) => {
                self.inner.register(request).await?;
                Err(RegistrationError::Unknown("lost".into()))
            }
            Some(Fault::WrongInterval) => {
                let mut registered = self.inner.register(request).await?;
                registered.reply.interval += 1;
                Ok(registered)
            }
            Some(Fault::Stall) => {
                let registered = self.inner.register(request).await;
                time::stall_at_next_reading();
                registered
            }
            Some(Fault::LoadScript) => {
                Ok(self.inner.register(request).await?.with_script_loaded("d32d"))
            }
            Some(Fault::Panic) => panic!("a bug in a registry, as this test wants it"),
        }
    }

    fn kind(&self) -> &'static str {
        "planned"
    }

    fn supports(&self, _: Layout) -> bool {
        true
    }

    async fn release(&self, config: &Config, worker: WorkerId) {
        self.inner.release(config, worker).await;
    }
}

/// The driver of one worker; the consumer's end is apart, so that either may be dropped.
pub(crate) struct Driver {
    time: Time,
    future: Pin<Box<dyn Future<Output = ()> + Send>>,
}

pub(crate) fn config() -> Config {
    Config::new("virtual", INTERVAL).unwrap().with_prefix("p:").unwrap()
}

/// A worker that was not polled yet, alone with its registry.
pub(crate) fn start() -> (Time, Planned, Driver, Peers) {
    start_with(config())
}

pub(crate) fn start_with(config: Config) -> (Time, Planned, Driver, Peers) {
    let time = Time::default();
    let registry = Planned::new(&time);
    let (peers, driver) = discover(registry.clone(), time.clone(), config);
    let driver = Driver::of(&time, driver);
    (time, registry, driver, peers)
}

impl Driver {
    pub(crate) fn of(time: &Time, driver: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { time: time.clone(), future: Box::pin(driver) }
    }

    /// Lets it do what can be done now. Whether it has ended.
    pub(crate) fn poll(&mut self) -> bool {
        self.poll_with(Waker::noop())
    }

    pub(crate) fn poll_with(&mut self, waker: &Waker) -> bool {
        self.future.as_mut().poll(&mut Context::from_waker(waker)).is_ready()
    }

    /// Lets this much time pass, and the driver run whenever a timer is due on the way.
    pub(crate) fn run(&mut self, mut duration: Duration) {
        assert!(!self.poll(), "the worker goes on");
        while !duration.is_zero() {
            duration -= self.time.advance(duration);
            assert!(!self.poll(), "the worker goes on");
        }
    }
}

/// What the consumer gets if it looks now.
pub(crate) fn look(peers: &mut Peers) -> Poll<Option<Change>> {
    look_with(Waker::noop(), peers)
}

pub(crate) fn look_with(waker: &Waker, peers: &mut Peers) -> Poll<Option<Change>> {
    Pin::new(peers).poll_next(&mut Context::from_waker(waker))
}

/// The change that the consumer finds if it looks now.
pub(crate) fn change(peers: &mut Peers) -> Change {
    match look(peers) {
        Poll::Ready(Some(change)) => change,
        other => panic!("{other:?} is no change"),
    }
}
