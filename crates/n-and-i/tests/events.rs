//! What is logged, line by line.
//!
//! Kept apart from tests that log nothing: a thread without a subscriber may switch an event off
//! for one that has the only subscriber.

#[path = "support/log.rs"]
mod log;
mod support;

use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use log::Log;
use n_and_i::{Instant, Layout, Rebalance, Registered, RegistrationError, Registry, Request};
use support::{Driver, Fault, INTERVAL, Time, change, config, look, start, start_with};
use tracing::subscriber::{DefaultGuard, set_default};

const LEASED: Duration = Duration::from_secs(25);

fn logging() -> (Log, DefaultGuard) {
    let log = Log::default();
    let guard = set_default(log.clone());
    (log, guard)
}

#[test]
fn the_way_to_a_lease_and_to_the_end_is_logged_in_order() {
    let (log, _logging) = logging();
    let (_time, registry, mut driver, mut peers) = start();
    registry.plan([Fault::LoadScript]);
    assert_eq!(log.take(), [""; 0], "before it is polled");
    driver.run(LEASED);
    let expected = [
        "INFO discover started gap=0.15 group=virtual interval=10s prefix=p: registry=planned",
        "DEBUG script loaded group=virtual sha=d32d",
        "TRACE registration completed group=virtual index=0 interval=180000000",
        "TRACE no pair implied group=virtual",
        "TRACE next registration scheduled delay=10s expires=Some(11.5s) group=virtual",
        "TRACE registration completed group=virtual index=0 interval=180000001 replicas=1 skew=0",
        "DEBUG pair disagreed group=virtual i=0 n=1",
        "TRACE next registration scheduled delay=15s expires=Some(16.5s) group=virtual",
        "TRACE registration completed group=virtual index=0 interval=180000002 replicas=1 skew=0",
        "TRACE pair agreed group=virtual i=0 n=1",
        "TRACE lease granted group=virtual i=0 n=1",
        "TRACE next registration scheduled delay=10s expires=Some(11.5s) group=virtual",
    ];
    assert_eq!(log.take(), expected);

    change(&mut peers);
    assert_eq!(log.take(), ["TRACE pair handed to the loop group=virtual i=0 n=1"]);

    peers.stop();
    assert!(driver.poll());
    drop(driver);
    change(&mut peers);
    let expected = [
        "TRACE lease released group=virtual i=0 n=1",
        "INFO discover stopped group=virtual reason=abort",
    ];
    assert_eq!(log.take(), expected);
}

#[test]
fn a_newcomer_is_seen_as_a_pair_that_disagrees() {
    let (log, _logging) = logging();
    let (_time, registry, mut driver, _peers) = start();
    driver.run(LEASED);
    registry.visit();
    log.take();
    driver.run(INTERVAL);
    let expected = [
        "TRACE registration completed group=virtual index=0 interval=180000003 replicas=2 skew=0",
        "DEBUG pair disagreed group=virtual i=0 n=2 pi=0 pn=1",
        "TRACE lease released group=virtual i=0 n=1",
        "TRACE next registration scheduled delay=8.25s expires=Some(9.75s) group=virtual",
    ];
    assert_eq!(log.take(), expected);
}

#[test]
fn a_share_that_narrows_is_logged_with_both_its_pairs() {
    let (log, _logging) = logging();
    let config = config().with_rebalance(Rebalance::KeepServing);
    let (_time, registry, mut driver, mut peers) = start_with(config);
    driver.run(LEASED);
    registry.visit();
    log.take();
    driver.run(INTERVAL);
    change(&mut peers);
    let expected = [
        "TRACE registration completed group=virtual index=0 interval=180000003 replicas=2 skew=0",
        "DEBUG pair disagreed group=virtual i=0 n=2 pi=0 pn=1",
        "TRACE lease released group=virtual i=0 n=1",
        "TRACE lease granted group=virtual i=0 n=2 pi=0 pn=1",
        "TRACE next registration scheduled delay=8.25s expires=Some(9.75s) group=virtual",
        "TRACE pair handed to the loop group=virtual i=0 n=2 pi=0 pn=1",
    ];
    assert_eq!(log.take(), expected);
}

