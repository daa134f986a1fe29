//! The driver: the one place where the machine meets async.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use n_and_i_core::{
    AttemptId, Failure, Instant, Machine, Output, Reason, Rejected, ServerTime, Stamp,
};

use crate::change::Change;
use crate::config::Config;
use crate::drain::DrainWindow;
use crate::layout::Layout;
use crate::lease::Lease;
use crate::mailbox::{End, Mailbox, Signal};
use crate::peers::Peers;
use crate::registry::{Registered, RegistrationError, Registry, Request, WorkerId};
use crate::report::Reporter;
use crate::runtime::Runtime;
use crate::time::Time;

/// Makes a worker: the consumer's end, and the driver to spawn.
///
/// The driver is a future that must be polled all the time that the worker is to be a member of
/// its group, so spawn it; the adapter crates' `discover` do. The worker starts when it is first polled:
/// kept but not polled, no change ever comes. If it is dropped the worker stops as if asked to.
///
/// ```
/// use std::time::Duration;
/// use n_and_i::{Config, MemoryRegistry, Reason};
///
/// # struct Never;
/// # impl n_and_i::Runtime for Never {
/// #     fn clock(&self) -> std::sync::Arc<dyn n_and_i::Clock> { std::sync::Arc::new(n_and_i::BootClock) }
/// #     fn sleep(&self, _: Duration) -> impl Future<Output = ()> + Send { std::future::pending() }
/// # }
/// # fn main() -> Result<(), n_and_i::ConfigError> {
/// # let runtime = Never;
/// # futures_lite::future::block_on(async {
/// let config = Config::new("mail-sender", Duration::from_secs(30))?;
/// let (mut peers, driver) = n_and_i::discover(MemoryRegistry::new(), runtime, config);
/// # let driver = std::pin::pin!(driver);
/// # let first = futures_lite::future::or(async { peers.next().await }, async { driver.await; None }).await;
/// # /*
/// spawn(driver);
/// let first = peers.next().await;
/// # */
/// assert_eq!(first.and_then(|change| change.reason()), Some(Reason::Starting));
/// # Ok(())
/// # })
/// # }
/// ```
pub fn discover<R: Registry, T: Runtime>(
    registry: R,
    runtime: T,
    config: Config,
) -> (Peers, impl Future<Output = ()> + Send + 'static) {
    let mailbox = Arc::new(Mailbox::default());
    let runtime = Arc::new(runtime);
    let time = Time::of(&runtime);
    let peers = Peers::new(Arc::clone(&mailbox), config.name().into(), time.clone());
    let worker = Worker::new(config.clone(), mailbox, time);
    (peers, drive(registry, runtime, config, worker))
}

async fn drive<R: Registry, T: Runtime>(
    registry: R,
    runtime: Arc<T>,
    config: Config,
    mut worker: Worker,
) {
    worker.start(registry.kind());
    let time = worker.time.clone();
    let mut machine = Machine::new(config.timing(), time.now()).with_rebalance(config.rebalance());
    let mut id = None;
    let mut in_flight = pin!(None);
    let mut sleep = pin!(None);
    let mut armed = None;
    loop {
        while let Some(output) = machine.poll_output() {
            match output {
                Output::Register { not_after, .. } => {
                    id = id.or_else(|| random().ok().map(WorkerId::from_u128));
                    in_flight.set(Some(register(&registry, &config, id, not_after)));
                }
                Output::Yield(change) => worker.hand_over(change),
                Output::Report(diagnostic) => worker.reporter.report(diagnostic),
                // Both are levels too: the yield that follows, and `poll_timeout` below.
                _ => {}
            }
        }
        if let Some(lease) = machine.lease() {
            worker.renew(lease);
        }
        let Some(deadline) = machine.poll_timeout() else { break };
        let attempt = machine.in_flight();
        // A sleep that will wake up by the deadline is good enough: early wake-ups do no harm.
        let now = time.now();
        if armed.is_none_or(|armed| armed > deadline || armed <= now) {
            sleep.set(Some(runtime.sleep(deadline.saturating_duration_since(now))));
            armed = Some(deadline);
        }

        let event = next_event(&mut worker, in_flight.as_mut(), sleep.as_mut()).await;
        // The clock is read before anything is made of the event, so that whatever a stopped
        // process finds when it goes on is judged by the time it then is.
        let now = time.now();
        match (event, attempt) {
            (Event::Timeout, _) => {
                armed = None;
                machine.handle_timeout(now);
            }
            (Event::Answer(answer), Some(attempt)) => {
                in_flight.set(None);
                worker.answer(&mut machine, now, attempt, answer);
                machine.handle_timeout(now);
            }
            (Event::Answer(_), None) => in_flight.set(None),
            (Event::End(end), _) => {
                worker.end = end;
                machine.handle_stop(now);
            }
        }
    }
    in_flight.set(None);
    if let Some(id) = id.filter(|_| registry.supports(config.layout()))
        && config.layout() != Layout::Counters
    {
        // Whoever is new may have its index. Not worth waiting for long.
        let release = pin!(registry.release(&config, id));
        let limit = pin!(runtime.sleep(config.timing().gap_length()));
        first_of(release, limit).await;
    }
    // What is left of the worker is told by dropping it.
}

