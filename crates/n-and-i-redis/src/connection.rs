//! One shared connection that is given up as soon as it is in doubt.

use std::sync::{Mutex, MutexGuard, PoisonError};

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisError};

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
}

impl Connections {
    pub(crate) fn new(client: Client) -> Self {
        Self { client, slot: Mutex::default(), opening: async_lock::Mutex::new(()) }
    }

    pub(crate) async fn get(&self) -> Result<Borrowed<'_>, RedisError> {
        if let Some(borrowed) = self.borrow() {
            return Ok(borrowed);
        }
        let _opening = self.opening.lock().await;
        if let Some(borrowed) = self.borrow() {
            return Ok(borrowed);
        }
        // No limit on the response: the worker's own deadline rules.
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        let connection = self.client.get_multiplexed_async_connection_with_config(&config).await?;
        let mut slot = self.slot();
        slot.connection = Some(connection.clone());
        slot.opened += 1;
        Ok(Borrowed { connections: self, connection, number: slot.opened, keep: false })
    }

    fn borrow(&self) -> Option<Borrowed<'_>> {
        let slot = self.slot();
        let connection = slot.connection.clone()?;
        Some(Borrowed { connections: self, connection, number: slot.opened, keep: false })
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
