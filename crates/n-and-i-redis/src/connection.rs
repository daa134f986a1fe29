//! One shared connection that is given up as soon as it is in doubt.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisError};

/// How long opening a connection may take at least.
const SHORTEST_LIMIT: Duration = Duration::from_secs(1);

/// Hands out the connection and opens a new one when there is none.
pub(crate) struct Connections {
    client: Client,
    slot: Mutex<Slot>,
    /// Held while a connection is opened, so that all who need one open one together.
    opening: async_lock::Mutex<()>,
}

#[derive(Default)]
struct Slot {
    connection: Option<MultiplexedConnection>,
    /// How many connections were opened: tells this one from those before.
    opened: u64,
    /// How many attempts to open one failed, and how the last one did.
    failed: u64,
    error: Option<RedisError>,
}

impl Connections {
    pub(crate) fn new(client: Client) -> Self {
        Self { client, slot: Mutex::default(), opening: async_lock::Mutex::new(()) }
    }

    /// The connection, opened if need be. Opening it may take a quarter of the interval.
    pub(crate) async fn get(&self, interval: Duration) -> Result<Borrowed<'_>, RedisError> {
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
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some((interval / 4).max(SHORTEST_LIMIT)))
            // No limit on the response: the worker's own deadline rules.
            .set_response_timeout(None);
        let opened = self.client.get_multiplexed_async_connection_with_config(&config).await;
        let mut slot = self.slot();
        match opened {
            Ok(connection) => {
                slot.connection = Some(connection.clone());
                slot.opened += 1;
                Ok(Borrowed { connections: self, connection, number: slot.opened, keep: false })
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
        let connection = slot.connection.clone()?;
        Some(Borrowed { connections: self, connection, number: slot.opened, keep: false })
    }

    fn failed_since(&self, failed: u64) -> Option<RedisError> {
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
    connection: MultiplexedConnection,
    number: u64,
    keep: bool,
}

impl Borrowed<'_> {
    pub(crate) fn connection(&mut self) -> &mut MultiplexedConnection {
        &mut self.connection
    }

    /// The connection proved usable.
    pub(crate) fn keep(&mut self) {
        self.keep = true;
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        if !self.keep {
            let mut slot = self.connections.slot();
            // Unless another call replaced it meanwhile.
            if slot.opened == self.number {
                slot.connection = None;
            }
        }
    }
}
