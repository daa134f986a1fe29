//! A Redis Cluster of the test's own.

use std::collections::BTreeMap;

use crate::redis_server::RedisServer;
use crate::wait::{eventually, unique_name};

const PRIMARIES: usize = 3;
const SLOTS: usize = 16_384;
/// After how many milliseconds of silence a node counts as failed. A stall of the machine
/// should not.
const NODE_TIMEOUT: &str = "2000";

/// Three primaries with an equal number of slots each, and replicas, all on the loopback
/// interface. They are gone when this is dropped.
#[derive(Debug)]
pub struct RedisCluster {
    nodes: Vec<Node>,
}

#[derive(Debug)]
struct Node {
    server: RedisServer,
    id: String,
    /// Neither killed nor suspended.
    live: bool,
}

/// What one node knows of another.
#[derive(Clone, PartialEq, Eq, Debug)]
struct View {
    flags: String,
    primary: String,
    slots: Vec<(usize, usize)>,
}

impl RedisCluster {
    /// Starts a cluster of three primaries.
    ///
    /// # Panics
    /// If there is no `redis-server`, or if the cluster does not come up.
    pub fn start() -> Self {
        Self::with_replicas(0)
    }

    /// Starts a cluster of three primaries, the first of which have a replica each: node 3 is that
    /// of node 0.
    ///
    /// # Panics
    /// As [`RedisCluster::start`], or if there are more replicas than primaries.
    pub fn with_replicas(replicas: usize) -> Self {
        assert!(replicas <= PRIMARIES, "one replica for each primary at most");
        let nodes = (0..PRIMARIES + replicas).map(|_| Node::start()).collect();
        let cluster = Self { nodes };
        cluster.join();
        for replica in PRIMARIES..PRIMARIES + replicas {
            cluster.replicate(replica, replica - PRIMARIES);
        }
        cluster
    }

    fn join(&self) {
        let first = self.node(0).port().to_string();
        for (number, node) in self.nodes.iter().enumerate() {
            // Otherwise they all have the same and need time to sort that out.
            let epoch = (number + 1).to_string();
            node.server.command::<String>(&["CLUSTER", "SET-CONFIG-EPOCH", &epoch]);
            if number > 0 {
                node.server.command::<String>(&["CLUSTER", "MEET", "127.0.0.1", &first]);
            }
        }
        for number in 0..PRIMARIES {
            let slots: Vec<String> = (number * SLOTS / PRIMARIES..(number + 1) * SLOTS / PRIMARIES)
                .map(|slot| slot.to_string())
                .collect();
            let mut words = vec!["CLUSTER", "ADDSLOTS"];
            words.extend(slots.iter().map(String::as_str));
            self.node(number).command::<String>(&words);
        }
        eventually("the nodes form a cluster", || self.agrees().then_some(()));
    }

    fn replicate(&self, replica: usize, primary: usize) {
        let id = self.nodes[primary].id.as_str();
        self.node(replica).command::<String>(&["CLUSTER", "REPLICATE", id]);
        eventually("the replica follows its primary", || {
            (self.replicates(replica) && self.agrees()).then_some(())
        });
    }

    /// A node's server. Kill and suspend it through the cluster.
    pub fn node(&self, number: usize) -> &RedisServer {
        &self.nodes[number].server
    }

