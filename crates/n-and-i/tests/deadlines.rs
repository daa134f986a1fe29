//! When the driver acts, and how often it asks for a timer.

mod support;

use std::time::Duration;

use n_and_i::{Instant, ServerTime};
use support::{Fault, INTERVAL, start};

fn at(seconds: f64) -> Instant {
    Instant::from_elapsed(Duration::from_secs_f64(seconds))
}

#[test]
fn two_timers_per_interval_are_enough() {
    for delay in [Duration::ZERO, INTERVAL / 10] {
        let (time, registry, mut driver, _peers) = start();
        driver.run(4 * INTERVAL);
        registry.plan((0..100).map(|_| Fault::Delay(delay)));
        let (calls, timers) = (registry.calls().len(), time.started());
        driver.run(90 * INTERVAL);
        let (calls, timers) = (registry.calls().len() - calls, time.started() - timers);
        assert!(calls > 80 && timers <= 2 * calls + 1, "{timers} timers for {calls} calls");
    }
}

#[test]
fn a_timer_that_ends_at_the_deadline_is_kept() {
    let (time, registry, mut driver, _peers) = start();
    // The second registration is due when the first would have been given up.
    driver.run(INTERVAL / 2);
    assert_eq!((registry.calls().len(), time.started()), (1, 1));
    driver.run(INTERVAL / 2);
    assert_eq!(registry.times(), [at(0.0), at(10.0)]);
}

#[test]
fn after_a_suspend_no_deadline_waits_for_the_timer_that_slept_too() {
    let (time, registry, mut driver, _peers) = start();
    registry.plan([Fault::Delay(INTERVAL / 10), Fault::Refuse("refused".into())]);
    driver.run(INTERVAL / 20);
    // The timer that the driver waits for has nine and a half seconds left, and keeps them.
    time.suspend(3 * INTERVAL);
    driver.run(INTERVAL / 2);
    // Answered too late; then refused, and tried again after the back-off.
    assert_eq!(registry.times(), [at(0.0), at(31.0), at(33.5)]);
}

#[test]
fn a_refusal_brings_the_deadline_forward() {
    let (_time, registry, mut driver, _peers) = start();
    registry.plan([Fault::RefuseLate(INTERVAL / 10)]);
    driver.run(INTERVAL / 2);
    assert_eq!(registry.times(), [at(0.0), at(2.25)]);
}

#[test]
fn a_timer_that_wakes_early_is_started_anew() {
    let (time, registry, mut driver, _peers) = start();
    time.wake_early(INTERVAL / 5);
    driver.run(INTERVAL);
    assert_eq!(registry.times(), [at(0.0), at(10.0)]);
    assert_eq!(time.started(), 3);
}

#[test]
fn every_request_has_a_stamp_of_its_own_and_the_time_when_it_is_given_up() {
    let (time, registry, mut driver, _peers) = start();
    let start = time.server().as_micros();
    driver.run(3 * INTERVAL);
    let calls = registry.calls();
    // The server's time is not known before it first answered.
    let limits: Vec<_> = calls.iter().map(|call| call.not_after).collect();
    let limit = |seconds: u64| Some(ServerTime::from_micros(start + seconds * 1_000_000));
    assert_eq!(limits, [None, limit(20), limit(35)]);
    assert!(calls[0].stamp != calls[1].stamp && calls[1].stamp != calls[2].stamp, "{calls:?}");
    assert_ne!(calls[0].stamp, calls[2].stamp);
}
