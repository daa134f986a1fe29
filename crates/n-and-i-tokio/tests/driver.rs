//! The driver on Tokio's paused clock: every deadline is met to the millisecond of its timers.

mod support;

use std::time::Duration;

use n_and_i::{Instant, Lease, Peers, Reason, Runtime};
use n_and_i_tokio::{Tokio, discover_on};
use support::{Fault, Faulty, INTERVAL, config};

fn start() -> (Tokio, Faulty, Peers) {
    let tokio = Tokio::with_tokio_clock();
    let registry = Faulty::new(&tokio);
    let peers = discover_on(tokio.clone(), registry.clone(), config()).unwrap();
    (tokio, registry, peers)
}

async fn lease(peers: &mut Peers) -> Lease {
    loop {
        let change = peers.next().await.expect("the worker goes on");
        if let Some(lease) = change.lease() {
            return lease.clone();
        }
    }
}

/// Tokio's timers wake up within a millisecond after the deadline.
fn assert_at(actual: Instant, expected: Instant) {
    let late = actual.saturating_duration_since(expected);
    assert!(
        actual >= expected && late <= Duration::from_millis(2),
        "{actual:?} is not {expected:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_settled_worker_registers_once_per_interval_and_stays_quiet() {
    let (_tokio, registry, mut peers) = start();
    assert_eq!(peers.next().await.unwrap().reason(), Some(Reason::Starting));
    let lease = lease(&mut peers).await;
    assert_eq!(registry.calls().len(), 3);
    let before = registry.calls().len();
    let quiet = tokio::time::timeout(INTERVAL.mul_f64(100.5), peers.next()).await;
    assert!(quiet.is_err());
    assert_eq!(registry.calls().len() - before, 100);
    assert!(lease.is_live());
    assert!(lease.remaining() <= INTERVAL.mul_f64(1.15));
}

#[tokio::test(start_paused = true)]
async fn failures_are_retried_with_back_off_and_never_reach_the_loop() {
    let (tokio, registry, mut peers) = start();
    let held = lease(&mut peers).await;
    let last = *registry.calls().last().unwrap();
    registry.plan([Fault::Refuse; 6]);
    let change = peers.next().await.unwrap();
    assert_eq!(change.reason(), Some(Reason::Expired));
    assert!(!held.is_live());
    // The lease ended one interval and the gap after the last good registration was sent.
    assert_at(tokio.clock().now(), last.saturating_add(INTERVAL.mul_f64(1.15)));
    let again = lease(&mut peers).await;
    assert!(again.stage() > held.stage());

    let calls = registry.calls();
    let failed = calls.iter().position(|&call| call > last).unwrap();
    let eighth = INTERVAL / 8;
    for (retry, wait) in [1, 2, 4, 8, 8, 8].into_iter().enumerate() {
        let expected = calls[failed + retry].saturating_add(eighth * wait);
        assert_at(calls[failed + retry + 1], expected);
    }
}

#[tokio::test(start_paused = true)]
async fn one_failure_within_the_gap_goes_unnoticed() {
    let (_tokio, registry, mut peers) = start();
    let held = lease(&mut peers).await;
    registry.plan([Fault::Refuse]);
    let quiet = tokio::time::timeout(5 * INTERVAL, peers.next()).await;
    assert!(quiet.is_err(), "{quiet:?}");
    assert!(held.is_live());
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_not_asked_for_again_in_the_interval() {
    let (_tokio, registry, mut peers) = start();
    lease(&mut peers).await;
    let before = registry.calls();
    registry.plan([Fault::Lose]);
    assert_eq!(peers.next().await.unwrap().reason(), Some(Reason::Expired));
    lease(&mut peers).await;
    let calls = registry.calls();
    let lost = calls[before.len()];
    assert_at(calls[before.len() + 1], lost.saturating_add(INTERVAL));
}

#[tokio::test(start_paused = true)]
async fn a_registration_that_hangs_is_dropped_after_an_interval() {
    let (_tokio, registry, mut peers) = start();
    lease(&mut peers).await;
    let before = registry.calls().len();
    registry.plan([Fault::Hang, Fault::Hang]);
    assert_eq!(peers.next().await.unwrap().reason(), Some(Reason::Expired));
    assert_eq!(registry.waiting(), 1);
    lease(&mut peers).await;
    assert_eq!(registry.waiting(), 0);
    let calls = registry.calls();
    assert_at(calls[before + 1], calls[before].saturating_add(INTERVAL));
    assert_at(calls[before + 2], calls[before + 1].saturating_add(INTERVAL));
}

#[tokio::test(start_paused = true)]
async fn a_slow_answer_shortens_the_lease() {
    let (_tokio, registry, mut peers) = start();
    let held = lease(&mut peers).await;
    registry.plan([Fault::Delay(INTERVAL / 10)]);
    let sent = registry.calls().len();
    let quiet = tokio::time::timeout(INTERVAL.mul_f64(1.12), peers.next()).await;
    assert!(quiet.is_err(), "{quiet:?}");
    let sent = registry.calls()[sent];
    assert!(held.ends() <= sent.saturating_add(INTERVAL.mul_f64(1.151)));
}

#[tokio::test(start_paused = true)]
async fn stopping_ends_the_stream_with_one_idle_change_if_anything_was_owned() {
    let (_tokio, registry, mut peers) = start();
    let held = lease(&mut peers).await;
    let handle = peers.stop_handle();
    handle.stop();
    let last = peers.next().await.unwrap();
    assert_eq!(last.reason(), Some(Reason::Stopped));
    assert!(last.drain_window().unwrap().is_open());
    assert!(!held.is_live());
    assert!(peers.next().await.is_none());
    assert!(peers.next().await.is_none());
    handle.stop();
    let calls = registry.calls().len();
    tokio::time::sleep(5 * INTERVAL).await;
    assert_eq!(registry.calls().len(), calls);
}

#[tokio::test(start_paused = true)]
async fn stopping_without_a_lease_repeats_nothing() {
    let (_tokio, _registry, mut peers) = start();
    assert_eq!(peers.next().await.unwrap().reason(), Some(Reason::Starting));
    peers.stop();
    assert!(peers.next().await.is_none());

    // An idle change that was not taken is still there.
    let (_tokio, _registry, mut peers) = start();
    tokio::time::sleep(INTERVAL / 10).await;
    peers.stop();
    assert_eq!(peers.next().await.unwrap().reason(), Some(Reason::Starting));
    assert!(peers.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn dropping_the_stream_ends_everything_at_once() {
    let (_tokio, registry, mut peers) = start();
    let held = lease(&mut peers).await;
    registry.plan([Fault::Hang]);
    tokio::time::sleep(INTERVAL.mul_f64(1.05)).await;
    assert_eq!(registry.waiting(), 1);
    assert!(held.is_live());
    drop(peers);
    assert!(!held.is_live(), "over before the driver gets to run");
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(registry.waiting(), 0, "the registration is dropped too");
    let calls = registry.calls().len();
    tokio::time::sleep(5 * INTERVAL).await;
    assert_eq!(registry.calls().len(), calls);
}

#[tokio::test(start_paused = true)]
async fn a_signal_stops_the_worker_also_if_it_is_the_second() {
    let (_tokio, _registry, peers) = start();
    let mut peers = peers
        .with_graceful_shutdown(std::future::pending())
        .with_graceful_shutdown(tokio::time::sleep(10 * INTERVAL));
    let held = lease(&mut peers).await;
    assert_eq!(peers.next().await.unwrap().reason(), Some(Reason::Stopped));
    assert!(!held.is_live());
    assert!(peers.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn an_unread_change_is_replaced_and_never_repeats_what_was_read() {
    let (tokio, registry, mut peers) = start();
    let held = lease(&mut peers).await;
    // Lost and regained while nobody looks: one change, a new lease.
    registry.plan([Fault::Lose]);
    tokio::time::sleep(8 * INTERVAL).await;
    let change = peers.next().await.unwrap();
    let regained = change.lease().unwrap().clone();
    assert!(regained.stage() > held.stage());
    assert!(!held.is_live() && regained.is_live());
    // What was lost meanwhile had its own drain deadline.
    assert!(change.drain_window().is_some_and(|window| window.deadline() < tokio.clock().now()));
    assert_eq!(change.drain_window().unwrap().remaining(), Duration::ZERO);

    // Lost, read, regained and lost again while nobody looks: nothing new.
    registry.plan([Fault::Lose]);
    assert_eq!(peers.next().await.unwrap().reason(), Some(Reason::Expired));
    tokio::time::sleep(4 * INTERVAL).await;
    registry.plan([Fault::Lose, Fault::Lose, Fault::Lose]);
    tokio::time::sleep(2 * INTERVAL).await;
    let nothing = tokio::time::timeout(Duration::from_millis(1), peers.next()).await;
    assert!(nothing.is_err(), "{nothing:?}");
    lease(&mut peers).await;
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_dead_at_its_end_before_anybody_was_told() {
    let (tokio, registry, mut peers) = start();
    let held = lease(&mut peers).await;
    registry.plan([Fault::Hang]);
    tokio::time::sleep(INTERVAL).await;
    let ends = held.ends();
    let until = ends.saturating_duration_since(tokio.clock().now());
    tokio::time::advance(until.checked_sub(Duration::from_nanos(1)).unwrap()).await;
    assert!(held.is_live());
    tokio::time::advance(Duration::from_nanos(1)).await;
    // The driver has not been polled between these two lines.
    assert!(!held.is_live());
    assert_eq!(held.remaining(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_workers_settle_in_one_process() {
    const WORKERS: u32 = 10_000;
    let tokio = Tokio::with_tokio_clock();
    let registry = Faulty::new(&tokio);
    // Wide enough that two slots are further apart than Tokio's timers are coarse.
    let config = n_and_i::Config::new("many", Duration::from_secs(60)).unwrap();
    let mut group: Vec<_> = (0..WORKERS)
        .map(|_| discover_on(tokio.clone(), registry.clone(), config.clone()).unwrap())
        .collect();
    let mut owned = Vec::new();
    for peers in &mut group {
        owned.push(lease(peers).await);
    }
    let mut indices: Vec<_> = owned.iter().map(|lease| lease.share().pair().i()).collect();
    indices.sort_unstable();
    assert!(indices.iter().copied().eq(0..WORKERS));
    assert!(owned.iter().all(|lease| lease.share().pair().n() == WORKERS && lease.is_live()));
}
