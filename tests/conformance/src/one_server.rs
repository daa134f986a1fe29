//! A single server of a row's own, with what stands in front of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use n_and_i::Config;
use n_and_i_test_support::{FaultProxy, RedisServer};
use redis::{FromRedisValue, RedisResult};

use crate::endpoint::Endpoint;
use crate::site::{Site, counted};
use crate::tls::TlsProxy;

/// What a row breaks and repairs.
pub struct OneServer {
    /// The server. Besides the workers' user it has one for the test, `admin`.
    pub server: RedisServer,
    /// Where clients find it.
    pub endpoint: Endpoint,
    /// A proxy that clients go through.
    pub proxy: Option<FaultProxy>,
    /// TLS that clients go through.
    pub tls: Option<TlsProxy>,
    /// The group that is being looked at.
    pub group: Config,
    /// A connection of the test's that is kept.
    pub kept: Option<redis::Connection>,
    /// What goes on meanwhile.
    pub background: Option<Background>,
}

/// The user whose commands the test runs, whatever becomes of the others.
const ADMIN: [&str; 6] = ["--user", "admin", "on", ">admin", "~*", "+@all"];

impl OneServer {
    /// A server with these options, reached directly.
    pub fn new(options: &[&str]) -> Self {
        let server = RedisServer::start_with(&[&ADMIN, options].concat());
        let endpoint = Endpoint::tcp(server.port());
        Self::of(server, endpoint)
    }

    /// A server behind a proxy.
    pub fn behind_proxy() -> Self {
        let mut site = Self::new(&[]);
        let proxy = FaultProxy::start(site.server.port());
        site.endpoint = Endpoint::tcp(proxy.port());
        site.proxy = Some(proxy);
        site
    }

    fn of(server: RedisServer, endpoint: Endpoint) -> Self {
        let group = Config::new("none", Duration::from_secs(1)).expect("a good name");
        let (proxy, tls, kept, background) = (None, None, None, None);
        Self { server, endpoint, proxy, tls, group, kept, background }
    }

    /// The proxy.
    ///
    /// # Panics
    /// If the row has none.
    pub fn proxy(&self) -> &FaultProxy {
        self.proxy.as_ref().expect("a site with a proxy")
    }

    /// The end of TLS.
    ///
    /// # Panics
    /// If the row has none.
    pub fn tls(&self) -> &TlsProxy {
        self.tls.as_ref().expect("a site with TLS")
    }

    /// Runs a command as `admin`.
    ///
    /// # Panics
    /// If the server refuses it or cannot be reached.
    pub fn admin<T: FromRedisValue>(&mut self, words: &[&str]) -> T {
        self.try_admin(words).unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    /// Runs a command as `admin`.
    ///
    /// # Errors
    /// If the server refuses it or cannot be reached.
    pub fn try_admin<T: FromRedisValue>(&mut self, words: &[&str]) -> RedisResult<T> {
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        match &mut self.kept {
            Some(connection) => command.query(connection),
            None => command.query(&mut admin(self.server.port())?),
        }
    }

    /// Keeps the connection that commands are run on, from now on.
    ///
    /// # Panics
    /// If the server cannot be reached.
    pub fn keep_admin(&mut self) {
        self.kept = Some(admin(self.server.port()).expect("a connection"));
    }

    /// Resets every connection of others.
    pub fn kill_clients(&mut self) {
        self.admin::<u64>(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
    }

    /// Changes a setting of the server.
    pub fn set(&mut self, setting: &str, value: &str) {
        self.admin::<String>(&["CONFIG", "SET", setting, value]);
    }

    /// Repeats `act` until [`OneServer::background`] is taken.
    pub fn meanwhile(&mut self, pause: Duration, mut act: impl FnMut(u16) + Send + 'static) {
        let port = self.server.port();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::SeqCst) {
                act(port);
                thread::sleep(pause);
            }
        });
        self.background = Some(Background { stop, thread: Some(thread) });
    }
}

impl Site for OneServer {
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
        self.admin(&["TIME"])
    }

    fn counters(&mut self) -> Vec<(u64, u32)> {
        let group = self.group.clone();
        counted(&group, |words| self.try_admin(words).ok())
    }
}

/// A connection as `admin`.
///
/// # Errors
/// If the server cannot be reached.
pub fn admin(port: u16) -> RedisResult<redis::Connection> {
    let client = redis::Client::open(format!("redis://admin:admin@127.0.0.1:{port}/"))?;
    let connection = client.get_connection_with_timeout(Duration::from_secs(5))?;
    // A server that does not answer must not stop the test.
    connection.set_read_timeout(Some(Duration::from_secs(5)))?;
    Ok(connection)
}

/// Something that goes on until this is dropped.
#[derive(Debug)]
pub struct Background {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// Begins nothing new, and calls `interrupt` until what goes on has ended.
    pub fn end(self, mut interrupt: impl FnMut()) {
        self.stop.store(true, Ordering::SeqCst);
        while self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            interrupt();
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            // If it panicked it has said so.
            drop(thread.join());
        }
    }
}

impl std::fmt::Debug for OneServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("OneServer");
        debug.field("server", &self.server).field("endpoint", &self.endpoint);
        debug.finish_non_exhaustive()
    }
}