    /// The addresses of all nodes as URLs.
    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(|node| node.server.url()).collect()
    }

    /// The slot of a key, or of a name in braces.
    pub fn slot(&self, key: &str) -> usize {
        self.any().command(&["CLUSTER", "KEYSLOT", key])
    }

    /// A group name that no other test in this process uses and whose keys this node serves.
    ///
    /// # Panics
    /// If the node serves no slots.
    pub fn name_served_by(&self, number: usize, purpose: &str) -> String {
        eventually("a name falls into the node's slots", || {
            let name = unique_name(purpose);
            (self.primary(self.slot(&name)) == Some(number)).then_some(name)
        })
    }

    /// The node that serves the slot, as far as the first live node knows.
    pub fn primary(&self, slot: usize) -> Option<usize> {
        let serves = |view: &View| {
            view.slots.iter().any(|&(first, last)| (first..=last).contains(&slot))
                && !view.flags.contains("fail")
        };
        let known = known_nodes(self.any())?;
        let (id, _) = known.into_iter().find(|(_, view)| serves(view))?;
        self.nodes.iter().position(|node| node.id == id)
    }

    /// How often a command ran on the live nodes, scripts' calls included. Replicas execute what
    /// their primaries do, too.
    pub fn calls(&self, name: &str) -> u64 {
        self.live().map(|server| server.calls(name)).sum()
    }

    /// Kills the node.
    pub fn kill(&mut self, number: usize) {
        let node = &mut self.nodes[number];
        node.live = false;
        node.server.kill();
    }

    /// Starts the killed node again. It knows from its directory who it was.
    ///
    /// # Panics
    /// If it does not come up.
    pub fn restart(&mut self, number: usize) {
        let node = &mut self.nodes[number];
        node.server.restart();
        node.live = true;
    }

    /// Suspends the node with SIGSTOP.
    pub fn suspend(&mut self, number: usize) {
        self.nodes[number].live = false;
        self.node(number).suspend();
    }

    /// Lets the suspended node go on.
    pub fn resume(&mut self, number: usize) {
        self.node(number).resume();
        self.nodes[number].live = true;
    }

    /// Has the replica take over from its live primary, in agreement with it. Returns when all
    /// know.
    ///
    /// # Panics
    /// If that takes too long.
    pub fn promote(&self, replica: usize) {
        self.node(replica).command::<String>(&["CLUSTER", "FAILOVER"]);
        eventually("the replica is promoted", || {
            let role: Vec<redis::Value> = self.node(replica).command(&["ROLE"]);
            let promoted = role[0] == redis::Value::BulkString(b"master".to_vec());
            // The old primary may go on for a while.
            (promoted && self.agrees()).then_some(())
        });
    }

    /// Waits until the live nodes agree that the slot is served by another node than this, which
    /// they can do only after the failed one was replaced.
    ///
    /// # Panics
    /// If that takes too long.
    pub fn failed_over(&self, slot: usize, from: usize) -> usize {
        eventually("a replica takes over", || {
            let primary = self.primary(slot)?;
            (primary != from && self.agrees()).then_some(primary)
        })
    }

    /// Waits until the live nodes agree on who serves what and say that all is well.
    ///
    /// # Panics
    /// If that takes too long.
    pub fn settled(&self) {
        eventually("the cluster is well", || self.agrees().then_some(()));
    }

    /// Whether the node is a replica that is in step with its primary.
    pub fn replicates(&self, number: usize) -> bool {
        let info: String = self.node(number).command(&["INFO", "replication"]);
        info.contains("role:slave") && info.contains("master_link_status:up")
    }

    /// Has clients sent to another port of 127.0.0.1 when they look for this node, which is
    /// restarted for that: Redis 6.2 takes it only then.
    ///
    /// # Panics
    /// If the others do not take it up.
    pub fn announce(&mut self, number: usize, port: u16) {
        self.kill(number);
        let options = ["--cluster-announce-port", &port.to_string()];
        self.nodes[number].server.restart_with(&options);
        self.nodes[number].live = true;
        let address = format!("127.0.0.1:{port}@");
        eventually("all nodes name the port", || {
            let nodes = |server: &RedisServer| server.command::<String>(&["CLUSTER", "NODES"]);
            let named = self.live().all(|server| nodes(server).contains(&address));
            (named && self.agrees()).then_some(())
        });
    }

    /// Begins to move the slot to another node.
    ///
    /// # Panics
    /// If nobody serves the slot.
    pub fn begin_migration(&self, slot: usize, to: usize) -> SlotMigration<'_> {
        let from = self.primary(slot).expect("somebody serves the slot");
        let migration = SlotMigration { cluster: self, slot, from, to };
        migration.set(to, &["IMPORTING", &self.nodes[from].id]);
        migration.set(from, &["MIGRATING", &self.nodes[to].id]);
        migration
    }

    /// Whether all live nodes say that all is well and know the same about each other.
    fn agrees(&self) -> bool {
        let mut views = self.live().map(|server| {
            let info: String = server.command(&["CLUSTER", "INFO"]);
            let view = known_nodes(server)?;
            let complete = view.len() == self.nodes.len();
            let met = view.values().all(|node| !node.flags.contains("handshake"));
            (complete && met && info.contains("cluster_state:ok")).then_some(view)
        });
        let Some(Some(first)) = views.next() else { return false };
        views.all(|view| view.as_ref() == Some(&first))
    }

    fn live(&self) -> impl Iterator<Item = &RedisServer> {
        self.nodes.iter().filter(|node| node.live).map(|node| &node.server)
    }

    fn any(&self) -> &RedisServer {
        self.live().next().expect("a live node")
    }
}

