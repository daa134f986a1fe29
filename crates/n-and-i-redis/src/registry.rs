//! The registry: one round trip for a registration.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use n_and_i::counters::{self, SCRIPT, SCRIPT_SHA1};
use n_and_i::{Registered, RegistrationError, Registry, Request};
use redis::aio::MultiplexedConnection;
use redis::{ErrorKind, RedisError, ServerErrorKind};

use crate::connection::Connections;
use crate::error;

/// A [`Registry`] in one Redis server, or in what stands behind its address.
///
/// Clones share one connection, as do any number of workers with clones of it. The connection
/// is opened when first needed. It is given up, and a new one opened for the next
/// registration, after anything that leaves its state in doubt: an I/O error, a registration
/// that was abandoned, an answer that says that the server is no longer the right one or does
/// not know the user any more. So the worker goes on as soon as the server does, whatever
/// happened: restart, fail-over behind the same address, a peer that went silent.
///
/// A connection that was closed while it was idle is replaced in the same registration. One that
/// a NAT or a balancer forgot without a word is noticed only when a registration hangs: where
/// that happens sooner than the interval, make the client with a TCP keepalive
/// (`redis::io::tcp::TcpSettings::set_keepalive`).
///
/// Opening may take a quarter of the interval, but at least a second. A TLS connection takes a while, since
/// the client reads the system's certificates each time.
///
/// A response has no time limit of its own; the worker gives a registration up after one
/// interval.
#[derive(Clone)]
pub struct RedisRegistry {
    connections: Arc<Connections>,
}

impl RedisRegistry {
    /// Registers through connections that are opened from `client`. Nothing is sent yet.
    pub fn from_client(client: redis::Client) -> Self {
        Self { connections: Arc::new(Connections::new(client)) }
    }

    async fn register_in(&self, request: Request<'_>) -> Result<Registered, RegistrationError> {
        let interval = request.config().interval();
        let call = Call::new(&request);
        let mut borrowed = self.connections.get(interval).await.map_err(error::while_connecting)?;
        let mut result = call.run("EVALSHA", SCRIPT_SHA1, borrowed.connection()).await;
        if let Err(Unanswered { submitted: false, .. }) = result {
            // Closed while nobody used it, by a server or a balancer that dislikes idleness.
            drop(borrowed);
            borrowed = self.connections.get(interval).await.map_err(error::while_connecting)?;
            result = call.run("EVALSHA", SCRIPT_SHA1, borrowed.connection()).await;
        }
        let mut loaded = false;
        if result.as_ref().is_err_and(|unanswered| is_no_script(&unanswered.error)) {
            loaded = true;
            result = call.run("EVAL", SCRIPT, borrowed.connection()).await;
        }
        match result {
            Ok(answer) => {
                borrowed.keep();
                let registered = counters::parse(request.config(), &answer)?;
                Ok(if loaded { registered.with_script_loaded(SCRIPT_SHA1) } else { registered })
            }
            Err(Unanswered { error, submitted }) => {
                if error::leaves_connection_usable(&error) {
                    borrowed.keep();
                }
                Err(if submitted {
                    error::after_sending(error)
                } else {
                    error::while_connecting(error)
                })
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
}

impl fmt::Debug for RedisRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The client's own output would show the password.
        f.debug_struct("RedisRegistry").finish_non_exhaustive()
    }
}

struct Call {
    key: String,
    arguments: [String; 3],
}

/// A call that failed. Unless it was `submitted` nothing can have been sent.
struct Unanswered {
    error: RedisError,
    submitted: bool,
}

impl Call {
    fn new(request: &Request<'_>) -> Self {
        Self { key: counters::guard_key(request.config()), arguments: counters::arguments(request) }
    }

    async fn run(
        &self,
        command: &str,
        script: &str,
        connection: &mut MultiplexedConnection,
    ) -> Result<String, Unanswered> {
        let mut command = redis::cmd(command);
        command.arg(script).arg(1).arg(&self.key).arg(&self.arguments);
        let mut answer = pin!(command.query_async(connection));
        // The first poll hands the command to the connection's task. It fails there and then only
        // if that task has ended, which it does when the connection is closed.
        let first = poll_fn(|cx| Poll::Ready(answer.as_mut().poll(cx))).await;
        let (result, submitted) = match first {
            Poll::Ready(Err(error)) if error.is_io_error() => (Err(error), false),
            Poll::Ready(result) => (result, true),
            Poll::Pending => (answer.await, true),
        };
        result.map_err(|error| Unanswered { error, submitted })
    }
}

fn is_no_script(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}
