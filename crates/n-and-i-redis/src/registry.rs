//! The registry: one round trip for a registration.

use std::fmt;
use std::sync::Arc;

use n_and_i::scripts::{self, Call};
use n_and_i::{
    BoxError, Config, Layout, Registered, RegistrationError, Registry, Request, WorkerId,
};
use redis::aio::ConnectionLike;
use redis::{ErrorKind, RedisError, ServerErrorKind};

use crate::connection::{self, Connections, Shared};
use crate::error;

/// A response time limit that is none: a century.
#[cfg(feature = "cluster")]
const UNLIMITED: std::time::Duration = std::time::Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// A [`Registry`] in one Redis server, or in what stands behind its address.
///
/// Clones share one connection, as do any number of workers with clones of it. The connection
/// is opened when first needed. It is given up, and a new one opened for the next
/// registration, after anything that leaves its state in doubt: an I/O error, a registration
/// that was abandoned, an answer that says that the server is no longer the right one or does
/// not know the user any more. So the worker goes on as soon as the server does, whatever
/// happened: restart, fail-over behind the same address, a peer that went silent. Only
/// [`from_shared`](Self::from_shared) recovers from less.
///
/// A connection that was closed while it was idle is replaced in the same registration. One that
/// a NAT or a balancer forgot without a word is noticed only when a registration hangs: where
/// that happens sooner than the interval, make the client with a TCP keepalive
/// (`redis::io::tcp::TcpSettings::set_keepalive`).
///
/// A response has no time limit of its own; the worker gives a registration up after one
/// interval.
#[derive(Clone)]
pub struct RedisRegistry {
    connections: Arc<Connections>,
}

impl RedisRegistry {
    /// Registers through connections that are opened from `client`. Nothing is sent yet.
    ///
    /// The way to register in one server, or in what a balancer makes look like one. Opening a
    /// connection may take a quarter of the interval, but at least a second. TLS takes a while, since
    /// the client reads the system's certificates each time.
    pub fn from_client(client: redis::Client) -> Self {
        Self::new(Connections::new(connection::from_client(client)))
    }

    /// Registers through connections that `factory` opens: those of a sentinel or a pool, or
    /// with credentials that change.
    ///
    /// A connection that it gave is used by all clones of the registry until it is in doubt, as
    /// described [above](RedisRegistry); only then the factory is asked for another. So the worker
    /// recovers from what the factory recovers from, as soon as it does. Measured with redis-rs's
    /// `SentinelClient`, workers owned again within three intervals of the sentinels' agreement on
    /// a new primary that takes writes; with a password that changed, three intervals after the factory knew it.
    ///
    /// It is asked by one worker at a time, and the others wait; one that takes longer than the interval is
    /// dropped and asked anew, so it should give up sooner. Have the connection wait for answers without a
    /// limit of its own (`AsyncConnectionConfig::set_response_timeout(None)`): the worker's
    /// deadline rules.
    ///
    /// A [`MultiplexedConnection`](redis::aio::MultiplexedConnection) that was closed while idle is
    /// replaced in the same registration. With any other kind this costs one lease, since what it sent is not
    /// known.
    ///
    /// Whatever a client repeats by itself may be counted twice, which makes the whole group stand
    /// down. A multiplexed connection repeats nothing. A cluster's does, unless it has
    /// `retries(0)`: use `from_cluster`.
    ///
    /// ```no_run
    /// # use n_and_i_redis::RedisRegistry;
    /// # async fn password_of_today() -> Result<String, std::io::Error> { Ok(String::new()) }
    /// let registry = RedisRegistry::from_factory(async || {
    ///     let url = format!("redis://:{}@127.0.0.1/", password_of_today().await?);
    ///     let config = redis::AsyncConnectionConfig::new().set_response_timeout(None);
    ///     let client = redis::Client::open(url)?;
    ///     let connection = client.get_multiplexed_async_connection_with_config(&config).await?;
    ///     Ok::<_, n_and_i::BoxError>(connection)
    /// });
    /// ```
    ///
    /// Its errors may be of any type. Those of redis-rs, in a box too, are told apart; with others
    /// the registration counts as not made. A closure that captures something clones it before
    /// the future: `move || { let client = client.clone(); async move { … } }`.
    pub fn from_factory<F, O, C, E>(factory: F) -> Self
    where
        F: Fn() -> O + Send + Sync + 'static,
        O: Future<Output = Result<C, E>> + Send + 'static,
        C: ConnectionLike + Clone + Send + Sync + 'static,
        E: Into<BoxError> + 'static,
    {
        Self::new(Connections::new(connection::from_factory(factory)))
    }

    /// Registers through this connection and no other: one that the application has already, and
    /// that opens itself anew, as a `redis::aio::ConnectionManager` does.
    ///
    /// It recovers from what the connection recovers from. For a `ConnectionManager` of redis-rs
    /// 1.8 that is a server that was restarted. It tries to connect after pauses of its own, with default
    /// settings up to seven seconds, so the worker may own again only that much later. It does not
    /// recover from a peer that went silent, nor from a user name or password that was refused once:
    /// then no registration succeeds any more, until the application makes another manager. Prefer
    /// [`from_client`](Self::from_client) unless the connection must be shared. A
    /// multiplexed connection is not enough: it never recovers from anything.
    pub fn from_shared<C>(connection: C) -> Self
    where
        C: ConnectionLike + Clone + Send + Sync + 'static,
    {
        Self::new(Connections::only(Box::new(connection)))
    }

