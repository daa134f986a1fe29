//! Clients, and registrations made by hand.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::sync::Arc;
use std::time::Duration;

use fred::clients::Client;
use fred::prelude::{Builder, ClientLike, ReconnectPolicy};
use fred::types::config::Config as FredConfig;
use n_and_i::{Config, Registered, RegistrationError, Registry, Request, ServerTime, Stamp};
use n_and_i_fred::FredRegistry;
use n_and_i_test_support::{RedisServer, eventually_async};

/// How long the clients of the tests wait before they connect again.
pub(crate) const RECONNECT_DELAY: u32 = 20;

/// A builder of clients of the server at this port, with fred's defaults but for the policy.
pub(crate) fn builder(port: u16) -> Builder {
    builder_at(&format!("redis://127.0.0.1:{port}"))
}

pub(crate) fn builder_at(url: &str) -> Builder {
    let mut builder = Builder::from_config(FredConfig::from_url(url).unwrap());
    let mut policy = ReconnectPolicy::new_constant(0, RECONNECT_DELAY);
    policy.set_jitter(0);
    builder.set_policy(policy);
    builder
}

/// A connected client and its registry.
pub(crate) async fn connected(builder: &Builder) -> (Client, FredRegistry) {
    let client = builder.build().unwrap();
    client.init().await.unwrap();
    (client.clone(), FredRegistry::new(client).unwrap())
}

/// A group of this interval, named `by-hand`.
pub(crate) fn group(interval: Duration) -> Config {
    Config::new("by-hand", interval).unwrap()
}

/// One registration that nobody limits.
pub(crate) async fn register(
    registry: &FredRegistry,
    config: &Config,
) -> Result<Registered, RegistrationError> {
    register_until(registry, config, None).await
}

/// One registration with a time limit on the server.
pub(crate) async fn register_until(
    registry: &FredRegistry,
    config: &Config,
    not_after: Option<ServerTime>,
) -> Result<Registered, RegistrationError> {
    registry.register(Request::new(config, Stamp::from_u128(1), not_after)).await
}

/// Registers until it succeeds, for at most a minute. Returns how often it failed.
pub(crate) async fn recovers(registry: &FredRegistry, config: &Config) -> Vec<RegistrationError> {
    let mut errors = Vec::new();
    loop {
        match register(registry, config).await {
            Ok(_) => return errors,
            Err(error) => errors.push(error),
        }
        assert!(errors.len() < 6_000, "{:?}", errors.last());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// How many registrations the server counted since it was started.
pub(crate) fn counted(server: &RedisServer) -> u64 {
    server.calls("incr")
}

/// Waits until the server has run this many calls of the script, counted or refused.
pub(crate) async fn ran(server: &Arc<RedisServer>, calls: u64) {
    let reached = || (server.calls("evalsha") >= calls).then_some(());
    eventually_async("the server has run the calls", reached).await;
}
