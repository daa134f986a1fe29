//! The registry inside one process keeps the contract of `Registry`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_lite::future::block_on;
use n_and_i::{
    Config, MemoryRegistry, RegistrationError, Registry, Reply, Request, ServerTime, Stamp,
};

const INTERVAL: Duration = Duration::from_secs(10);

struct Fixture {
    registry: MemoryRegistry,
    seconds: Arc<AtomicU64>,
    config: Config,
    stamps: u128,
}

impl Fixture {
    fn new() -> Self {
        let seconds = Arc::new(AtomicU64::new(1000));
        let clock = Arc::clone(&seconds);
        let registry = MemoryRegistry::with_clock(move || {
            ServerTime::from_micros(clock.load(Ordering::Relaxed) * 1_000_000)
        });
        Self { registry, seconds, config: Config::new("a", INTERVAL).unwrap(), stamps: 0 }
    }

    fn at(&mut self, seconds: u64) -> Reply {
        self.seconds.store(seconds, Ordering::Relaxed);
        let config = self.config.clone();
        self.register(&config, None).unwrap()
    }

    fn register(
        &mut self,
        config: &Config,
        not_after: Option<u64>,
    ) -> Result<Reply, RegistrationError> {
        self.stamps += 1;
        let not_after = not_after.map(|seconds| ServerTime::from_micros(seconds * 1_000_000));
        let request = Request::new(config, Stamp::from_u128(self.stamps), not_after);
        block_on(self.registry.register(request)).map(|registered| registered.reply)
    }
}

#[test]
fn counts_per_interval_and_carries_the_closing_count() {
    let mut fixture = Fixture::new();
    let first = fixture.at(1001);
    assert_eq!((first.interval, first.index, first.replicas), (100, 0, None));
    assert_eq!(first.at.as_micros(), 1_001_000_000);
    assert_eq!(first.previous_stamp, None);
    let second = fixture.at(1009);
    assert_eq!((second.index, second.stamp), (1, first.stamp));

    let next = fixture.at(1010);
    assert_eq!((next.interval, next.index, next.replicas), (101, 0, Some(2)));
    assert_eq!(next.previous_stamp, Some(first.stamp));
    assert_ne!(next.stamp, first.stamp);
    let later = fixture.at(1019);
    assert_eq!((later.replicas, later.previous_stamp), (Some(2), Some(first.stamp)));
}

#[test]
fn an_interval_without_registrations_breaks_the_chain() {
    let mut fixture = Fixture::new();
    fixture.at(1000);
    let after = fixture.at(1020);
    assert_eq!((after.interval, after.replicas, after.previous_stamp), (102, None, None));
}

#[test]
fn a_clock_that_returns_to_an_interval_renews_its_stamp() {
    let mut fixture = Fixture::new();
    let original = fixture.at(1000);
    fixture.at(1010);
    let reopened = fixture.at(1005);
    assert_eq!((reopened.interval, reopened.previous_stamp), (100, None));
    assert_ne!(reopened.stamp, original.stamp);
    let next = fixture.at(1010);
    assert_eq!(next.previous_stamp, Some(reopened.stamp));
}

#[test]
fn late_requests_are_refused_and_not_counted() {
    let mut fixture = Fixture::new();
    let config = fixture.config.clone();
    fixture.at(1000);
    let error = fixture.register(&config, Some(999)).unwrap_err();
    assert!(matches!(error, RegistrationError::TooLate { at } if at.as_micros() == 1_000_000_000));
    assert_eq!(fixture.register(&config, Some(1000)).unwrap().index, 1);
}

#[test]
fn another_interval_is_refused_until_the_group_is_forgotten() {
    let mut fixture = Fixture::new();
    let other = Config::new("a", Duration::from_secs(7)).unwrap();
    fixture.at(1000);
    fixture.seconds.store(1030, Ordering::Relaxed);
    let error = fixture.register(&other, None).unwrap_err();
    let RegistrationError::IntervalMismatch { ref name, own, group } = error else {
        panic!("{error}")
    };
    assert_eq!((&**name, own, group), ("a", Duration::from_secs(7), INTERVAL));
    assert_eq!(
        error.to_string(),
        "group \"a\" runs at an interval of 10s, this worker is configured for 7s"
    );
    // The refused worker does not keep the group in memory.
    fixture.seconds.store(1031, Ordering::Relaxed);
    assert_eq!(fixture.register(&other, None).unwrap().index, 0);
    assert!(fixture.register(&fixture.config.clone(), None).is_err());
}

#[test]
fn groups_are_told_apart_by_name_and_prefix_and_shared_by_clones() {
    let mut fixture = Fixture::new();
    let clone = fixture.registry.clone();
    fixture.at(1000);
    for config in [
        Config::new("b", INTERVAL).unwrap(),
        Config::new("a", INTERVAL).unwrap().with_prefix("p").unwrap(),
    ] {
        assert_eq!(fixture.register(&config, None).unwrap().index, 0);
    }
    fixture.registry = clone;
    assert_eq!(fixture.at(1000).index, 1);
    assert!(format!("{:?}", fixture.registry).contains("{a}:"));
    assert_eq!(fixture.registry.kind(), "memory");
}

#[test]
fn groups_that_have_expired_are_forgotten_when_another_begins() {
    let mut fixture = Fixture::new();
    fixture.at(1000);
    for (seconds, name, is_kept) in [(1030, "b", true), (1031, "c", false)] {
        fixture.seconds.store(seconds, Ordering::Relaxed);
        fixture.register(&Config::new(name, INTERVAL).unwrap(), None).unwrap();
        let groups = format!("{:?}", fixture.registry);
        assert_eq!(groups.contains("{a}:"), is_kept, "{groups}");
    }
}
