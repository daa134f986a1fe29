//! Thousands of workers in one process, over one connection.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use n_and_i::{Config, Lease, Mapping, Share};
use n_and_i_redis::RedisRegistry;
use n_and_i_test_support::{RedisServer, eventually_async};

const WORKERS: usize = 2_000;
const INTERVAL: Duration = Duration::from_secs(4);

/// What each worker's consumer was handed last.
type Handed = Arc<Mutex<Vec<Option<Lease>>>>;

/// No two leases that are live at one moment share a task.
fn check(leases: &[Lease]) {
    let mut owners = HashMap::new();
    for lease in leases {
        if let Some(other) = owners.insert(lease.share(), lease) {
            // One of them may have ended since it was looked at, but then it is so for good.
            assert!(!(other.is_live() && lease.is_live()), "{} is owned twice", lease.share());
        }
    }
    let (common, rest): (Vec<_>, Vec<_>) =
        leases.iter().partition(|lease| lease.share().pair().n() as usize == WORKERS);
    for lease in rest {
        for other in
            common.iter().filter(|other| other.share().intersects(lease.share(), Mapping::Modulo))
        {
            let both = other.is_live() && lease.is_live();
            assert!(!both, "{} and {} share tasks", other.share(), lease.share());
        }
    }
}

fn micros_of(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).expect("a short time")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_workers_share_one_connection() {
    let server = RedisServer::start();
    let registry = RedisRegistry::from_client(server.client());
    let config = Config::new("many", INTERVAL).unwrap();
    let handed: Handed = Arc::new(Mutex::new(vec![None; WORKERS]));
    let mut consumers = tokio::task::JoinSet::new();
    for worker in 0..WORKERS {
        let mut peers = n_and_i_tokio::discover(registry.clone(), config.clone()).unwrap();
        let handed = Arc::clone(&handed);
        consumers.spawn(async move {
            while let Some(change) = peers.next().await {
                handed.lock().unwrap()[worker] = change.lease().cloned();
            }
        });
    }
    // All are counted, once each, and come to own. Not all at a time: on a busy computer neighbours,
    // two milliseconds apart, change places, which costs both their leases.
    let mut shares = HashSet::new();
    eventually_async("all are counted and own", || {
        let leases: Vec<_> = handed.lock().unwrap().iter().flatten().cloned().collect();
        let live: Vec<_> = leases.into_iter().filter(Lease::is_live).collect();
        check(&live);
        let common = |share: &Share| share.pair().n() as usize == WORKERS;
        shares.extend(live.iter().map(Lease::share).filter(common));
        let (seconds, micros): (u64, u64) = server.command(&["TIME"]);
        let closed = (seconds * 1_000_000 + micros) / micros_of(INTERVAL) - 1;
        let count: Option<usize> = server.command(&["GET", &format!("{{many}}:{closed}")]);
        (count == Some(WORKERS) && shares.len() >= WORKERS / 2).then_some(())
    })
    .await;

    let clients: String = server.command(&["CLIENT", "LIST", "TYPE", "NORMAL"]);
    let registering = clients
        .lines()
        .filter(|client| client.contains("cmd=evalsha") || client.contains("cmd=ping"));
    assert_eq!(registering.count(), 1, "{clients}");
    let statistics: String = server.command(&["INFO", "commandstats"]);
    assert!(statistics.contains("cmdstat_evalsha"), "{statistics}");
}