impl Node {
    fn start() -> Self {
        // The bus has the port that is 10000 higher. A start that fails because there is none or
        // because it is taken is made again on other ports.
        let options = ["--cluster-enabled", "yes", "--cluster-node-timeout", NODE_TIMEOUT];
        let server = RedisServer::start_with(&options);
        let id = server.command(&["CLUSTER", "MYID"]);
        Self { server, id, live: true }
    }
}

/// A slot on its way from one node to another, step by step.
#[derive(Clone, Copy, Debug)]
pub struct SlotMigration<'a> {
    cluster: &'a RedisCluster,
    slot: usize,
    from: usize,
    to: usize,
}

impl SlotMigration<'_> {
    /// The keys of the slot that are still where they were.
    pub fn keys(&self) -> Vec<String> {
        let slot = self.slot.to_string();
        self.source().command(&["CLUSTER", "GETKEYSINSLOT", &slot, "1000"])
    }

    /// Moves one key. Whether it was there.
    ///
    /// # Panics
    /// If the target has it already.
    pub fn move_key(&self, key: &str) -> bool {
        let port = self.target().port().to_string();
        let words = ["MIGRATE", "127.0.0.1", &port, key, "0", "10000"];
        self.source().command::<String>(&words) == "OK"
    }

    /// Moves the keys that are left and hands the slot over. Returns as soon as both nodes know.
    ///
    /// # Panics
    /// If a key was created on the target meanwhile.
    pub fn finish(self) {
        while let Some(key) = self.keys().first() {
            self.move_key(key);
        }
        let id = self.cluster.nodes[self.to].id.as_str();
        self.set(self.to, &["NODE", id]);
        self.set(self.from, &["NODE", id]);
    }

    /// The node that has the slot until the end.
    pub fn source(&self) -> &RedisServer {
        self.cluster.node(self.from)
    }

    /// The node that gets it.
    pub fn target(&self) -> &RedisServer {
        self.cluster.node(self.to)
    }

    fn set(&self, node: usize, words: &[&str]) {
        let slot = self.slot.to_string();
        let words = [&["CLUSTER", "SETSLOT", &slot], words].concat();
        self.cluster.node(node).command::<String>(&words);
    }
}

/// What a node knows about all, by their ids. None while it cannot be asked.
fn known_nodes(server: &RedisServer) -> Option<BTreeMap<String, View>> {
    let text: String = server.try_command(&["CLUSTER", "NODES"]).ok()?;
    let nodes = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let [id, _, flags, primary, _, _, _, _, slots @ ..] = words.as_slice() else { return None };
        // In brackets is what moves.
        let slots = slots.iter().filter(|slots| !slots.starts_with('['));
        let view = View {
            flags: flags.trim_start_matches("myself,").to_owned(),
            primary: (*primary).to_owned(),
            slots: slots.filter_map(|slots| range(slots)).collect(),
        };
        Some(((*id).to_owned(), view))
    });
    Some(nodes.collect())
}

fn range(slots: &str) -> Option<(usize, usize)> {
    let (first, last) = slots.split_once('-').unwrap_or((slots, slots));
    Some((first.parse().ok()?, last.parse().ok()?))
}
