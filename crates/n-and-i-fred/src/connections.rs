//! The clients, and what their connections are known to suffer from.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fred::clients::{Client, Pool};
use fred::error::Error;
use fred::interfaces::{ClientLike, EventInterface};
use fred::types::config::Server;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::TryRecvError;

use crate::suitable::{ClientError, check};

/// What a [`FredRegistry`](crate::FredRegistry) is made of: a [`Client`] or a [`Pool`].
#[derive(Clone, Debug)]
pub struct Clients(Vec<Client>);

impl From<Client> for Clients {
    fn from(client: Client) -> Self {
        Self(vec![client])
    }
}

impl From<Pool> for Clients {
    fn from(pool: Pool) -> Self {
        Self(pool.clients().to_vec())
    }
}

/// The clients, one of which makes a registration. There is at least one.
pub(crate) struct Connections {
    all: Vec<Arc<Connection>>,
    next: AtomicUsize,
}

impl Connections {
    pub(crate) fn new(clients: Clients) -> Result<Self, ClientError> {
        clients.0.iter().try_for_each(check)?;
        let all = clients.0.into_iter().map(|client| Arc::new(Connection::new(client))).collect();
        Ok(Self { all, next: AtomicUsize::new(0) })
    }

    /// The next in turn, if possible one that is connected.
    pub(crate) fn next(&self) -> &Arc<Connection> {
        let start = self.next.fetch_add(1, Ordering::Relaxed) % self.all.len();
        let mut from_start = self.all[start..].iter().chain(&self.all[..start]);
        from_start.find(|connection| connection.client.is_connected()).unwrap_or(&self.all[start])
    }
}

/// A client, whose connection can be given up.
pub(crate) struct Connection {
    client: Client,
    events: Mutex<Events>,
    /// How often it was told to connect again, and did: tells this connection from those before.
    renewed: AtomicU64,
    renewing: AtomicBool,
}

/// What the client said about its connection.
struct Events {
    errors: Receiver<(Error, Option<Server>)>,
    connects: Receiver<Server>,
    /// The last error since it connected.
    disconnected: Option<Error>,
}

impl Connection {
    fn new(client: Client) -> Self {
        let events = Mutex::new(Events::of(&client));
        Self { client, events, renewed: AtomicU64::new(0), renewing: AtomicBool::new(false) }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// What disconnected the client or keeps it from connecting, as far as it said so.
    pub(crate) fn disconnected(&self) -> Option<Error> {
        // Whole at any moment that a panic could strike.
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let up_to_date = events.take_up();
        if !up_to_date {
            // The client was told to quit, and makes new channels if it connects again.
            *events = Events::of(&self.client);
        }
        events.disconnected.clone()
    }

    /// How often the connection was renewed, to be passed to [`renew`](Self::renew).
    pub(crate) fn generation(&self) -> u64 {
        self.renewed.load(Ordering::SeqCst)
    }

    /// Has the client connect again, unless it has since `generation` or is about to.
    pub(crate) fn renew(self: &Arc<Self>, generation: u64) {
        if self.generation() != generation
            || self.disconnected().is_some()
            || self.renewing.swap(true, Ordering::SeqCst)
        {
            return;
        }
        let connection = Arc::clone(self);
        tokio::spawn(async move {
            // It fails only if the client is told to quit.
            let _ = connection.client.force_reconnection().await;
            connection.renewed.fetch_add(1, Ordering::SeqCst);
            connection.renewing.store(false, Ordering::SeqCst);
        });
    }
}

impl Events {
    fn of(client: &Client) -> Self {
        Self { errors: client.error_rx(), connects: client.reconnect_rx(), disconnected: None }
    }

    /// Takes up what the client said meanwhile. False if it has closed these channels.
    fn take_up(&mut self) -> bool {
        loop {
            match self.errors.try_recv() {
                Ok((error, _)) => self.disconnected = Some(error),
                Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Closed) => return false,
            }
        }
        loop {
            match self.connects.try_recv() {
                Ok(_) | Err(TryRecvError::Lagged(_)) => self.disconnected = None,
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Closed) => return false,
            }
        }
    }
}
