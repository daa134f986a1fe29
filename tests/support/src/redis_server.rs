//! A Redis server of the test's own.

use std::env;
use std::ffi::OsString;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::wait::eventually;

/// A running `redis-server` on a free port of the loopback interface with a directory of its
/// own. Both are gone when this is dropped.
#[derive(Debug)]
pub struct RedisServer {
    child: Option<Child>,
    directory: TempDir,
    port: u16,
    options: Vec<String>,
}

impl RedisServer {
    /// Starts a server that keeps nothing on disk.
    ///
    /// # Panics
    /// If there is no `redis-server`, saying how to get one, or if it does not come up.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts a server with more options, as on its command line: `["--maxmemory", "1mb"]`.
    ///
    /// # Panics
    /// As [`RedisServer::start`].
    pub fn start_with(options: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let options = options.iter().map(ToString::to_string).collect();
        let mut server = Self { child: None, directory, port: 0, options };
        // The port can be taken between finding it free and the server's taking it.
        for _ in 0..10 {
            server.port = free_port();
            if server.launch() {
                return server;
            }
        }
        panic!("redis-server did not start: {}", server.output());
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address as a URL: `redis://127.0.0.1:<port>`.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// The server's own directory, which lasts through restarts.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// A client for the server.
    ///
    /// # Panics
    /// Never: the address is well-formed.
    pub fn client(&self) -> redis::Client {
        redis::Client::open(self.url()).expect("a well-formed address")
    }

    /// Runs one command on a connection of its own.
    ///
    /// # Panics
    /// If the server refuses it or cannot be reached.
    pub fn command<T: redis::FromRedisValue>(&self, words: &[&str]) -> T {
        self.try_command(words).unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    /// Runs one command on a connection of its own.
    ///
    /// # Errors
    /// If the server refuses it or cannot be reached.
    pub fn try_command<T: redis::FromRedisValue>(&self, words: &[&str]) -> redis::RedisResult<T> {
        let mut connection = self.client().get_connection_with_timeout(Duration::from_secs(10))?;
        let mut command = redis::cmd(words[0]);
        for word in &words[1..] {
            command.arg(word);
        }
        command.query(&mut connection)
    }

    /// How often a command ran, scripts' calls included, as the server counts it. `name` in lower case.
    ///
    /// # Panics
    /// If the server cannot be reached.
    pub fn calls(&self, name: &str) -> u64 {
        let stats: String = self.command(&["INFO", "commandstats"]);
        let start = format!("cmdstat_{name}:calls=");
        let line = stats.lines().find_map(|line| line.strip_prefix(start.as_str()));
        line.and_then(|rest| rest.split(',').next()?.parse().ok()).unwrap_or(0)
    }

    /// Kills the server: every connection is reset, nothing is saved.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Also ends a suspended server. Fails only if it has ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Starts the killed server again, on the same port with the same options and directory.
    ///
    /// # Panics
    /// If it does not come up.
    pub fn restart(&mut self) {
        self.kill();
        eventually("the server comes back", || self.launch().then_some(()));
    }

    /// Starts the killed server again, from now on with more options.
    ///
    /// # Panics
    /// If it does not come up.
    pub fn restart_with(&mut self, options: &[&str]) {
        self.options.extend(options.iter().map(ToString::to_string));
        self.restart();
    }

    /// Starts the killed server again, this time with more options, and does not wait until it has
    /// loaded what it finds in its directory.
    ///
    /// # Panics
    /// If it does not come up.
    pub fn restart_loading(&mut self, options: &[&str]) {
        self.kill();
        eventually("the server comes back", || self.launch_with(options, false).then_some(()));
    }

    /// Suspends the server with SIGSTOP: connections stay open, nothing is answered.
    pub fn suspend(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets the suspended server go on.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let child = self.child.as_ref().expect("the server runs");
        kill_process(Pid::from_child(child), signal).expect("the server's process takes signals");
    }

    /// Whether the server came up.
    fn launch(&mut self) -> bool {
        self.launch_with(&[], true)
    }

    /// Whether the server came up, with more options, and has `loaded` if so.
    fn launch_with(&mut self, options: &[&str], loaded: bool) -> bool {
        let log = std::fs::File::create(self.log_file()).expect("a log file");
        let child = Command::new(program())
            .args(["--bind", "127.0.0.1", "--port", &self.port.to_string()])
            .args(["--save", "", "--appendonly", "no"])
            .args(["--dir".as_ref(), self.directory.path()])
            .args(&self.options)
            .args(options)
            .stdin(Stdio::null())
            .stdout(log)
            .spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{}: {error}", no_server()));
        let up = eventually("redis-server starts or ends", || {
            if matches!(child.try_wait(), Ok(Some(_))) {
                return Some(false);
            }
            match self.try_command::<String>(&["PING"]) {
                Ok(_) => Some(true),
                // Up, if only to refuse: no password was given, or it is still loading.
                Err(error) if error.code().is_some_and(|code| !loaded || code != "LOADING") => {
                    Some(true)
                }
                Err(_) => None,
            }
        });
        if up {
            self.child = Some(child);
        }
        up
    }

    fn log_file(&self) -> PathBuf {
        self.directory.path().join("redis.log")
    }

    fn output(&self) -> String {
        std::fs::read_to_string(self.log_file()).unwrap_or_default()
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("the port").port()
}

pub(crate) fn program() -> OsString {
    env::var_os("REDIS_SERVER").unwrap_or_else(|| "redis-server".into())
}

pub(crate) fn no_server() -> String {
    format!(
        "cannot run {}: install Redis 6.2 or later (tests/run does so through the system's \
         package manager), or set REDIS_SERVER to the path of a redis-server",
        program().display()
    )
}
