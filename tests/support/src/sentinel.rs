//! A Redis primary with replicas, watched by sentinels.

use std::collections::HashMap;
use std::fs::{self, File};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::redis_server::{RedisServer, free_port, no_server, program};
use crate::wait::eventually;

/// What the sentinels call the primary.
const NAME: &str = "primary";

/// A primary, replicas, and sentinels that agree on fail-overs, all on the loopback interface.
/// They are gone when this is dropped.
#[derive(Debug)]
pub struct SentinelSetup {
    // Dropped first, so that nothing is failed over at the end.
    sentinels: Vec<Sentinel>,
    servers: Vec<RedisServer>,
}

/// A running sentinel.
#[derive(Debug)]
struct Sentinel {
    child: Child,
    port: u16,
    _directory: TempDir,
}

impl SentinelSetup {
    /// Starts a primary, server 0, with two replicas and three sentinels, which replace a primary
    /// that has been silent for a second. A primary without replicas refuses to write.
    ///
    /// # Panics
    /// If there is no `redis-server`, or if it does not come up.
    pub fn start() -> Self {
        // Without a delay replicas follow a new primary at once.
        let options = ["--min-replicas-to-write", "1", "--repl-diskless-sync-delay", "0"];
        let servers: Vec<_> = (0..3).map(|_| RedisServer::start_with(&options)).collect();
        let port = servers[0].port().to_string();
        for replica in &servers[1..] {
            replica.command::<String>(&["REPLICAOF", "127.0.0.1", &port]);
        }
        let sentinels = (0..3).map(|_| Sentinel::start(servers[0].port())).collect();
        let setup = Self { sentinels, servers };
        eventually("replicas and sentinels know the primary", || {
            (setup.replicas() == 2 && setup.sentinels.iter().all(Sentinel::knows_all)).then_some(())
        });
        setup
    }

    /// What the sentinels call the primary.
    pub fn name(&self) -> &'static str {
        NAME
    }

    /// The addresses of the sentinels as URLs.
    pub fn urls(&self) -> Vec<String> {
        self.sentinels.iter().map(Sentinel::url).collect()
    }

    /// A server.
    pub fn server(&self, number: usize) -> &RedisServer {
        &self.servers[number]
    }

    /// A server, to kill it or to start it again.
    pub fn server_mut(&mut self, number: usize) -> &mut RedisServer {
        &mut self.servers[number]
    }

    /// The server that the sentinels say is the primary, once they agree on it.
    pub fn primary(&self) -> Option<usize> {
        let mut ports = self.sentinels.iter().map(Sentinel::primary);
        let port = ports.next()??;
        let agreed = ports.all(|other| other == Some(port));
        self.servers.iter().position(|server| agreed && server.port() == port)
    }

    /// Waits until the sentinels agree on another primary than this one.
    ///
    /// # Panics
    /// If that takes too long.
    pub fn failed_over(&self, from: usize) -> usize {
        eventually("the sentinels agree on another primary", || {
            self.primary().filter(|&primary| primary != from)
        })
    }

    /// Has the sentinels replace the primary although it is well.
    ///
    /// # Panics
    /// If they refuse.
    pub fn fail_over(&self) {
        self.sentinels[0].try_command::<String>(&["SENTINEL", "FAILOVER", NAME]).unwrap();
    }

    /// Waits until the primary has this many replicas in step.
    ///
    /// # Panics
    /// If that takes too long.
    pub fn has_replicas(&self, count: usize) {
        eventually("the primary has its replicas", || (self.replicas() == count).then_some(()));
    }

    fn replicas(&self) -> usize {
        let Some(primary) = self.primary() else { return 0 };
        let info = self.servers[primary].try_command::<String>(&["INFO", "replication"]);
        // Those that count for `min-replicas-to-write`.
        let count = |info: String| {
            let mut lines = info.lines();
            lines.find_map(|line| line.strip_prefix("min_slaves_good_slaves:")?.parse().ok())
        };
        info.ok().and_then(count).unwrap_or(0)
    }
}

impl Sentinel {
    fn start(primary: u16) -> Self {
        // The port can be taken between finding it free and the sentinel's taking it.
        for _ in 0..10 {
            if let Some(sentinel) = Self::launch(primary) {
                return sentinel;
            }
        }
        panic!("no sentinel started");
    }

    fn launch(primary: u16) -> Option<Self> {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let port = free_port();
        // Sentinels keep what they learn in this file.
        let file = directory.path().join("sentinel.conf");
        let text = format!(
            "bind 127.0.0.1\nport {port}\ndir {}\n\
             sentinel monitor {NAME} 127.0.0.1 {primary} 2\n\
             sentinel down-after-milliseconds {NAME} 1000\n\
             sentinel failover-timeout {NAME} 3000\n",
            directory.path().display(),
        );
        fs::write(&file, text).expect("a file");
        let log = File::create(directory.path().join("sentinel.log")).expect("a log file");
        let child = Command::new(program())
            .arg(&file)
            .arg("--sentinel")
            .stdin(Stdio::null())
            .stdout(log)
            .spawn();
        let child = child.unwrap_or_else(|error| panic!("{}: {error}", no_server()));
        let mut sentinel = Self { child, port, _directory: directory };
        eventually("the sentinel starts or ends", || {
            if matches!(sentinel.child.try_wait(), Ok(Some(_))) {
                return Some(None);
            }
            sentinel.try_command::<String>(&["PING"]).ok().map(Some)
        })
        .map(|_| sentinel)
    }

    fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    fn primary(&self) -> Option<u16> {
        // What redis-rs goes by. GET-MASTER-ADDR-BY-NAME says so sooner, while the other replicas
        // are still to follow.
        let known: HashMap<String, String> =
            self.try_command(&["SENTINEL", "MASTER", NAME]).ok()?;
        known.get("port")?.parse().ok()
    }

    /// Whether it has met the other two and knows both replicas, so that it can fail over.
    fn knows_all(&self) -> bool {
        let info = self.try_command::<String>(&["INFO", "sentinel"]).unwrap_or_default();
        info.contains("status=ok") && info.contains("slaves=2,sentinels=3")
    }

    fn try_command<T: redis::FromRedisValue>(&self, words: &[&str]) -> redis::RedisResult<T> {
        let client = redis::Client::open(self.url())?;
        let mut connection = client.get_connection_with_timeout(Duration::from_secs(10))?;
        let mut command = redis::cmd(words[0]);
        for word in &words[1..] {
            command.arg(word);
        }
        command.query(&mut connection)
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        // Fails only if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
