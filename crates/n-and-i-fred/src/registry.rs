//! The registry: one round trip for a registration.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use fred::error::ErrorKind;
use fred::interfaces::ClientLike;
use fred::types::config::Options;
use fred::types::{ClusterHash, CustomCommand, Resp3Frame, Value};
use fred::util::redis_keyslot;
use n_and_i::scripts::{self, Call};
use n_and_i::{Config, Layout, Registered, RegistrationError, Registry, Request, WorkerId};
use tokio::time::Instant;

use crate::connections::{Clients, Connection, Connections};
use crate::error;
use crate::suitable::ClientError;

/// A [`Registry`] in what a fred client is connected to: one server, a cluster, or the primary
/// that sentinels name.
///
/// Clones share the client, as do any number of workers with clones of it. It may be used for other
/// things as well, but not for commands that block, such as BLPOP: registrations would wait for
/// them. With a pool each registration takes the next client that is connected.
///
/// A registration is sent at most once. It has seven eighths of the interval; if the client has
/// not sent it by then, it never will. While the client knows that it is disconnected, a
/// registration fails at once, with what disconnected it. During the first delay of the reconnect
/// policy the client does not know yet; a registration waits for it.
///
/// After a registration that was not answered in time, and after an answer that says that the
/// server is no longer the right one, the client is told to connect again. Other commands in
/// flight on that connection are then repeated or fail, as the client is configured.
///
/// In a cluster, where fred can only be told to look for nodes again, it is up to
/// `unresponsive.max_timeout` to notice a silent node. That works if nothing is sent to the node
/// for that long, so a client that is also used for much else may not notice before the operating
/// system does. A slot that has moved costs one failed registration, which is tried again; while
/// it moves, registrations may fail.
#[derive(Clone)]
pub struct FredRegistry {
    connections: Arc<Connections>,
}

impl FredRegistry {
    /// Registers through this [`Client`](fred::clients::Client) or
    /// [`Pool`](fred::clients::Pool). Nothing is sent yet.
    ///
    /// Connecting it is up to you, before or after. If `fail_fast` is set in fred's `Config`, as it
    /// is by default, a first attempt that fails is the last, which `init` tells. To start before
    /// the server does, set it to false and call `connect`.
    ///
    /// # Errors
    /// If the client could stay dead or hang in a way that no option of a single call prevents.
    /// Names the setting, its value and what would be right.
    pub fn new(clients: impl Into<Clients>) -> Result<Self, ClientError> {
        Ok(Self { connections: Arc::new(Connections::new(clients.into())?) })
    }

    async fn register_in(&self, request: Request<'_>) -> Result<Registered, RegistrationError> {
        let config = request.config();
        let run = Run::new(Call::register(&request), config, self.connections.next());
        match run.script().await? {
            (Reply::Answer(answer), loaded) => {
                let registered = scripts::parse(config, &answer)?;
                let sha1 = run.call.script.sha1;
                Ok(if loaded { registered.with_script_loaded(sha1) } else { registered })
            }
            (Reply::Error(message), _) => {
                if error::is_of_another_server(&message) {
                    run.connection.renew(run.generation);
                }
                Err(scripts::server_error(message))
            }
        }
    }
}

impl Registry for FredRegistry {
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
        if let Some(call) = Call::release(config, worker) {
            // Nothing rests on it.
            let _ = Run::new(call, config, self.connections.next()).script().await;
        }
    }
}

impl fmt::Debug for FredRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FredRegistry").finish_non_exhaustive()
    }
}

/// How long a registration may take. The worker drops it after one interval, but what was
/// dropped the client still sends when it can, and what it timed itself it does not.
fn time_limit(interval: Duration) -> Duration {
    interval * 7 / 8
}

/// What the server answered.
enum Reply {
    Answer(String),
    Error(String),
}

struct Run<'a> {
    connection: &'a Arc<Connection>,
    generation: u64,
    deadline: Instant,
    call: Call,
}

impl<'a> Run<'a> {
    fn new(call: Call, config: &Config, connection: &'a Arc<Connection>) -> Self {
        Self {
            connection,
            generation: connection.generation(),
            deadline: Instant::now() + time_limit(config.interval()),
            call,
        }
    }

    /// Runs the script, and says whether it had to be loaded.
    async fn script(&self) -> Result<(Reply, bool), RegistrationError> {
        let script = self.call.script;
        let reply = self.run("EVALSHA", script.sha1).await?;
        if matches!(&reply, Reply::Error(message) if message.starts_with("NOSCRIPT")) {
            Ok((self.run("EVAL", script.text).await?, true))
        } else {
            Ok((reply, false))
        }
    }

    async fn run(
        &self,
        command: &'static str,
        script: &'static str,
    ) -> Result<Reply, RegistrationError> {
        // To fred no time at all would be no limit.
        let left = self.deadline.saturating_duration_since(Instant::now());
        let options = Options {
            max_attempts: Some(1),
            timeout: Some(left.max(Duration::from_millis(1))),
            fail_fast: true,
            ..Options::default()
        };
        let key = self.call.key.as_str();
        let mut words = vec![Value::from_static_str(script), 1.into(), key.into()];
        words.extend(self.call.arguments.iter().map(|argument| argument.as_str().into()));
        // fred's own EVALSHA ignores the options, and custom commands all policies but a slot.
        let slot = ClusterHash::Custom(redis_keyslot(key.as_bytes()));
        let command = CustomCommand::new_static(command, slot, false);
        let client = self.connection.client().with_options(&options);
        // A frame, also of an error, is the answer to this command. An `Err` is the client's.
        match client.custom_raw(command, words).await {
            Ok(frame) => Ok(read(frame)),
            Err(error) => {
                if *error.kind() == ErrorKind::Timeout {
                    self.connection.renew(self.generation);
                }
                Err(error::from_client(error, self.connection.disconnected()))
            }
        }
    }
}

fn read(frame: Resp3Frame) -> Reply {
    match frame {
        Resp3Frame::SimpleError { data, .. } => Reply::Error(data.to_string()),
        Resp3Frame::BlobError { data, .. } => {
            Reply::Error(String::from_utf8_lossy(&data).into_owned())
        }
        Resp3Frame::BlobString { data, .. } | Resp3Frame::SimpleString { data, .. } => {
            Reply::Answer(String::from_utf8_lossy(&data).into_owned())
        }
        other => Reply::Answer(format!("{other:?}")),
    }
}