#[test]
fn work_that_is_dropped_is_reported() {
    let (log, _logging) = logging();
    let (time, registry, mut driver, peers) = start();
    let work = |_| std::future::pending::<Result<(), Infallible>>();
    let mut running = Box::pin(peers.run(work));
    let mut poll = || running.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    driver.run(LEASED);
    assert!(poll().is_pending());
    registry.plan([Fault::Hang]);
    driver.run(INTERVAL * 3 / 2);
    log.take();
    assert_eq!(time.reading(), Instant::from_elapsed(4 * INTERVAL));
    assert!(poll().is_pending());
    let expected = ["WARN work dropped group=virtual share=0 of 1 stage=180000002"];
    assert_eq!(log.take(), expected);
}

#[test]
fn a_registration_that_hangs_is_reported_and_so_is_the_lease_that_it_costs() {
    let (log, _logging) = logging();
    let (_time, registry, mut driver, _peers) = start();
    driver.run(LEASED);
    registry.plan([Fault::Hang, Fault::Hang]);
    log.take();
    driver.run(2 * INTERVAL);
    let expected = [
        "WARN lease expired after=11.5s group=virtual interval=180000002",
        "TRACE lease released group=virtual i=0 n=1",
        "ERROR registration failed attempt=1 delay=0ns \
         error=registration was given up: no answer within the interval group=virtual",
    ];
    assert_eq!(log.take(), expected);
}

#[test]
fn a_layout_that_cannot_be_is_reported() {
    /// Knows counters only.
    struct Old;
    impl Registry for Old {
        async fn register(&self, _: Request<'_>) -> Result<Registered, RegistrationError> {
            panic!("never asked")
        }
        fn kind(&self) -> &'static str {
            "old"
        }
    }
    let (log, _logging) = logging();
    let (time, slots) = (Time::default(), config().with_layout(Layout::Slots));
    let (_peers, driver) = n_and_i::discover(Old, time.clone(), slots.clone());
    let mut driver = Driver::of(&time, driver);
    assert!(!driver.poll());
    let failed = "ERROR registration failed attempt=1 delay=1.25s error=registration is not \
                  possible as things are configured: layout is slots, which old does not have \
                  group=virtual";
    assert_eq!(log.take()[1], failed);

    let (_time, registry, mut driver, _peers) = start();
    registry.visit_as(&slots).unwrap();
    log.take();
    assert!(!driver.poll());
    let failed = "ERROR registration failed attempt=1 delay=1.25s error=group \"virtual\" has the \
                  layout slots, this worker is configured for counters group=virtual";
    assert_eq!(log.take()[1], failed);
}

