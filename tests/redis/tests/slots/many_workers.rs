//! Thousands of workers in one process, over one connection. `WORKERS=n` sets how many.

use std::collections::HashSet;
use std::env;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use n_and_i::{Lease, Share};
use n_and_i_redis::RedisRegistry;
use n_and_i_test_support::{RedisServer, eventually_async};

use super::config;

/// Two milliseconds for each worker make an interval, within these bounds, also in milliseconds.
const SHORTEST: usize = 3_000;
const LONGEST: usize = 10_000;
/// No more memory of the server than this is taken for a worker, in bytes.
const BYTES_PER_WORKER: usize = 600;

/// What each worker's consumer was handed last.
type Handed = Arc<Mutex<Vec<Option<Lease>>>>;

fn live(handed: &Handed) -> Vec<Lease> {
    let leases = handed.lock().unwrap();
    leases.iter().flatten().filter(|lease| lease.is_live()).cloned().collect()
}

/// The seconds of processor time that the server has used.
fn used(server: &RedisServer) -> f64 {
    let info: String = server.command(&["INFO", "cpu"]);
    let value = |name: &str| -> f64 {
        let line = info.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.parse().unwrap()
    };
    value("used_cpu_sys:") + value("used_cpu_user:")
}

fn evalsha(server: &RedisServer) -> String {
    let statistics: String = server.command(&["INFO", "commandstats"]);
    let lines = statistics.lines().filter(|line| line.starts_with("cmdstat_evalsha:"));
    lines.collect()
}

/// The megabytes that this process has in memory.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? / 1024)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_workers_keep_their_indices() {
    let count = env::var("WORKERS").ok().map(|count| count.parse().expect("WORKERS is a number"));
    let workers: usize = count.unwrap_or(2_000);
    let interval = u64::try_from((2 * workers).clamp(SHORTEST, LONGEST)).unwrap();
    let server = RedisServer::start();
    let registry = RedisRegistry::from_client(server.client());
    let config = config("thousands", interval);
    let before = resident();
    let handed: Handed = Arc::new(Mutex::new(vec![None; workers]));
    let mut consumers = tokio::task::JoinSet::new();
    for worker in 0..workers {
        let mut peers = n_and_i_tokio::discover(registry.clone(), config.clone()).unwrap();
        let handed = Arc::clone(&handed);
        consumers.spawn(async move {
            while let Some(change) = peers.next().await {
                handed.lock().unwrap()[worker] = change.lease().cloned();
            }
        });
    }
    let start = Instant::now();
    let everything = || {
        let leases = live(&handed);
        let settled = |lease: &Lease| {
            lease.share().is_settled() && lease.share().pair().n() as usize == workers
        };
        (leases.len() == workers && leases.iter().all(settled)).then_some(leases)
    };
    let leases = eventually_async("all own at one moment", everything).await;
    let shares: HashSet<Share> = leases.iter().map(Lease::share).collect();
    assert_eq!(shares.len(), workers, "each a share of its own");
    println!("{workers} workers own after {:?}, interval {interval} ms", start.elapsed());

    server.command::<String>(&["CONFIG", "RESETSTAT"]);
    let (began, busy) = (Instant::now(), used(&server));
    // An interval in which nobody is told anything: the leases are the same.
    tokio::time::sleep(Duration::from_millis(interval)).await;
    let share = (used(&server) - busy) / began.elapsed().as_secs_f64();
    let bytes: usize = server.command(&["MEMORY", "USAGE", "{thousands}:guard", "SAMPLES", "0"]);
    println!("server: {:.1} % of a processor, {bytes} bytes, {}", share * 100.0, evalsha(&server));
    println!("this process: {before:?} MB before, {:?} MB now", resident());
    assert!(bytes <= BYTES_PER_WORKER * workers, "{bytes} bytes for {workers} workers");
    let kept = leases.iter().filter(|lease| lease.is_live()).count();
    println!("{kept} leases were kept throughout");
    // A machine that stands still for a while makes some late.
    assert!(kept >= workers / 2, "only {kept} of {workers} leases were kept");
    let live = live(&handed);
    let shares: HashSet<Share> = live.iter().map(Lease::share).collect();
    let (owned, distinct) = (live.len(), shares.len());
    assert_eq!(owned, distinct, "a share is owned twice");

    let clients: String = server.command(&["CLIENT", "LIST", "TYPE", "NORMAL"]);
    let registering = clients
        .lines()
        .filter(|client| client.contains("cmd=evalsha") || client.contains("cmd=ping"));
    assert_eq!(registering.count(), 1, "{clients}");
}
