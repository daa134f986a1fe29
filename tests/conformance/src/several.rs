//! Several servers that are one to their clients: a cluster, or a primary that sentinels watch.

use std::time::Duration;

use n_and_i::Config;
use n_and_i_test_support::{FaultProxy, RedisCluster, RedisServer, SentinelSetup};

use crate::endpoint::{Address, Endpoint};
use crate::site::{Site, counted};

/// How many nodes a cluster has, replicas aside.
const PRIMARIES: usize = 3;

/// A cluster of three primaries.
#[derive(Debug)]
pub struct Cluster {
    /// The nodes.
    pub cluster: RedisCluster,
    /// What clients go through, a proxy for each node, if at all.
    pub proxies: Vec<FaultProxy>,
    /// The node that served the group when it was broken.
    pub broken: usize,
    nodes: usize,
    endpoint: Endpoint,
    group: Config,
}

impl Cluster {
    /// Primaries alone.
    pub fn new() -> Self {
        Self::of(RedisCluster::start(), PRIMARIES)
    }

    /// With a replica for each.
    pub fn with_replicas() -> Self {
        Self::of(RedisCluster::with_replicas(PRIMARIES), 2 * PRIMARIES)
    }

    /// Primaries behind proxies.
    pub fn behind_proxies() -> Self {
        let mut site = Self::new();
        for node in 0..PRIMARIES {
            let proxy = FaultProxy::start(site.cluster.node(node).port());
            site.cluster.announce(node, proxy.port());
            site.proxies.push(proxy);
        }
        site
    }

    fn of(cluster: RedisCluster, nodes: usize) -> Self {
        let ports = (0..nodes).map(|node| cluster.node(node).port()).collect();
        let endpoint = Endpoint::at(Address::Cluster(ports));
        let group = Config::new("none", Duration::from_secs(1)).expect("a good name");
        Self { cluster, proxies: Vec::new(), broken: 0, nodes, endpoint, group }
    }

    /// The slot of the group.
    pub fn slot(&self) -> usize {
        self.cluster.slot(self.group.name())
    }

    /// Remembers who serves the group, and returns it.
    ///
    /// # Panics
    /// If nobody does.
    pub fn strike(&mut self) -> usize {
        self.broken = self.cluster.primary(self.slot()).expect("somebody serves the group");
        self.broken
    }

    /// Another primary than the one that serves the group.
    pub fn other(&self) -> usize {
        (self.broken + 1) % PRIMARIES
    }
}

impl Default for Cluster {
    fn default() -> Self {
        Self::new()
    }
}

impl Site for Cluster {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn group(&self) -> &Config {
        &self.group
    }

    fn look_at(&mut self, group: Config) {
        self.group = group;
    }

    fn time(&mut self) -> (u64, u64) {
        time((0..self.nodes).map(|node| self.cluster.node(node)))
    }

    fn counters(&mut self) -> Vec<(u64, u32)> {
        let primary = self.cluster.primary(self.slot());
        primary.map_or_else(Vec::new, |node| counters(self.cluster.node(node), &self.group))
    }
}

/// A primary with two replicas and three sentinels.
#[derive(Debug)]
pub struct Watched {
    /// The servers.
    pub setup: SentinelSetup,
    endpoint: Endpoint,
    group: Config,
}

impl Watched {
    /// Starts them.
    ///
    /// # Panics
    /// If they do not come up.
    pub fn new() -> Self {
        let setup = SentinelSetup::start();
        let endpoint = Endpoint::at(Address::Sentinels(setup.urls(), setup.name()));
        let group = Config::new("none", Duration::from_secs(1)).expect("a good name");
        Self { setup, endpoint, group }
    }

    /// Waits until another than the first server is the primary and may write.
    pub fn failed_over(&self) {
        self.setup.failed_over(0);
        self.setup.has_replicas(1);
    }
}

impl Default for Watched {
    fn default() -> Self {
        Self::new()
    }
}

impl Site for Watched {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn group(&self) -> &Config {
        &self.group
    }

    fn look_at(&mut self, group: Config) {
        self.group = group;
    }

    fn time(&mut self) -> (u64, u64) {
        time((0..3).map(|server| self.setup.server(server)))
    }

    fn counters(&mut self) -> Vec<(u64, u32)> {
        let primary = self.setup.primary();
        primary.map_or_else(Vec::new, |server| counters(self.setup.server(server), &self.group))
    }
}

/// By the first that answers; all run on one machine.
fn time<'a>(mut servers: impl Iterator<Item = &'a RedisServer>) -> (u64, u64) {
    servers.find_map(|server| server.try_command(&["TIME"]).ok()).expect("one of them answers")
}

fn counters(server: &RedisServer, group: &Config) -> Vec<(u64, u32)> {
    counted(group, |words| server.try_command(words).ok())
}
