//! One worker of a real group, a line per change.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use n_and_i::Change;

use crate::arguments::Watch;
use crate::record::Record;
use crate::signals::Signals;

/// Prints every change until a signal comes.
pub(crate) async fn run(watch: Watch) -> io::Result<()> {
    let mut signals = Signals::listen()?;
    let start = Instant::now();
    let peers = n_and_i_tokio::discover(watch.redis, watch.config).map_err(io::Error::other)?;
    let mut peers = peers.with_graceful_shutdown(async move { signals.wait().await });
    while let Some(change) = peers.next().await {
        let elapsed = start.elapsed();
        let line = if watch.json { json(elapsed, &change)? } else { plain(elapsed, &change) };
        writeln!(io::stdout(), "{line}")?;
    }
    Ok(())
}

fn plain(elapsed: Duration, change: &Change) -> String {
    let elapsed = elapsed.as_secs_f64();
    if let Some(lease) = change.lease() {
        let (pair, stage) = (lease.pair(), lease.stage());
        let (i, n) = (pair.i(), pair.n());
        return format!("{elapsed:9.3} s  owns {pair} (task % {n} == {i}), stage {stage}");
    }
    let drain = change.drain_remaining();
    if drain.is_zero() {
        format!("{elapsed:9.3} s  {change}")
    } else {
        let drain = drain.as_secs_f64();
        format!("{elapsed:9.3} s  {change}, {drain:.3} s left to finish what was begun")
    }
}

fn json(elapsed: Duration, change: &Change) -> io::Result<String> {
    let record = Record::at(elapsed).with_change(change.pair(), change.reason(), change.stage());
    serde_json::to_string(&record).map_err(io::Error::other)
}
