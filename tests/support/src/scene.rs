//! A group of workers on Tokio that is watched through a fault.

use std::sync::LazyLock;
use std::time::Duration;

use n_and_i::{Config, Registry, counters};

use crate::group::Group;
use crate::log::{Event, Log};
use crate::redis_server::RedisServer;
use crate::wait::{eventually, eventually_async};

const INTERVAL: Duration = Duration::from_millis(300);

/// What all groups of the program log.
static LOG: LazyLock<Log> = LazyLock::new(|| {
    let log = Log::default();
    tracing::subscriber::set_global_default(log.clone()).expect("nobody else logs");
    log
});

/// A group that has settled.
#[derive(Debug)]
pub struct Scene {
    /// The group.
    pub group: Group,
    config: Config,
}

impl Scene {
    /// How many workers a scene has.
    pub const WORKERS: usize = 3;

    /// Two workers share a registry, the third has one of its own.
    ///
    /// # Panics
    /// If the group does not settle.
    pub async fn settled<R>(name: &str, mut registry: impl FnMut() -> R) -> Self
    where
        R: Registry + Clone,
    {
        LazyLock::force(&LOG);
        let config = Config::new(name, INTERVAL).expect("a valid name");
        let mut group = Group::new();
        let shared = registry();
        for _ in 1..Self::WORKERS {
            group.join(shared.clone(), &config);
        }
        group.join(registry(), &config);
        group.settled().await;
        Self { group, config }
    }

    /// The group's name.
    pub fn name(&self) -> &str {
        self.config.name()
    }

    /// The workers' configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The failures so far that mention this.
    pub fn errors(&self, text: &str) -> Vec<String> {
        let failed = self.events("registration failed");
        let errors = failed.into_iter().map(|event| event.fields["error"].clone());
        errors.filter(|error| error.contains(text)).collect()
    }

    /// Waits until each worker may have had such a failure.
    ///
    /// # Panics
    /// If that takes too long.
    pub async fn fails_with(&self, text: &str) {
        eventually_async(&format!("registrations fail with {text:?}"), || {
            (self.errors(text).len() >= Self::WORKERS).then_some(())
        })
        .await;
    }

    /// Waits until the group owns everything again with leases from after interval `broken`, now
    /// that `server` can be registered in, and checks that this took at most so many intervals.
    ///
    /// # Panics
    /// If it did not, or if the promise was broken on the way.
    pub async fn owns_again(&self, what: &str, broken: u64, server: &RedisServer, limit: u64) {
        let repaired = self.present_interval(server);
        for worker in self.group.workers() {
            let lease = self.group.owns_after(worker, broken).await;
            let took = lease.stage().saturating_sub(repaired);
            println!("{what}: worker {worker} owned again after {took} intervals");
            let steps = self.events("server clock stepped").len();
            let errors = self.errors("");
            assert!(
                took <= limit,
                "{what}: {took} intervals, worker {worker}, {steps} clock steps, {errors:#?}"
            );
        }
        self.group.settled().await;
        self.group.check();
    }

    /// Checks that the servers executed exactly the registrations that were answered.
    ///
    /// # Panics
    /// If they did not.
    pub fn each_call_was_executed_once(&self, executed: impl Fn() -> u64) {
        // They differ for the moment in which one is under way.
        eventually("as many registrations were executed as were answered", || {
            let answered = self.events("registration completed").len();
            (executed() == answered as u64).then_some(())
        });
    }

    /// Checks from this interval on, for a while, that nobody is counted who has given up.
    ///
    /// # Panics
    /// If somebody is, or if the promise was broken.
    pub async fn no_ghosts(&self, server: &RedisServer, from: u64) {
        let later = || (self.present_interval(server) > from + 3).then_some(());
        eventually_async("some intervals pass", later).await;
        for interval in from.max(self.present_interval(server) - 2)..self.present_interval(server) {
            let key = counters::counter_key(&self.config, interval);
            let count = server.command::<Option<usize>>(&["GET", &key]).unwrap_or(0);
            assert!(count <= Self::WORKERS, "{count} registrations in interval {interval}");
        }
        self.group.check();
    }

    /// The number of the present interval by the server's clock.
    ///
    /// # Panics
    /// If the server cannot be reached.
    pub fn present_interval(&self, server: &RedisServer) -> u64 {
        let (seconds, micros): (u128, u128) = server.command(&["TIME"]);
        let interval = (seconds * 1_000_000 + micros) / self.config.interval().as_micros();
        interval.try_into().expect("a number of this epoch")
    }

    fn events(&self, message: &str) -> Vec<Event> {
        let events = LOG.events().into_iter();
        let mine =
            |event: &Event| event.fields.get("group").is_some_and(|name| name == self.name());
        events.filter(|event| event.message == message && mine(event)).collect()
    }
}
