//! One shared connection that is given up as soon as it is in doubt.

use std::any::Any;
use std::future::{poll_fn, ready};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use n_and_i::BoxError;
use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{AsyncConnectionConfig, Client};

use crate::error::NotOpened;

/// How long opening a connection to one server may take at least.
const SHORTEST_LIMIT: Duration = Duration::from_secs(1);

/// A connection of any kind that can be used by several calls at once.
pub(crate) trait Shared: ConnectionLike + Send + Sync {
    fn share(&self) -> Box<dyn Shared>;

    /// Whether it is known to be closed, as by a server or a balancer that dislikes idleness.
    fn is_closed(&mut self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>>;
}

impl<C: ConnectionLike + Clone + Send + Sync + 'static> Shared for C {
    fn share(&self) -> Box<dyn Shared> {
        Box::new(self.clone())
    }

    /// A multiplexed connection hands a command to its task when it is first polled, and fails there
    /// if the task has ended. A command that is dropped then is mostly not sent, so it is one that
    /// does not matter. Whether the failure means that is not to be told from one command alone: within a
    /// single poll the task may as well have sent it and lost the connection. Of other kinds of
    /// connection nothing is known.
    fn is_closed(&mut self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        if !(self as &dyn Any).is::<MultiplexedConnection>() {
            return Box::pin(ready(false));
        }
        Box::pin(async {
            let ping = redis::cmd("PING");
            let mut answer = self.req_packed_command(&ping);
            let first = poll_fn(|cx| Poll::Ready(answer.as_mut().poll(cx))).await;
            matches!(first, Poll::Ready(Err(error)) if error.is_io_error())
        })
    }
}

type Opened = Result<Box<dyn Shared>, NotOpened>;
type Opening = Pin<Box<dyn Future<Output = Opened> + Send>>;

/// How connections are opened for workers with this interval.
pub(crate) type Open = Box<dyn Fn(Duration) -> Opening + Send + Sync>;

/// Opens connections from a client.
pub(crate) fn from_client(client: Client) -> Open {
    Box::new(move |interval| {
        let client = client.clone();
        Box::pin(async move {
            let config = AsyncConnectionConfig::new()
                .set_connection_timeout(Some((interval / 4).max(SHORTEST_LIMIT)))
                // No limit on the response: the worker's own deadline rules.
                .set_response_timeout(None);
            #[cfg(not(feature = "smol"))]
            needs_tokio()?;
            match client.get_multiplexed_async_connection_with_config(&config).await {
                Ok(opened) => Ok(Box::new(opened) as Box<dyn Shared>),
                Err(error) => Err(NotOpened::at(client.get_connection_info().addr(), error)),
            }
        })
    })
}

/// A client that knows only Tokio would panic elsewhere.
#[cfg(not(feature = "smol"))]
fn needs_tokio() -> Result<(), redis::RedisError> {
    if tokio::runtime::Handle::try_current().is_err() {
        return Err(redis::RedisError::from((
            redis::ErrorKind::InvalidClientConfig,
            "no Tokio runtime is current",
            "run the worker on Tokio, or enable the feature `smol` of n-and-i-redis".to_owned(),
        )));
    }
    Ok(())
}

/// Opens connections to a cluster.
#[cfg(feature = "cluster")]
pub(crate) fn from_cluster_client(client: redis::cluster::ClusterClient) -> Open {
    Box::new(move |interval| {
        let client = client.clone();
        Box::pin(async move {
            // First all nodes that the client was made with are connected to, then all that they
            // name. Both must end within an interval though one of them does not answer.
            let config = redis::cluster::ClusterConfig::new().set_connection_timeout(interval / 4);
            #[cfg(not(feature = "smol"))]
            needs_tokio()?;
            let opened = client.get_async_connection_with_config(config).await?;
            Ok(Box::new(opened) as Box<dyn Shared>)
        })
    })
}