/// Completes with the first of the two.
async fn first_of(mut a: Pin<&mut impl Future>, mut b: Pin<&mut impl Future>) {
    poll_fn(|cx| {
        if a.as_mut().poll(cx).is_ready() || b.as_mut().poll(cx).is_ready() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

/// One registration: a fresh stamp to propose, then the registry.
async fn register<R: Registry>(
    registry: &R,
    config: &Config,
    worker: Option<WorkerId>,
    not_after: Option<ServerTime>,
) -> Result<Registered, RegistrationError> {
    let layout = config.layout();
    if !registry.supports(layout) {
        let reason = format!("layout is {layout}, which {} does not have", registry.kind());
        return Err(RegistrationError::Configuration(reason.into()));
    }
    let stamp = Stamp::from_u128(random()?);
    let Some(worker) = worker else {
        return Err(RegistrationError::NotExecuted("no random numbers to be had".into()));
    };
    registry.register(Request::new(config, stamp, not_after).with_worker(worker)).await
}

fn random() -> Result<u128, RegistrationError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| RegistrationError::NotExecuted(error.to_string().into()))?;
    Ok(u128::from_be_bytes(bytes))
}

enum Event {
    Answer(Result<Registered, RegistrationError>),
    Timeout,
    End(End),
}

async fn next_event<A, S>(
    worker: &mut Worker,
    mut in_flight: Pin<&mut Option<A>>,
    mut sleep: Pin<&mut Option<S>>,
) -> Event
where
    A: Future<Output = Result<Registered, RegistrationError>>,
    S: Future<Output = ()>,
{
    poll_fn(|cx| {
        if let Poll::Ready(end) = worker.poll_end(cx) {
            return Poll::Ready(Event::End(end));
        }
        if let Some(in_flight) = in_flight.as_mut().as_pin_mut()
            && let Poll::Ready(answer) = in_flight.poll(cx)
        {
            return Poll::Ready(Event::Answer(answer));
        }
        if let Some(sleep) = sleep.as_mut().as_pin_mut()
            && sleep.poll(cx).is_ready()
        {
            return Poll::Ready(Event::Timeout);
        }
        Poll::Pending
    })
    .await
}

/// What the driver keeps beside the machine. Dropped, it ends the consumer's stream in order,
/// also when the driver itself was dropped, be it before it was ever polled.
struct Worker {
    reporter: Reporter,
    mailbox: Arc<Mailbox>,
    time: Time,
    interval_millis: u64,
    layout: Layout,
    signals: Vec<Signal>,
    lease: Option<Lease>,
    stage: Option<u64>,
    started: bool,
    end: End,
}

impl Worker {
    fn new(config: Config, mailbox: Arc<Mailbox>, time: Time) -> Self {
        let (interval_millis, layout) = (config.interval_millis(), config.layout());
        Self {
            reporter: Reporter::new(config),
            mailbox,
            time,
            interval_millis,
            layout,
            signals: Vec::new(),
            lease: None,
            stage: None,
            started: false,
            end: End::Abort,
        }
    }

    fn start(&mut self, kind: &str) {
        self.started = true;
        self.reporter.started(kind);
    }

    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        if let Poll::Ready(end) = self.mailbox.poll_end(cx, &mut self.signals) {
            return Poll::Ready(end);
        }
        if self.signals.iter_mut().any(|signal| signal.as_mut().poll(cx).is_ready()) {
            return Poll::Ready(End::Abort);
        }
        Poll::Pending
    }

    fn answer(
        &mut self,
        machine: &mut Machine,
        now: Instant,
        attempt: AttemptId,
        answer: Result<Registered, RegistrationError>,
    ) {
        let error = match answer {
            Ok(Registered { reply, script_loaded }) => {
                if let Some(sha) = script_loaded {
                    self.reporter.script_loaded(sha);
                }
                match machine.handle_reply(now, attempt, reply) {
                    Err(Rejected::InvalidReply(invalid)) => invalid.into(),
                    // Accepted, or answered after it was given up.
                    _ => return,
                }
            }
            Err(error) => error,
        };
        let failure = match error.failure() {
            Failure::Unknown if self.layout == Layout::Slots => Failure::Repeatable,
            failure => failure,
        };
        // Refused only if it was given up meanwhile, and that is reported as such.
        if machine.handle_failure(now, attempt, failure).is_ok() {
            self.reporter.remember(error);
        }
    }

    fn hand_over(&mut self, change: n_and_i_core::Change) {
        let before = self.lease.take();
        let owned = change.owned.map(|granted| {
            let extends = before.as_ref().filter(|_| change.drain_until.is_none());
            Lease::new(granted, self.interval_millis, extends, self.time.clone())
        });
        if let Some(before) = before {
            before.revoke();
        }
        self.lease = owned.as_ref().ok().cloned();
        self.stage = change.stage;
        self.post(owned, change.drain_until);
    }

    fn renew(&mut self, renewed: n_and_i_core::Lease) {
        if self.lease.as_ref().is_some_and(|lease| !lease.renew(renewed.ends, renewed.drain_until))
        {
            // Somebody saw it end before: to the consumer it is over, and this is another one.
            let (owned, stage) = (Ok(renewed), self.stage);
            self.hand_over(n_and_i_core::Change { owned, stage, drain_until: None });
        }
    }

    fn post(&self, owned: Result<Lease, Reason>, drain_until: Option<Instant>) {
        let drain = drain_until.map(|deadline| DrainWindow::new(deadline, self.time.clone()));
        self.mailbox.post(Change { owned, stage: self.stage, drain });
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(lease) = self.lease.take() {
            // The driver was dropped while something was owned.
            lease.revoke();
            self.post(Err(Reason::Stopped), Some(lease.drain_window().deadline()));
        }
        let panicked = std::thread::panicking();
        self.mailbox.finish(panicked);
        if panicked {
            self.reporter.panicked();
        } else if self.started {
            self.reporter.stopped(self.end);
        }
    }
}
