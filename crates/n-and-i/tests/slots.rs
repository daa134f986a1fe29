//! Workers whose group is kept as slots.

mod support;

use n_and_i::{Config, Layout, Reason, Registered, RegistrationError, Registry, Request};
use support::{Fault, INTERVAL, Time, change, config, look, start_with};

fn slots() -> Config {
    config().with_layout(Layout::Slots)
}

#[test]
fn what_may_have_been_counted_is_asked_for_again_at_once() {
    for (layout, calls, is_kept) in [(Layout::Counters, 4, false), (Layout::Slots, 5, true)] {
        let (_time, registry, mut driver, mut peers) = start_with(config().with_layout(layout));
        driver.run(INTERVAL * 5 / 2);
        let lease = change(&mut peers).lease().unwrap().clone();
        registry.plan([Fault::LoseAnswer]);
        // Asked for at 3.5, and with slots again at 3.625; the lease ends at 3.65.
        driver.run(INTERVAL * 5 / 4);
        assert_eq!((registry.calls().len(), lease.is_live()), (calls, is_kept), "{layout}");
        assert_eq!(look(&mut peers).is_pending(), is_kept, "{layout}");
    }
}

#[test]
fn who_stops_in_order_gives_its_index_to_the_next() {
    for stops in [true, false] {
        let (_time, registry, mut driver, peers) = start_with(slots());
        driver.run(INTERVAL * 5 / 2);
        if stops {
            peers.stop();
            assert!(driver.poll());
        }
        let newcomer = registry.visit_as(&slots()).unwrap().reply;
        assert_eq!((newcomer.index, newcomer.replicas), (u32::from(!stops), Some(1)));
    }
}

#[test]
fn the_stream_does_not_wait_for_long_until_the_index_is_given_back() {
    /// Gives nothing back, ever.
    struct Stuck(support::Planned);
    impl Registry for Stuck {
        async fn register(&self, request: Request<'_>) -> Result<Registered, RegistrationError> {
            self.0.register(request).await
        }
        fn kind(&self) -> &'static str {
            "stuck"
        }
        fn supports(&self, _: Layout) -> bool {
            true
        }
        async fn release(&self, _: &Config, _: n_and_i::WorkerId) {
            std::future::pending::<()>().await;
        }
    }
    let time = Time::default();
    let registry = Stuck(support::Planned::new(&time));
    let (mut peers, driver) = n_and_i::discover(registry, time.clone(), slots());
    let mut driver = support::Driver::of(&time, driver);
    driver.run(INTERVAL * 5 / 2);
    assert!(change(&mut peers).lease().is_some());
    peers.stop();
    assert!(!driver.poll());
    // What matters is told at once.
    assert_eq!(change(&mut peers).reason(), Some(Reason::Stopped));
    let limit = slots().timing().gap_length();
    let mut left = limit;
    while !left.is_zero() {
        assert!(!driver.poll(), "{left:?} left");
        left -= time.advance(left);
    }
    assert!(driver.poll());
}

#[test]
fn a_group_has_one_layout() {
    for (first, second) in [(Layout::Counters, Layout::Slots), (Layout::Slots, Layout::Counters)] {
        let (time, registry, mut driver, _peers) = start_with(config().with_layout(first));
        driver.run(INTERVAL / 2);
        let other = config().with_layout(second);
        let error = registry.visit_as(&other).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(first.as_str()) && text.contains(second.as_str()), "{text}");
        assert!(matches!(
            error,
            RegistrationError::LayoutMismatch { own, group, interval, .. }
                if own == second && group == first && interval == INTERVAL
        ));
        drop(driver);
        // Once it has expired the other takes over.
        time.suspend(4 * INTERVAL);
        assert_eq!(registry.visit_as(&other).unwrap().reply.index, 0);
        assert!(registry.visit_as(&config().with_layout(first)).is_err());
    }
}
