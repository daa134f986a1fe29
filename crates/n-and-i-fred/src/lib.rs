//! Registers [`n_and_i`] workers in Redis, 6.2 or later, through fred. Tokio only, as fred is.
//!
//! ```no_run
//! use std::time::Duration;
//! use fred::prelude::{Builder, ClientLike, Config, ReconnectPolicy};
//! use n_and_i_fred::FredRegistry;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Builder::from_config(Config::from_url("redis://127.0.0.1:6379/0")?)
//!     .set_policy(ReconnectPolicy::new_exponential(0, 100, 5_000, 2)) // without end
//!     .build()?;
//! client.init().await?;
//! let registry = FredRegistry::new(client)?;
//! let config = n_and_i::Config::new("mail-sender", Duration::from_secs(30))?;
//! let peers = n_and_i_tokio::discover(registry, config)?;
//! # Ok(())
//! # }
//! ```
//!
//! One server, a cluster and sentinels work, with a [`Client`](fred::clients::Client) or a
//! [`Pool`](fred::clients::Pool), over whatever fred connects through. One registration is one round
//! trip, an `EVALSHA` of a constant script; a server that does not know the script is sent it with
//! the next. The user needs the commands EVAL, EVALSHA, TIME, GET, SET, INCR, PEXPIRE and INFO on
//! keys that begin with the [tag](n_and_i::Config::tag), and what fred runs when it connects:
//! PING or HELLO, SELECT if there is a database, and in a cluster CLUSTER.
//!
//! # The client's configuration
//!
//! A registration must neither run twice nor hang. What fred lets a single call decide is set for
//! each registration, whatever the client has: one attempt, a time limit, and no queueing while the
//! client knows that it is not connected. The rest is looked at by [`FredRegistry::new`], which
//! refuses a client that could stay dead with a [`ClientError`] that says what to change:
//!
//! | setting | must be |
//! |---|---|
//! | reconnect policy | one with `max_attempts` 0, no limit; its delays well below the interval |
//! | `max_command_buffer_len` | 0, no limit, as it is by default |
//! | `max_redirections`, in a cluster | 0 |
//! | `unresponsive.max_timeout`, in a cluster | set, well below the interval |
//!
//! # What it recovers from
//!
//! Measured on one machine, with a policy of a constant delay of one second, which is fred's
//! `ReconnectPolicy::default()`, and with the exponential one above:
//!
//! | fault | what the registration gives | constant | exponential |
//! |---|---|---|---|
//! | reply lost, connection closed | unknown, at once | 1.1 s | 0.2 s |
//! | server killed and back at once | unknown, at once | 1.1 s | 0.15 s |
//! | server back after 12 s | not executed, with the reason, at once | 0.7 s | 4.7 s |
//! | server suspended for 25 s | unknown after 7/8 of the interval, then not executed | 0 to 1.1 s | 0 to 5 s |
//! | other end gone without a word | unknown after 7/8 of the interval | 1.1 s more | 0.1 s more |
//!
//! Times are from the end of the fault to a registration that succeeds. They are the policy's
//! delays, also after a wrong password was put right. An address that does not answer at all
//! costs up to `connection_timeout` on top, a server that accepts and is silent up to
//! `internal_command_timeout`: ten seconds each unless set.
//!
//! It does not recover from the end of the client's own task, which `quit` brings about, or an
//! error that fred takes for final, such as a cluster's client finding a server that is none. Then
//! registrations fail until somebody calls `connect` again.
//!
//! # Features
//!
//! `rustls` and `rustls-ring` add TLS with the crypto provider aws-lc-rs or ring. Whatever else
//! fred offers, such as native TLS or Unix sockets, is a feature of the `fred` crate that you make
//! the client with.

mod connections;
mod error;
mod registry;
mod suitable;

pub use connections::Clients;
pub use registry::FredRegistry;
pub use suitable::ClientError;
