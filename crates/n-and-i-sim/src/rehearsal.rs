//! Your own consumers in simulated groups: real drivers and async code, in virtual time.

mod line;
mod tasks;
mod time;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use n_and_i::{Config, Layout, Peers, StopHandle};
use n_and_i_core::{AttemptId, Failure, Instant, Lease, Output, Rebalance, Reply, Timing};

use crate::claims::Violation;
use crate::clock::WorkerClock;
use crate::faults::Fault;
use crate::process::{Process, Program};
use crate::random::Random;
use crate::rehearsal::line::SimulatedRegistry;
use crate::rehearsal::tasks::Task;
use crate::rehearsal::time::{SimulatedRuntime, TrueTime, VirtualTime};
use crate::scenario::Scenario;
use crate::world::World;

/// How often a member may be polled at one moment.
const PATIENCE: u32 = 100_000;
/// The name of every simulated group.
const GROUP: &str = "rehearsal";

/// One member of a simulated group: what its consumer is given.
#[derive(Debug)]
#[non_exhaustive]
pub struct Member {
    /// What it owns, as in a real program.
    pub peers: Peers,
    /// The number of its place, by which the trace calls it. A worker that takes the place of one
    /// that is gone has the same.
    pub place: usize,
    /// The time.
    pub time: Time,
}

/// Virtual time as one member sees it. Cheap to clone.
#[derive(Clone)]
pub struct Time(VirtualTime);

impl Time {
    /// The reading of the member's own clock, which may run a little fast or slow. Leases end by it.
    pub fn now(&self) -> Instant {
        self.0.now()
    }

    /// The true time since the run began, which is the same for all members: to tell in a log
    /// what came first.
    pub fn true_time(&self) -> Duration {
        self.0.true_time()
    }

    /// Writes a line into the run's trace.
    pub fn note(&self, text: impl Into<String>) {
        self.0.note(text.into());
    }

    /// Completes when the member's clock has moved on by this much.
    pub fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + use<> {
        self.0.sleep(duration)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Time({:?})", self.now())
    }
}

/// What came of a [rehearsal](Scenario::rehearse).
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Rehearsal {
    /// The seed of the run.
    pub seed: u64,
    /// A member that ended the run: its consumer panicked, waits for nothing that ever
    /// comes, or wakes itself without end. The trace says more.
    pub violation: Option<Violation>,
    /// How long the run was, in intervals.
    pub intervals: f64,
    /// How many registrations were counted.
    pub registrations: u64,
    /// How often each kind of fault happened.
    pub faults: Vec<(Fault, u64)>,
    /// What happened, line by line.
    pub trace: String,
}

impl Scenario {
    /// Runs a group of real drivers with a consumer of yours each, in virtual time on this
    /// thread. The same seed gives the same run, as long as the consumers do the same.
    ///
    /// A consumer is started for every worker that starts, and takes its [`Member`]. What it
    /// awaits must be the member's changes, the member's time, or other consumers. If it
    /// returns, its worker is gone. A worker that crashes is dropped. One that stalls is not
    /// polled meanwhile, so it stalls only where it awaits: sleep between asking a lease and acting on
    /// it to rehearse that. After a stall the driver or the consumer is polled first, as it
    /// happens. A worker that is asked to stop gets the last change, and two intervals to return.
    ///
    /// What is right for your consumers is yours to check, as here that no one writes for a task after
    /// the next owner has:
    ///
    /// ```
    /// use std::cell::RefCell;
    /// use std::collections::HashMap;
    /// use std::rc::Rc;
    /// use std::time::Duration;
    /// use n_and_i_sim::{Fault, Faults, Scenario};
    ///
    /// let faults = Faults::none().with(Fault::Crash, 0.1).with(Fault::LongStall, 0.1);
    /// // The stage of the latest writer of each task.
    /// let stages = Rc::new(RefCell::new(HashMap::new()));
    /// let scenario = Scenario::new(3, faults).with_intervals(200);
    /// let rehearsal = scenario.rehearse(42, |mut member| {
    ///     let stages = Rc::clone(&stages);
    ///     async move {
    ///         while let Some(change) = member.peers.next().await {
    ///             let Some(lease) = change.lease() else { continue };
    ///             while lease.is_live() {
    ///                 for task in (0..10).filter(|&task| lease.owns(task)) {
    ///                     let before = stages.borrow_mut().insert(task, lease.stage());
    ///                     assert!(before <= Some(lease.stage()), "task {task}: {before:?}");
    ///                 }
    ///                 member.time.sleep(Duration::from_millis(100)).await;
    ///             }
    ///         }
    ///     }
    /// });
    /// assert_eq!(rehearsal.violation, None, "{}", rehearsal.trace);
    /// assert_eq!(stages.borrow().len(), 10);
    /// ```
    pub fn rehearse<F, C>(&self, seed: u64, consumer: F) -> Rehearsal
    where
        F: FnMut(Member) -> C,
        C: Future<Output = ()> + 'static,
    {
        let random = Random::new(!seed);
        let (true_time, layout) = (TrueTime::default(), self.layout);
        let consumers = Consumers { consumer, layout, true_time, random };
        let outcome = World::new(consumers, self, seed, true).run();
        Rehearsal {
            seed,
            violation: outcome.violation,
            intervals: outcome.intervals,
            registrations: outcome.registrations,
            faults: outcome.faults,
            trace: outcome.trace,
        }
    }
}

