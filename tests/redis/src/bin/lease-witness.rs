//! A thread that asks its lease all the time whether it is live, to be suspended from outside.
//!
//! `lease-witness URL NAME`: prints `owned STAGE` when handed a lease, and `NANOS live` or
//! `NANOS dead` about every millisecond: what the lease said after the clock read `NANOS`.
//! Runs until it is killed.

use std::error::Error;
use std::sync::mpsc;
use std::time::Duration;

use n_and_i::{BootClock, Clock, Config, Lease};
use n_and_i_redis::RedisRegistry;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(name)) = (arguments.next(), arguments.next()) else {
        return Err("usage: lease-witness URL NAME".into());
    };
    let registry = RedisRegistry::from_client(redis::Client::open(url)?);
    let config = Config::new(name, Duration::from_millis(400))?;
    let mut peers = n_and_i_tokio::discover(registry, config)?;

    let (send, receive) = mpsc::channel::<Lease>();
    std::thread::spawn(move || {
        let Ok(mut lease) = receive.recv() else { return };
        println!("owned {}", lease.stage());
        loop {
            if let Ok(newer) = receive.try_recv() {
                lease = newer;
                println!("owned {}", lease.stage());
            }
            let now = BootClock.now().as_nanos();
            println!("{now} {}", if lease.is_live() { "live" } else { "dead" });
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    while let Some(change) = peers.next().await {
        if let Some(lease) = change.lease() {
            send.send(lease.clone())?;
        }
    }
    Ok(())
}
