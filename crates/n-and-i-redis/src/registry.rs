//! The registry: one round trip for a registration.

use std::fmt;
use std::sync::Arc;

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
/// Opening a TLS connection can take long compared to a short interval, since the client reads
/// the system's certificates each time.
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
        let mut borrowed = self.connections.get().await.map_err(error::while_connecting)?;
        let call = Call {
            key: counters::guard_key(request.config()),
            arguments: counters::arguments(&request),
        };
        let mut loaded = false;
        let mut result = call.run("EVALSHA", SCRIPT_SHA1, borrowed.connection()).await;
        if result.as_ref().is_err_and(is_no_script) {
            loaded = true;
            result = call.run("EVAL", SCRIPT, borrowed.connection()).await;
        }
        match result {
            Ok(answer) => {
                borrowed.keep();
                let registered = counters::parse(request.config(), &answer)?;
                Ok(if loaded { registered.with_script_loaded(SCRIPT_SHA1) } else { registered })
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

impl Call {
    async fn run(
        &self,
        command: &str,
        script: &str,
        connection: &mut MultiplexedConnection,
    ) -> Result<String, RedisError> {
        redis::cmd(command)
            .arg(script)
            .arg(1)
            .arg(&self.key)
            .arg(&self.arguments)
            .query_async(connection)
            .await
    }
}

fn is_no_script(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}
