//! A worker without a log subscriber: it must not write anything by itself.
//!
//! `quiet-worker URL NAME`: waits for a pair, stops in order and ends with 0.

use std::error::Error;
use std::time::Duration;

use n_and_i::Config;
use n_and_i_redis::RedisRegistry;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(name)) = (arguments.next(), arguments.next()) else {
        return Err("usage: quiet-worker URL NAME".into());
    };
    let registry = RedisRegistry::from_client(redis::Client::open(url)?);
    let config = Config::new(name, Duration::from_millis(200))?;
    let mut peers = n_and_i_tokio::discover(registry, config)?;
    while let Some(change) = peers.next().await {
        if change.lease().is_some() {
            peers.stop();
        }
    }
    Ok(())
}