/// Starts consumers.
pub(crate) struct Consumers<F> {
    pub(crate) consumer: F,
    layout: Layout,
    pub(crate) true_time: TrueTime,
    random: Random,
}

impl<F, C> Program for Consumers<F>
where
    F: FnMut(Member) -> C,
    C: Future<Output = ()> + 'static,
{
    type Process = Actor;

    fn start(
        &mut self,
        place: usize,
        timing: Timing,
        rebalance: Rebalance,
        clock: WorkerClock,
        now: u64,
    ) -> Actor {
        let time = VirtualTime::new(self.true_time.clone(), clock);
        let registry = SimulatedRegistry::default();
        let config = Config::new(GROUP, timing.interval()).and_then(|it| it.with_gap(timing.gap()));
        let config = config.expect("the timing of a scenario is a good one");
        let config = config.with_rebalance(rebalance).with_layout(self.layout);
        let runtime = SimulatedRuntime(time.clone());
        let (peers, driver) = n_and_i::discover(registry.clone(), runtime, config);
        let stop = peers.stop_handle();
        let member = Member { peers, place, time: Time(time.clone()) };
        let consumer = (self.consumer)(member);
        let mut actor = Actor {
            driver: Task::new(driver),
            consumer: Task::new(consumer),
            registry,
            time,
            stop,
            spins: false,
            panicked: false,
            random: Random::new(self.random.index(usize::MAX) as u64),
        };
        actor.run(clock.at(now));
        actor
    }

    fn at(&mut self, now: u64) {
        self.true_time.set(now);
    }
}

/// A driver and its consumer.
pub(crate) struct Actor {
    driver: Task,
    consumer: Task,
    registry: SimulatedRegistry,
    time: VirtualTime,
    stop: StopHandle,
    /// Whether it is woken again and again at one moment.
    spins: bool,
    panicked: bool,
    /// Who is polled first.
    random: Random,
}

impl Process for Actor {
    const IS_OBSERVED: bool = false;

    fn answer(&mut self, now: Instant, attempt: AttemptId, result: Result<Reply, Failure>) {
        self.registry.answer(attempt, result);
        self.run(now);
    }

    fn run(&mut self, _now: Instant) {
        self.time.wake_due();
        let mut polls = 0;
        loop {
            let mut tasks = [&mut self.driver, &mut self.consumer];
            if self.random.chance(0.5) {
                tasks.reverse();
            }
            let progress = tasks.map(Task::run);
            if progress == [false, false] {
                break;
            }
            polls += 1;
            self.spins |= polls == PATIENCE;
            if self.spins {
                break;
            }
        }
    }

    fn stop(&mut self, now: Instant) {
        self.stop.stop();
        self.run(now);
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.registry.next_request()
    }

    fn deadline(&self) -> Option<Instant> {
        if self.spins { Some(self.time.now()) } else { self.time.next_timer() }
    }

    fn lease(&self) -> Option<Lease> {
        None
    }

    fn take_notes(&mut self) -> Vec<String> {
        let mut notes = self.time.take_notes();
        let panics = [&mut self.consumer, &mut self.driver].map(Task::take_panic);
        for text in panics.into_iter().flatten() {
            self.panicked = true;
            notes.push(format!("panicked: {text}"));
        }
        notes
    }

    fn has_panicked(&self) -> bool {
        self.panicked
    }

    fn takes_leave(&mut self) -> bool {
        self.registry.takes_leave()
    }

    fn is_done(&self) -> bool {
        self.driver.is_done() && self.consumer.is_done()
    }
}

/// A future that is owned and polled by nobody else.
type Boxed = Pin<Box<dyn Future<Output = ()>>>;
