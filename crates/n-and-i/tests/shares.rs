//! What a consumer gets while its group rebalances and it keeps serving.

mod support;

use std::ops::DerefMut;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use n_and_i::{Instant, Lease, Peers, Rebalance, StopHandle};
use support::{Driver, Fault, INTERVAL, Planned, Time, change, config, look, start_with};

/// A worker that is alone and owns everything, half an interval after its third registration.
fn alone() -> (Time, Planned, Driver, Peers, Lease) {
    let (time, registry, mut driver, mut peers) =
        start_with(config().with_rebalance(Rebalance::KeepServing));
    driver.run(INTERVAL * 5 / 2);
    let lease = change(&mut peers).lease().unwrap().clone();
    assert_eq!(lease.share().to_string(), "0 of 1");
    (time, registry, driver, peers, lease)
}

/// Another worker registers in this interval; in the next one ours learns of it.
fn joined(registry: &Planned, driver: &mut Driver) {
    registry.visit();
    driver.run(INTERVAL);
}

/// Whether it is, when polled now.
fn is_ready<F: Future>(future: &mut Pin<impl DerefMut<Target = F>>) -> bool {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

fn at(intervals: f64) -> Instant {
    Instant::from_elapsed(INTERVAL.mul_f64(intervals))
}

/// Until when work on what was last granted at 2.5 intervals may be finished: one and a half
/// more, less what a clock may be slow by.
const DRAINED: Instant = Instant::from_nanos(39_437_500_000);

#[test]
fn a_share_that_narrows_is_a_new_lease_and_a_window_for_the_rest() {
    let (time, registry, mut driver, mut peers, whole) = alone();
    joined(&registry, &mut driver);
    let narrowed = change(&mut peers);
    assert_eq!(narrowed.to_string(), "0 of 2 and 0 of 1");
    let lease = narrowed.lease().unwrap().clone();
    assert!(lease.is_live() && lease.owns(4) && !lease.owns(5));

    // What was lost is so for good, whatever is renewed later.
    let window = narrowed.drain_window().unwrap();
    assert_eq!((window.deadline(), time.reading()), (DRAINED, at(3.5)));
    assert!(!whole.is_live() && whole.may_finish() && window.is_open());
    assert_eq!(whole.drain_window().deadline(), window.deadline());
    driver.run(INTERVAL / 2);
    assert!(!whole.may_finish() && !window.is_open());
    assert!(lease.is_live() && lease.may_finish());
}

#[test]
fn a_share_that_grows_loses_nothing() {
    let (_time, registry, mut driver, mut peers, _) = alone();
    joined(&registry, &mut driver);
    let narrowed = change(&mut peers).lease().unwrap().clone();
    joined(&registry, &mut driver);
    let grown = change(&mut peers);
    assert_eq!(grown.to_string(), "0 of 2");
    assert!(grown.drain_window().is_none());
    let grown = grown.lease().unwrap().clone();
    assert!(grown.stage() > narrowed.stage() && grown.token() > narrowed.token());

    // No new work under the old lease, but what it began may be finished as long as its tasks
    // are owned.
    assert!(!narrowed.is_live() && grown.is_live());
    joined(&registry, &mut driver);
    assert!(look(&mut peers).is_pending());
    assert!(narrowed.may_finish());
    assert_eq!(narrowed.drain_window().deadline(), grown.drain_window().deadline());

    // A third one joins.
    registry.visit();
    joined(&registry, &mut driver);
    assert_eq!(change(&mut peers).to_string(), "0 of 3 and 0 of 2");
    let deadline = grown.drain_window().deadline();
    driver.run(INTERVAL);
    assert_eq!(grown.drain_window().deadline(), deadline);
    assert_eq!(narrowed.drain_window().deadline(), deadline);
}

#[test]
fn of_changes_that_were_not_read_the_first_loss_counts() {
    let (_time, registry, mut driver, mut peers, whole) = alone();
    joined(&registry, &mut driver);
    joined(&registry, &mut driver);
    // Narrowed, then grown.
    let grown = change(&mut peers);
    assert_eq!(grown.to_string(), "0 of 2");
    assert_eq!(grown.drain_window().unwrap().deadline(), DRAINED);
    assert!(!whole.may_finish());
}

#[test]
fn who_was_handed_nothing_has_nothing_to_drain() {
    let (_time, registry, mut driver, mut peers) =
        start_with(config().with_rebalance(Rebalance::KeepServing));
    driver.run(INTERVAL * 5 / 2);
    joined(&registry, &mut driver);
    let narrowed = change(&mut peers);
    assert_eq!(narrowed.to_string(), "0 of 2 and 0 of 1");
    assert!(narrowed.drain_window().is_none());
}

#[test]
fn whoever_waits_for_the_end_of_a_lease_is_told_of_each_kind() {
    type Happens<'a> = &'a dyn Fn(&Planned, &mut Driver);
    let cases: [(&str, Happens<'_>); 3] = [
        ("rebalancing", &joined),
        ("expired", &|registry, driver| {
            registry.plan([Fault::Hang]);
            driver.run(INTERVAL * 3 / 2);
        }),
        ("renewed", &|_, driver| driver.run(INTERVAL)),
    ];
    for (name, happens) in cases {
        let (_time, registry, mut driver, peers, lease) = alone();
        let mut waits = [Box::pin(lease.ended()), Box::pin(lease.ended())];
        assert_eq!(waits.each_mut().map(is_ready), [false; 2], "{name}");
        happens(&registry, &mut driver);
        assert_eq!(waits.each_mut().map(is_ready), [name != "renewed"; 2], "{name}");
        drop(peers);
        assert!(is_ready(&mut Box::pin(lease.ended())), "{name}: the stream was dropped");
    }
}

#[test]
fn a_window_can_be_waited_for_by_the_clock_that_counts() {
    let (time, registry, mut driver, mut peers, _) = alone();
    joined(&registry, &mut driver);
    let change = change(&mut peers);
    let window = change.drain_window().unwrap();
    assert_eq!(window.remaining(), Duration::from_micros(4_437_500));
    let mut closed = pin!(window.closed());
    assert!(!is_ready(&mut closed));
    pass(&time, INTERVAL / 4);
    assert!(!is_ready(&mut closed));
    // The timers do not count this.
    time.suspend(INTERVAL / 4);
    assert!(!window.is_open() && !is_ready(&mut closed));
    pass(&time, INTERVAL / 4);
    assert!(is_ready(&mut closed));
}

/// While nobody runs.
fn pass(time: &Time, mut duration: Duration) {
    while !duration.is_zero() {
        duration -= time.advance(duration);
    }
}

/// Two atomics, written one after the other.
#[test]
fn a_lease_that_is_live_lets_work_be_finished_whoever_looks_when() {
    let (_time, registry, mut driver, _peers, lease) = alone();
    let stop = Arc::new(AtomicBool::new(false));
    let watchers: Vec<_> = (0..2)
        .map(|_| {
            let (lease, stop) = (lease.clone(), Arc::clone(&stop));
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let finish = lease.drain_window().deadline();
                    let ends = lease.ends();
                    // What was read first may be older, not newer.
                    assert!(ends <= lease.drain_window().deadline(), "{ends:?}, {finish:?}");
                }
            })
        })
        .collect();
    for _ in 0..2_000 {
        driver.run(INTERVAL);
    }
    drop(registry);
    stop.store(true, Ordering::Relaxed);
    for watcher in watchers {
        watcher.join().unwrap();
    }
    assert!(lease.is_live());
}

#[test]
fn dropping_the_stream_wakes_nobody_under_a_lock() {
    struct Stops(StopHandle);
    impl Wake for Stops {
        fn wake(self: Arc<Self>) {
            self.0.stop();
        }
    }
    let (_time, _registry, _driver, peers, lease) = alone();
    let waker = Waker::from(Arc::new(Stops(peers.stop_handle())));
    let mut ended = Box::pin(lease.ended());
    assert!(ended.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let (dropped, is_dropped) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        drop(peers);
        dropped.send(()).unwrap();
    });
    is_dropped.recv_timeout(Duration::from_secs(60)).expect("it hangs");
    assert!(is_ready(&mut ended));
}
