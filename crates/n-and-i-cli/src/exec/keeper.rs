//! The wrapper's end of a keeper.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::time::Duration;

use n_and_i::{BootClock, Clock, Instant, Lease};
use rustix::process::{Pid, Signal};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;

use crate::exec::children::{Children, is_child, signal_below, signal_group};
use crate::exec::message::{Exit, Order, Report, line};
use crate::exec::{Exec, KEEP, this_program};

/// A keeper and the program that it keeps.
#[derive(Debug)]
pub(super) struct Keeper {
    pub(super) pid: Pid,
    pub(super) is_reaped: bool,
    program: Option<Pid>,
    orders: OwnedWriteHalf,
    reports: Lines<BufReader<OwnedReadHalf>>,
}

/// How the program ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    Refused {
        errno: i32,
    },
    Ended {
        exit: Exit,
        killed: bool,
    },
    /// It was not started, as the time was over.
    Late,
    /// The keeper ended without a word.
    Lost,
}

impl Keeper {
    /// Starts the program under a lease.
    pub(super) fn start(exec: &Exec, lease: &Lease) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let theirs = theirs.into_std()?;
        theirs.set_nonblocking(false)?;

        let pair = lease.share().pair();
        // In this order, so that a renewal in between makes the time shorter, if anything.
        let until = lease.drain_window().deadline();
        // An end in the past is that of a lease which was revoked meanwhile.
        let grace = until.saturating_duration_since(lease.ends().max(BootClock.now()));
        let mut command = this_program()?;
        command
            .args([KEEP, &exec.stop.as_raw().to_string()])
            .args([until.as_nanos().to_string(), grace.as_nanos().to_string()])
            .arg("--")
            .arg(&exec.program)
            .args(&exec.arguments)
            .env("N_AND_I_I", pair.i().to_string())
            .env("N_AND_I_N", pair.n().to_string())
            .env("N_AND_I_STAGE", lease.stage().to_string())
            .env("N_AND_I_TOKEN", lease.token().to_string())
            .env(
                "N_AND_I_DRAIN_SECONDS",
                format!("{}.{:03}", grace.as_secs(), grace.subsec_millis()),
            )
            .stdin(OwnedFd::from(theirs))
            // So that what a terminal sends goes to the wrapper alone.
            .process_group(0);
        let pid = Pid::from_child(&command.spawn()?);
        tracing::info!(share = %lease.share(), token = lease.token(), "program started");
        let (reports, orders) = ours.into_split();
        let reports = BufReader::new(reports).lines();
        Ok(Self { pid, is_reaped: false, program: None, orders, reports })
    }

    /// The lease was renewed.
    pub(super) async fn renew(&mut self, deadline: Instant, patience: Duration) {
        self.order(Order::until(deadline), patience).await;
    }

    /// The lease is over.
    pub(super) async fn stop(&mut self, deadline: Instant, patience: Duration) {
        self.order(Order::stop(deadline), patience).await;
    }

    /// A keeper that was stopped for many orders takes no more.
    async fn order(&mut self, order: Order, patience: Duration) {
        // If the keeper is gone, that is noticed by reading.
        let _ = timeout(patience, self.orders.write_all(line(order).as_bytes())).await;
    }

    /// How it ended, once nothing is left but perhaps the keeper. Cancel safe.
    pub(super) async fn end(&mut self) -> End {
        while let Ok(Some(line)) = self.reports.next_line().await {
            match serde_json::from_str(&line) {
                Ok(Report::Started { pid }) => {
                    self.program = Pid::from_raw(pid);
                }
                Ok(Report::Refused { errno }) => return End::Refused { errno },
                Ok(Report::Late) => return End::Late,
                Ok(Report::Ended { exit, killed }) => return End::Ended { exit, killed },
                Err(error) => tracing::error!(%error, line, "a report that makes no sense"),
            }
        }
        End::Lost
    }

    /// Kills the program and what is below the keeper, in case that it does not.
    pub(super) fn kill_program(&self) {
        // Once they were reaped their numbers may be those of others.
        let parents = [self.pid, rustix::process::getpid()];
        if let Some(program) = self.program.filter(|program| is_child(*program, &parents)) {
            signal_group(program, Signal::KILL);
        }
        if !self.is_reaped {
            signal_below(self.pid, Signal::KILL, &[]);
        }
    }

    /// Kills keeper, program and what is below them.
    pub(super) fn kill(&self, children: &Children) {
        self.kill_program();
        children.signal(Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_keeper_that_takes_no_orders_is_not_waited_for_longer_than_there_is_patience() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (reports, orders) = ours.into_split();
        let reports = BufReader::new(reports).lines();
        let pid = rustix::process::getpid();
        let mut keeper = Keeper { pid, is_reaped: false, program: None, orders, reports };
        let moment = Duration::from_millis(50);
        while timeout(moment, keeper.renew(Instant::from_nanos(0), 2 * moment)).await.is_ok() {}
        keeper.renew(Instant::from_nanos(0), moment).await;
        keeper.stop(Instant::from_nanos(0), moment).await;
        drop(theirs);
    }
}
