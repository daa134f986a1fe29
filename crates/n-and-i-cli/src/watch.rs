//! One worker of a real group, a line per change.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use n_and_i::{Change, Lease, Pair};

use crate::arguments::Watch;
use crate::record::{Owned, Record};
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
    let what = match change.lease() {
        Some(lease) => ownership(lease),
        None => change.to_string(),
    };
    let elapsed = elapsed.as_secs_f64();
    let left = change.drain_window().map(|window| window.remaining().as_secs_f64());
    let left = left.filter(|left| *left > 0.0).map(|left| match change.lease() {
        Some(_) => format!(", {left:.3} s left to finish what it owns no more"),
        None => format!(", {left:.3} s left to finish what was begun"),
    });
    format!("{elapsed:9.3} s  {what}{}", left.unwrap_or_default())
}

fn ownership(lease: &Lease) -> String {
    let test = |pair: Pair| format!("task % {} == {}", pair.n(), pair.i());
    let share = lease.share();
    let mut tests = test(share.pair());
    if let Some(previous) = share.previous() {
        tests += " and ";
        tests += &test(previous);
    }
    format!("owns {share} ({tests}), stage {}, token {}", lease.stage(), lease.token())
}

fn json(elapsed: Duration, change: &Change) -> io::Result<String> {
    let owned = change.owned().map(Owned::from);
    let record = Record::at(elapsed).with_change(owned, change.stage());
    serde_json::to_string(&record).map_err(io::Error::other)
}
