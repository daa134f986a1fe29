//! The small types that inputs and outputs are made of.

use std::error::Error;
use std::time::Duration;

use n_and_i_core::{
    AttemptId, Failure, Instant, Machine, Pair, Rejected, Reply, ServerTime, Stamp, Timing,
    TimingError,
};

const REPLY: Reply = Reply {
    interval: 0,
    index: 0,
    replicas: None,
    at: ServerTime::from_micros(0),
    stamp: Stamp::from_u128(0),
    previous_stamp: None,
};

#[test]
fn a_pair_has_its_index_below_its_count() {
    for (i, n, valid) in [(0, 1, true), (2, 3, true), (3, 3, false), (4, 3, false), (0, 0, false)] {
        assert_eq!(Pair::new(i, n).is_some(), valid, "{i} of {n}");
    }
    let pair = Pair::new(2, 3).expect("2 < 3");
    assert_eq!((pair.i(), pair.n()), (2, 3));
    assert_eq!(
        (pair.to_string().as_str(), format!("{pair:?}").as_str()),
        ("2 of 3", "Pair(2 of 3)")
    );
}

#[test]
fn instants_saturate() {
    let (second, year) = (Duration::from_secs(1), Duration::from_secs(365 * 24 * 3_600));
    let end = Instant::from_nanos(u64::MAX);
    assert_eq!(Instant::from_elapsed(second).as_nanos(), 1_000_000_000);
    assert_eq!(Instant::from_elapsed(Duration::from_nanos(u64::MAX)), end);
    assert_eq!(Instant::from_elapsed(600 * year), end);
    assert_eq!(Instant::ORIGIN.saturating_add(second), Instant::from_elapsed(second));
    assert_eq!(Instant::from_elapsed(second).saturating_add(600 * year), end);
    assert_eq!(Instant::from_elapsed(second).saturating_duration_since(Instant::ORIGIN), second);
    assert_eq!(
        Instant::ORIGIN.saturating_duration_since(Instant::from_elapsed(second)),
        Duration::ZERO
    );
}

#[test]
fn values_are_shown_in_full() {
    assert_eq!(ServerTime::from_micros(1_700_000_000_000_042).to_string(), "1700000000.000042 s");
    let stamp = Stamp::from_u128(0xabc);
    assert_eq!(stamp.to_string(), "00000000000000000000000000000abc");
    assert_eq!(format!("{stamp:?}"), "Stamp(00000000000000000000000000000abc)");
    assert_eq!(stamp.as_u128(), 0xabc);
}

#[test]
fn a_timing_accepts_its_bounds() {
    for interval in [Duration::from_millis(1), Timing::MAX_INTERVAL] {
        for gap in [0.000_001, 0.499_999] {
            let timing = Timing::new(interval, gap).expect("within the bounds");
            assert_eq!(timing.interval(), interval);
            assert!((timing.gap() - gap).abs() < 1e-12);
            // Every slot keeps a gap from both ends of the interval.
            for (index, replicas) in [(0, 1), (0, u32::MAX), (u32::MAX - 1, u32::MAX), (7, 3)] {
                let slot = timing.slot(index, replicas);
                assert!(slot >= timing.gap_length(), "{slot:?}");
                assert!(slot + timing.gap_length() <= interval, "{slot:?}");
            }
        }
    }
}

#[test]
fn attempts_are_counted_from_one() {
    let timing = Timing::new(Duration::from_secs(10), 0.1).expect("within the bounds");
    let mut machine = Machine::new(timing, Instant::ORIGIN);
    for attempt in 1..=3 {
        assert_eq!(machine.in_flight().map(AttemptId::get), Some(attempt));
        let given_up = machine.poll_timeout().expect("not stopped");
        machine.handle_timeout(given_up.saturating_add(timing.interval()));
    }
}

#[test]
fn the_latest_server_time_is_accepted() {
    let timing = Timing::new(Duration::from_secs(10), 0.1).expect("within the bounds");
    let at = ServerTime::MAX;
    let latest = Reply { interval: timing.interval_at(at), index: u32::MAX - 1, at, ..REPLY };
    assert_eq!(latest.check(timing), Ok(()));
}

#[test]
fn errors_say_what_was_wrong_and_why() {
    let mut machine = Machine::new(
        Timing::new(Duration::from_secs(10), Timing::DEFAULT_GAP).expect("within the bounds"),
        Instant::ORIGIN,
    );
    assert_eq!(machine.timing().interval(), Duration::from_secs(10));
    let attempt = machine.in_flight().expect("registers at once");
    let nonsense = Reply { interval: 1, ..REPLY };
    let invalid =
        machine.handle_reply(Instant::ORIGIN, attempt, nonsense).expect_err("wrong interval");
    assert_eq!(invalid.to_string(), "registration reply makes no sense");
    let source = invalid.source().expect("says why");
    assert_eq!(source.to_string(), "reply names interval 1, its server time lies in 0");

    machine.handle_failure(Instant::ORIGIN, attempt, Failure::Unknown).expect("in flight");
    let over = machine.handle_failure(Instant::ORIGIN, attempt, Failure::Unknown);
    assert_eq!(over, Err(Rejected::NotInFlight { attempt }));
    let over = over.expect_err("over");
    assert_eq!(over.to_string(), "registration attempt 1 is not in flight");
    assert!(over.source().is_none());

    let interval = Duration::ZERO;
    let error = TimingError::IntervalOutOfRange { interval };
    assert_eq!(Timing::new(interval, 0.1), Err(error));
    assert_eq!(error.to_string(), "interval is 0ns, must be from 1ms to 4294967.295s");
}