/// Opens connections as the application does.
pub(crate) fn from_factory<F, O, C, E>(factory: F) -> Open
where
    F: Fn() -> O + Send + Sync + 'static,
    O: Future<Output = Result<C, E>> + Send + 'static,
    C: ConnectionLike + Clone + Send + Sync + 'static,
    E: Into<BoxError>,
{
    Box::new(move |_| {
        let opening = factory();
        Box::pin(async move {
            match opening.await {
                Ok(opened) => Ok(Box::new(opened) as Box<dyn Shared>),
                Err(error) => Err(NotOpened::from(error.into())),
            }
        })
    })
}

/// Hands out the connection and opens a new one when there is none.
pub(crate) struct Connections {
    /// None if the one connection looks after itself.
    open: Option<Open>,
    slot: Mutex<Slot>,
    /// Held while a connection is opened, so that all who need one open one together.
    opening: async_lock::Mutex<()>,
}

#[derive(Default)]
struct Slot {
    connection: Option<Box<dyn Shared>>,
    /// How many connections were opened: tells this one from those before.
    opened: u64,
    /// How many attempts to open one failed, and how the last one did.
    failed: u64,
    error: Option<NotOpened>,
}

impl Connections {
    pub(crate) fn new(open: Open) -> Self {
        Self { open: Some(open), slot: Mutex::default(), opening: async_lock::Mutex::new(()) }
    }

    /// This one, for ever.
    pub(crate) fn only(connection: Box<dyn Shared>) -> Self {
        let slot = Slot { connection: Some(connection), ..Slot::default() };
        Self { open: None, slot: Mutex::new(slot), opening: async_lock::Mutex::new(()) }
    }

    /// The connection, opened if need be.
    pub(crate) async fn get(&self, interval: Duration) -> Result<Borrowed<'_>, NotOpened> {
        if let Some(borrowed) = self.borrow() {
            return Ok(borrowed);
        }
        let failed = self.slot().failed;
        let _opening = self.opening.lock().await;
        if let Some(borrowed) = self.borrow() {
            return Ok(borrowed);
        }
        // An attempt that failed meanwhile failed for all who waited for it.
        if let Some(error) = self.failed_since(failed) {
            return Err(error);
        }
        let open = self.open.as_ref().expect("the only connection is never taken out of use");
        let opened = open(interval).await;
        let mut slot = self.slot();
        match opened {
            Ok(connection) => {
                slot.opened += 1;
                let number = slot.opened;
                slot.connection = Some(connection.share());
                Ok(Borrowed { connections: self, connection, number, keep: false })
            }
            Err(error) => {
                slot.failed += 1;
                slot.error = Some(error.clone());
                Err(error)
            }
        }
    }

    fn borrow(&self) -> Option<Borrowed<'_>> {
        let slot = self.slot();
        let connection = slot.connection.as_ref()?.share();
        Some(Borrowed { connections: self, connection, number: slot.opened, keep: false })
    }

    fn failed_since(&self, failed: u64) -> Option<NotOpened> {
        let slot = self.slot();
        slot.error.clone().filter(|_| slot.failed != failed)
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        // The slot is whole at any moment that a panic could strike.
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The connection for the time of one call. Dropped without [`keep`](Borrowed::keep), also
/// because the call was abandoned, it takes the connection out of use for everyone.
pub(crate) struct Borrowed<'a> {
    connections: &'a Connections,
    connection: Box<dyn Shared>,
    number: u64,
    keep: bool,
}

impl Borrowed<'_> {
    pub(crate) fn connection(&mut self) -> &mut dyn Shared {
        &mut *self.connection
    }

    /// The connection proved usable.
    pub(crate) fn keep(&mut self) {
        self.keep = true;
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        if !self.keep && self.connections.open.is_some() {
            let mut slot = self.connections.slot();
            // Unless another call replaced it meanwhile.
            if slot.opened == self.number {
                slot.connection = None;
            }
        }
    }
}
