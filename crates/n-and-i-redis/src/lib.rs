//! Registers [`n_and_i`] workers in Redis, 6.2 or later, through redis-rs.
//!
//! ```no_run
//! use std::time::Duration;
//! use n_and_i::Config;
//! use n_and_i_redis::RedisRegistry;
//!
//! # fn discover(_: RedisRegistry, _: Config) {}
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = redis::Client::open("redis://127.0.0.1:6379/0?protocol=resp3")?;
//! let registry = RedisRegistry::from_client(client);
//! let config = Config::new("mail-sender", Duration::from_secs(30))?;
//! // `discover` is that of the crate for your runtime, such as n-and-i-tokio.
//! let peers = discover(registry, config);
//! # Ok(())
//! # }
//! ```
//!
//! Whatever the [`redis::Client`] was made with is used: TCP, TLS or Unix socket, RESP2 or
//! RESP3, user name and password, database. One registration is one round trip, an `EVALSHA`
//! of a constant script; a server that does not know the script is sent it with the next. Before it the
//! client may send a PING, whose answer does not matter, to see whether the connection was closed. The
//! user needs the commands EVAL, EVALSHA, TIME, GET, SET, INCR, PEXPIRE and INFO on keys that begin
//! with the [tag](n_and_i::Config::tag), and SELECT if the URL names a database.
//!
//! Failures of the server or the network never end a worker; a panic of the client does, as rustls
//! without a crypto provider or Tokio without I/O have it. Failures come out as [errors](n_and_i::RegistrationError), which the driver logs
//! and acts on.
//!
//! # Features
//!
//! `tokio` (default) or `smol` choose what connections are opened on. With both, it is Tokio wherever
//! a Tokio runtime is current and smol elsewhere; `redis::aio::prefer_smol()`, called first in `main`,
//! makes it smol everywhere. `tokio-rustls` and
//! `smol-rustls` add TLS; the application installs a crypto provider. `cluster` adds
//! `RedisRegistry::from_cluster`. Whatever else redis-rs
//! offers, such as native TLS, is a feature of the `redis` crate that you make the client with.

#[cfg(not(any(feature = "tokio", feature = "smol")))]
compile_error!("n-and-i-redis needs a runtime: enable its feature `tokio` or `smol`");

#[cfg(any(feature = "tokio", feature = "smol"))]
mod connection;
#[cfg(any(feature = "tokio", feature = "smol"))]
mod error;
#[cfg(any(feature = "tokio", feature = "smol"))]
mod registry;

#[cfg(any(feature = "tokio", feature = "smol"))]
pub use registry::RedisRegistry;
