//! A line per change, for people or programs.

use std::io::{self, Write};
use std::time::Duration;

use n_and_i::{Change, Lease, Pair};

use crate::record::{Owned, Record};
use crate::watch::Audience;

#[derive(Debug)]
pub(super) struct Lines {
    pub(super) json: bool,
}

impl Audience for Lines {
    fn tell(&mut self, elapsed: Duration, change: Change) -> io::Result<()> {
        let line = if self.json { json(elapsed, &change)? } else { plain(elapsed, &change) };
        writeln!(io::stdout(), "{line}")
    }

    fn look(&mut self, _: Duration) -> io::Result<()> {
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) fn plain(elapsed: Duration, change: &Change) -> String {
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
    let tests = tests(lease);
    format!("owns {} ({tests}), stage {}, token {}", lease.share(), lease.stage(), lease.token())
}

/// What a task has to fulfil to be owned.
pub(super) fn tests(lease: &Lease) -> String {
    let test = |pair: Pair| format!("task % {} == {}", pair.n(), pair.i());
    let share = lease.share();
    let mut tests = test(share.pair());
    if let Some(previous) = share.previous() {
        tests += " and ";
        tests += &test(previous);
    }
    tests
}

fn json(elapsed: Duration, change: &Change) -> io::Result<String> {
    let owned = change.owned().map(Owned::from);
    let record = Record::at(elapsed).with_change(owned, change.stage());
    serde_json::to_string(&record).map_err(io::Error::other)
}