    /// Registers in a cluster. Nothing is sent yet.
    ///
    /// The client is built with no retries and no time limits of its own, whatever `builder` says:
    /// the worker repeats what may be repeated, and its deadline rules. Opening the connections
    /// gives each node a quarter of the interval, and is done anew whenever an answer says that the
    /// slot is elsewhere. So name several nodes, and choose an interval of which a quarter is long
    /// enough to connect in.
    ///
    /// A group's keys share one slot, so one node counts the whole group. What a replica that takes
    /// over may have lost is not rested on. From when there was a node again that served the slot, workers owned
    /// again after two to five intervals, measured with three workers on Redis 7.0, when
    /// a primary was killed or went silent and a replica took over, when they changed places in
    /// agreement, when the cluster was down, and when replies were lost.
    ///
    /// While a slot is moved to another node, step by step, registrations fail and leases end. They are not
    /// sent after the keys that have moved already (`ASK`): a counter begun on the new node would be in the way of those
    /// that follow (`BUSYKEY`). Three intervals after the end of the move the group owned again.
    ///
    /// A connection that was closed while it was idle costs one lease, except with
    /// `use_protocol(ProtocolVersion::RESP3)`, with which the client notices by itself.
    ///
    /// # Errors
    /// If the client cannot be built.
    #[cfg(feature = "cluster")]
    pub fn from_cluster(builder: redis::cluster::ClusterClientBuilder) -> Result<Self, RedisError> {
        let client = builder
            .retries(0)
            .response_timeout(UNLIMITED)
            .overall_response_timeout(None)
            .build()?;
        Ok(Self::new(Connections::new(connection::from_cluster_client(client))))
    }

    fn new(connections: Connections) -> Self {
        Self { connections: Arc::new(connections) }
    }

    async fn register_in(&self, request: Request<'_>) -> Result<Registered, RegistrationError> {
        let interval = request.config().interval();
        let call = Call::register(&request);
        let mut borrowed = self.connections.get(interval).await?;
        if borrowed.connection().is_closed().await {
            drop(borrowed);
            borrowed = self.connections.get(interval).await?;
        }
        let (result, loaded) = run(&call, borrowed.connection()).await;
        match result {
            Ok(answer) => {
                borrowed.keep();
                let registered = scripts::parse(request.config(), &answer)?;
                Ok(if loaded {
                    registered.with_script_loaded(call.script.sha1)
                } else {
                    registered
                })
            }
            Err(error) => {
                if error::leaves_connection_usable(&error) {
                    borrowed.keep();
                }
                Err(error::after_sending(error))
            }
        }
    }
}

impl Registry for RedisRegistry {
    fn register(
        &self,
        request: Request<'_>,
    ) -> impl Future<Output = Result<Registered, RegistrationError>> + Send {
        self.register_in(request)
    }

    fn kind(&self) -> &'static str {
        "redis"
    }

    fn supports(&self, _: Layout) -> bool {
        true
    }

    async fn release(&self, config: &Config, worker: WorkerId) {
        if let Some(call) = Call::release(config, worker)
            && let Ok(mut borrowed) = self.connections.get(config.interval()).await
            && run(&call, borrowed.connection()).await.0.is_ok()
        {
            borrowed.keep();
        }
    }
}

impl fmt::Debug for RedisRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The client's own output would show the password.
        f.debug_struct("RedisRegistry").finish_non_exhaustive()
    }
}

/// Runs a script, and says whether it had to be loaded.
async fn run(call: &Call, connection: &mut dyn Shared) -> (Result<String, RedisError>, bool) {
    let result = run_as("EVALSHA", call.script.sha1, call, connection).await;
    if result.as_ref().is_err_and(is_no_script) {
        (run_as("EVAL", call.script.text, call, connection).await, true)
    } else {
        (result, false)
    }
}

async fn run_as(
    command: &str,
    script: &str,
    call: &Call,
    connection: &mut dyn Shared,
) -> Result<String, RedisError> {
    let mut command = redis::cmd(command);
    command.arg(script).arg(1).arg(&call.key).arg(&call.arguments);
    let answer = connection.req_packed_command(&command).await?;
    // A cluster's connection hands some errors of the server over as values.
    Ok(redis::from_redis_value(answer.extract_error()?)?)
}

fn is_no_script(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}

#[cfg(all(test, feature = "tokio", not(feature = "smol")))]
mod tests {
    use std::time::Duration;

    use n_and_i::{Config, Stamp};

    use super::*;

    #[test]
    fn outside_tokio_the_error_says_what_to_do() {
        let registry = RedisRegistry::from_client(redis::Client::open("redis://[::1]:1").unwrap());
        let config = Config::new("elsewhere", Duration::from_secs(1)).unwrap();
        let request = Request::new(&config, Stamp::from_u128(1), None);
        let error = futures_lite::future::block_on(registry.register(request)).unwrap_err();
        let RegistrationError::Configuration(cause) = error else { panic!("{error:?}") };
        let text = cause.to_string();
        assert!(text.contains("no Tokio runtime") && text.contains("feature `smol`"), "{text}");
    }
}
