//! What is held to the rows: a client on a runtime.

use std::time::Duration;

use fred::clients::Client as FredClient;
use fred::interfaces::ClientLike;
use fred::types::Builder;
use fred::types::config::{Config as FredConfig, ReconnectPolicy};
use n_and_i::MemoryRegistry;
use n_and_i_fred::FredRegistry;
use n_and_i_redis::RedisRegistry;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};

use crate::endpoint::Endpoint;
use crate::executor::{Executor, Runtime};
use crate::registry::AnyRegistry;

/// A client on a runtime.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subject {
    /// As in the table.
    pub name: &'static str,
    /// The client.
    pub client: Client,
    /// The runtime.
    pub runtime: Runtime,
}

/// How a registry is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Client {
    /// `RedisRegistry::from_client`.
    RedisClient,
    /// `RedisRegistry::from_factory`, with multiplexed connections.
    RedisFactory,
    /// `RedisRegistry::from_shared`, with a `ConnectionManager`.
    RedisManager,
    /// `FredRegistry::new`, with a `Client`.
    FredClient,
    /// `FredRegistry::new`, with a `Pool` of two.
    FredPool,
    /// `MemoryRegistry`: no server at all.
    Memory,
}

const fn on(runtime: Runtime, client: Client, name: &'static str) -> Subject {
    Subject { name, client, runtime }
}

/// Those that talk to a single server.
pub const OF_ONE_SERVER: [Subject; 7] = [
    on(Runtime::Tokio, Client::RedisClient, "redis from_client, Tokio"),
    on(Runtime::Smol, Client::RedisClient, "redis from_client, smol"),
    on(Runtime::AsyncStd, Client::RedisClient, "redis from_client, async-std"),
    on(Runtime::Tokio, Client::RedisFactory, "redis from_factory, Tokio"),
    on(Runtime::Tokio, Client::RedisManager, "redis from_shared ConnectionManager, Tokio"),
    on(Runtime::Tokio, Client::FredClient, "fred Client, Tokio"),
    on(Runtime::Tokio, Client::FredPool, "fred Pool, Tokio"),
];

/// Those that need no server.
pub const WITHOUT_SERVER: [Subject; 4] = [
    on(Runtime::Tokio, Client::Memory, "memory, Tokio"),
    on(Runtime::TokioCurrentThread, Client::Memory, "memory, Tokio with one thread"),
    on(Runtime::Smol, Client::Memory, "memory, smol"),
    on(Runtime::AsyncStd, Client::Memory, "memory, async-std"),
];

impl Subject {
    /// A registry at this endpoint, whether or not anybody is there.
    pub fn connect(&self, endpoint: &Endpoint, executor: &Executor) -> AnyRegistry {
        let client = self.client;
        let endpoint = endpoint.clone();
        executor.run(async move { client.connect(&endpoint) })
    }
}

impl Client {
    /// To be called where the runtime is current.
    fn connect(self, endpoint: &Endpoint) -> AnyRegistry {
        match self {
            Self::RedisClient => AnyRegistry::new(RedisRegistry::from_client(endpoint.redis())),
            Self::RedisFactory => {
                let client = endpoint.redis();
                let open = move || {
                    let client = client.clone();
                    async move {
                        let config = redis::AsyncConnectionConfig::new()
                            .set_connection_timeout(Some(Duration::from_secs(1)))
                            .set_response_timeout(None);
                        client.get_multiplexed_async_connection_with_config(&config).await
                    }
                };
                AnyRegistry::new(RedisRegistry::from_factory(open))
            }
            Self::RedisManager => {
                let config = ConnectionManagerConfig::new();
                let manager = ConnectionManager::new_lazy_with_config(endpoint.redis(), config);
                let manager = manager.expect("a well-formed configuration");
                AnyRegistry::new(RedisRegistry::from_shared(manager))
            }
            Self::FredClient => {
                let client = fred(endpoint).build().expect("a well-formed configuration");
                AnyRegistry::new(connected(client))
            }
            Self::FredPool => {
                let pool = fred(endpoint).build_pool(2).expect("a well-formed configuration");
                drop(pool.connect());
                AnyRegistry::new(FredRegistry::new(pool).expect("a suitable configuration"))
            }
            Self::Memory => AnyRegistry::new(MemoryRegistry::new()),
        }
    }
}

fn connected(client: FredClient) -> FredRegistry {
    // The task goes on by itself.
    drop(client.connect());
    FredRegistry::new(client).expect("a suitable configuration")
}

/// How long fred's clients wait before they connect again.
pub const FRED_DELAY: Duration = Duration::from_millis(100);
/// How long fred's clients take for opening a connection, and for a command of their own on it.
pub const FRED_LIMIT: Duration = Duration::from_secs(1);

fn fred(endpoint: &Endpoint) -> Builder {
    // Without `fail_fast` a client that finds nobody when it is made goes on trying.
    let config = FredConfig { fail_fast: false, ..endpoint.fred() };
    let mut builder = Builder::from_config(config);
    let delay = u32::try_from(FRED_DELAY.as_millis()).unwrap_or(u32::MAX);
    builder.set_policy(ReconnectPolicy::new_constant(0, delay));
    builder.with_connection_config(|config| {
        config.connection_timeout = FRED_LIMIT;
        config.internal_command_timeout = FRED_LIMIT;
    });
    builder
}
