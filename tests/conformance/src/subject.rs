//! What is held to the rows: a client on a runtime.

use std::sync::Arc;
use std::time::Duration;

use fred::clients::Client as FredClient;
use fred::interfaces::ClientLike;
use fred::types::Builder;
use fred::types::config::{Config as FredConfig, ReconnectPolicy};
use n_and_i::{Layout, MemoryRegistry};
use n_and_i_fred::FredRegistry;
use n_and_i_redis::RedisRegistry;
use redis::AsyncConnectionConfig;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::cluster::ClusterClientBuilder;
use redis::sentinel::{SentinelClient, SentinelServerType};
use tokio::sync::Mutex;

use crate::endpoint::{Address, Endpoint};
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
    /// How its groups are kept.
    pub layout: Layout,
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
    /// `RedisRegistry::from_cluster`.
    RedisCluster,
    /// `RedisRegistry::from_factory`, with a `SentinelClient`.
    RedisSentinel,
    /// `FredRegistry::new`, with a cluster's `Client`.
    FredCluster,
    /// `MemoryRegistry`: no server at all.
    Memory,
}

const fn on(runtime: Runtime, client: Client, name: &'static str) -> Subject {
    Subject { name, client, runtime, layout: Layout::Counters }
}

const fn slots(runtime: Runtime, client: Client, name: &'static str) -> Subject {
    Subject { name, client, runtime, layout: Layout::Slots }
}

/// Those that talk to a single server. What a client and a runtime make of a fault does not depend on the layout, so
/// one of each client stands for all that have slots.
pub const OF_ONE_SERVER: [Subject; 9] = [
    on(Runtime::Tokio, Client::RedisClient, "redis from_client, Tokio"),
    on(Runtime::Smol, Client::RedisClient, "redis from_client, smol"),
    on(Runtime::AsyncStd, Client::RedisClient, "redis from_client, async-std"),
    on(Runtime::Tokio, Client::RedisFactory, "redis from_factory, Tokio"),
    on(Runtime::Tokio, Client::RedisManager, "redis from_shared ConnectionManager, Tokio"),
    on(Runtime::Tokio, Client::FredClient, "fred Client, Tokio"),
    on(Runtime::Tokio, Client::FredPool, "fred Pool, Tokio"),
    slots(Runtime::Smol, Client::RedisClient, "redis from_client, smol, slots"),
    slots(Runtime::Tokio, Client::FredClient, "fred Client, Tokio, slots"),
];

/// Those that talk to a cluster.
pub const OF_A_CLUSTER: [Subject; 4] = [
    on(Runtime::Tokio, Client::RedisCluster, "redis from_cluster, Tokio"),
    on(Runtime::Smol, Client::RedisCluster, "redis from_cluster, smol"),
    on(Runtime::Tokio, Client::FredCluster, "fred Client, Tokio"),
    slots(Runtime::Tokio, Client::FredCluster, "fred Client, Tokio, slots"),
];

/// Those that ask sentinels.
pub const OF_SENTINELS: [Subject; 4] = [
    on(Runtime::Tokio, Client::RedisSentinel, "redis from_factory, Tokio"),
    on(Runtime::Smol, Client::RedisSentinel, "redis from_factory, smol"),
    on(Runtime::Tokio, Client::FredClient, "fred Client, Tokio"),
    slots(Runtime::Tokio, Client::RedisSentinel, "redis from_factory, Tokio, slots"),
];

/// Those that need no server.
pub const WITHOUT_SERVER: [Subject; 4] = [
    on(Runtime::Tokio, Client::Memory, "memory, Tokio"),
    on(Runtime::TokioCurrentThread, Client::Memory, "memory, Tokio with one thread"),
    on(Runtime::Smol, Client::Memory, "memory, smol"),
    on(Runtime::AsyncStd, Client::Memory, "memory, async-std"),
];

/// All clients and runtimes, whether or not they need a server, each once.
pub fn each_once() -> impl Iterator<Item = Subject> {
    let each = OF_ONE_SERVER.into_iter().filter(|subject| subject.layout == Layout::Counters);
    each.chain(WITHOUT_SERVER)
}

impl Subject {
    /// The same with groups that are kept in another way.
    #[must_use]
    pub fn with_layout(self, layout: Layout) -> Self {
        Self { layout, ..self }
    }

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
            Self::RedisCluster => {
                let Address::Cluster(ports) = &endpoint.address else { panic!("no cluster") };
                let urls = ports.iter().map(|port| format!("redis://127.0.0.1:{port}/"));
                let builder = ClusterClientBuilder::new(urls.collect::<Vec<_>>());
                AnyRegistry::new(RedisRegistry::from_cluster(builder).expect("well-formed"))
            }
            Self::RedisSentinel => AnyRegistry::new(sentinel(endpoint)),
            Self::FredCluster => {
                let mut builder = fred(endpoint);
                builder.with_connection_config(|config| {
                    config.max_redirections = 0;
                    config.unresponsive.max_timeout = Some(FRED_SILENCE);
                    config.unresponsive.interval = FRED_SILENCE / 3;
                });
                let client = builder.build().expect("a well-formed configuration");
                AnyRegistry::new(connected(client))
            }
            Self::Memory => AnyRegistry::new(MemoryRegistry::new()),
        }
    }
}

fn sentinel(endpoint: &Endpoint) -> RedisRegistry {
    let Address::Sentinels(urls, name) = &endpoint.address else { panic!("no sentinels") };
    let primary = SentinelServerType::Master;
    let client = SentinelClient::build(urls.clone(), *name, None, primary).expect("well-formed");
    let client = Arc::new(Mutex::new(client));
    RedisRegistry::from_factory(move || {
        let client = Arc::clone(&client);
        async move {
            let config = AsyncConnectionConfig::new().set_response_timeout(None);
            client.lock().await.get_async_connection_with_config(&config).await
        }
    })
}

fn connected(client: FredClient) -> FredRegistry {
    // The task goes on by itself.
    drop(client.connect());
    FredRegistry::new(client).expect("a suitable configuration")
}

/// How long fred's clients wait before they connect again.
pub const FRED_DELAY: Duration = Duration::from_millis(100);
/// After how much silence fred takes a cluster's node for gone.
pub const FRED_SILENCE: Duration = Duration::from_millis(600);
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