/// An error with a cause.
#[derive(Debug)]
struct Layer(&'static str, Option<Box<Layer>>);

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Layer {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.1.as_deref().map(|cause| cause as &(dyn Error + 'static))
    }
}

#[test]
fn a_failure_is_reported_with_all_its_causes_but_none_twice() {
    let (log, _logging) = logging();
    let (_time, registry, mut driver, _peers) = start();
    let timeout = Layer("timed out", Some(Box::new(Layer("os error 110", None))));
    let error = Layer("no connection: timed out", Some(Box::new(timeout)));
    registry.plan([Fault::Refuse(Box::new(error)), Fault::Refuse("again".into())]);
    driver.run(INTERVAL / 4);
    let expected = [
        "ERROR registration failed attempt=1 delay=1.25s \
         error=registration was not made: no connection: timed out: os error 110 group=virtual",
        "TRACE next registration scheduled delay=1.25s expires=Some(11.5s) group=virtual",
        "ERROR registration failed attempt=2 delay=2.5s \
         error=registration was not made: again group=virtual",
        "TRACE next registration scheduled delay=2.5s expires=Some(10.25s) group=virtual",
    ];
    assert_eq!(log.take()[1..], expected);
}

#[test]
fn an_answer_that_makes_no_sense_is_a_failure() {
    let (log, _logging) = logging();
    let (_time, registry, mut driver, _peers) = start();
    registry.plan([Fault::WrongInterval]);
    driver.run(INTERVAL / 4);
    let expected = [
        "ERROR registration failed attempt=1 delay=10s \
         error=registry gave an answer that makes no sense: \
         reply names interval 180000001, its server time lies in 180000000 group=virtual",
        "TRACE next registration scheduled delay=10s expires=Some(11.5s) group=virtual",
    ];
    assert_eq!(log.take()[1..], expected);
}

#[test]
fn a_clock_that_steps_is_reported_with_the_distance() {
    let (log, _logging) = logging();
    let (time, _registry, mut driver, _peers) = start();
    driver.run(LEASED);
    time.step_server(-3_000);
    log.take();
    driver.run(INTERVAL);
    let expected = [
        "WARN server clock stepped by=-3000000 group=virtual",
        "TRACE registration completed \
         group=virtual index=0 interval=180000003 replicas=1 skew=-3000000",
        "TRACE no pair implied group=virtual",
        "TRACE lease released group=virtual i=0 n=1",
    ];
    assert_eq!(log.take()[..4], expected);
}

#[test]
fn an_answer_that_comes_too_late_is_not_what_the_failure_is_put_down_to() {
    let (log, _logging) = logging();
    let (time, registry, mut driver, _peers) = start();
    registry.plan([Fault::RefuseLate(INTERVAL / 10), Fault::Hang]);
    driver.run(INTERVAL / 20);
    time.suspend(INTERVAL);
    log.take();
    driver.run(INTERVAL / 2);
    let expected = ["ERROR registration failed attempt=1 delay=0ns \
         error=registration was given up: no answer within the interval group=virtual"];
    assert_eq!(log.take(), expected);
}

#[test]
fn a_signal_aborts_the_worker() {
    let (log, _logging) = logging();
    let (_time, _registry, mut driver, peers) = start();
    assert!(!driver.poll());
    let _peers = peers.with_graceful_shutdown(std::future::ready(()));
    assert!(driver.poll());
    drop(driver);
    assert_eq!(log.take().pop().unwrap(), "INFO discover stopped group=virtual reason=abort");
}

#[test]
fn a_consumer_that_goes_away_closes_the_worker() {
    let (log, _logging) = logging();
    let (_time, _registry, mut driver, peers) = start();
    assert!(!driver.poll());
    drop(peers);
    assert!(driver.poll());
    drop(driver);
    assert_eq!(log.take().pop().unwrap(), "INFO discover stopped group=virtual reason=closed");
}

#[test]
fn the_first_reason_to_stop_counts() {
    let (log, _logging) = logging();
    let (_time, _registry, mut driver, peers) = start();
    assert!(!driver.poll());
    peers.stop();
    drop(peers);
    assert!(driver.poll());
    drop(driver);
    assert_eq!(log.take().pop().unwrap(), "INFO discover stopped group=virtual reason=abort");
}

#[test]
fn a_registry_that_panics_is_an_error_and_ends_the_stream() {
    let (log, _logging) = logging();
    let (_time, registry, mut driver, mut peers) = start();
    registry.plan([Fault::Panic]);
    catch_unwind(AssertUnwindSafe(|| driver.poll())).unwrap_err();
    assert_eq!(log.take()[1..], ["ERROR discover stopped group=virtual reason=panicked"]);
    change(&mut peers);
    assert!(matches!(look(&mut peers), Poll::Ready(None)));
}

#[test]
fn a_driver_that_was_never_polled_did_not_start_and_does_not_stop() {
    let (log, _logging) = logging();
    let (_time, _registry, driver, mut peers) = start();
    drop(driver);
    assert!(matches!(look(&mut peers), Poll::Ready(None)));
    assert_eq!(log.take(), [""; 0]);
}
