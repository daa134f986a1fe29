//! The wrapper: the worker, which starts and stops the program as what it owns comes and goes.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use n_and_i::{BootClock, Change, Clock, Instant, Lease, Peers};
use rustix::process::Signal;
use tokio::time;

use crate::exec::alarm::alarm;
use crate::exec::backoff::Backoff;
use crate::exec::children::{ADOPTS, Children, can_be_found};
use crate::exec::keeper::{End, Keeper};
use crate::exec::message::Exit;
use crate::exec::program::{self, Trouble};
use crate::exec::{Exec, Restart};
use crate::signals::Signals;

/// How long a keeper may take to end when nothing is left of the program.
const KEEPER_ENDS: Duration = Duration::from_secs(2);
/// How long to wait before killing again what is still there.
const AGAIN: Duration = Duration::from_millis(10);
/// How often the program is killed before its keeper is.
const KILLS: u32 = 200;

/// Runs the program until a signal comes, or until it has ended for good.
pub(crate) async fn run(exec: Exec) -> io::Result<ExitCode> {
    if let Err(trouble) = program::check(&exec.program) {
        return Ok(tell(&trouble));
    }
    if ADOPTS && !can_be_found() {
        let message = "/proc does not show this process: exec needs that of its own PID namespace";
        return Err(io::Error::other(message));
    }
    let mut signals = Signals::listen()?;
    let is_asked = Arc::new(AtomicBool::new(false));
    let children = Children::adopt()?;
    let peers = n_and_i_tokio::discover(exec.redis.clone(), exec.config.clone());
    let peers = peers.map_err(io::Error::other)?;
    let asked = Arc::clone(&is_asked);
    let peers = peers.with_graceful_shutdown(async move {
        signals.wait().await;
        asked.store(true, Ordering::Release);
    });
    let wrapper = Wrapper {
        exec,
        peers,
        children,
        owned: None,
        is_asked,
        is_over: false,
        backoff: Backoff::default(),
        start_at: time::Instant::now(),
    };
    wrapper.run().await
}

fn tell(trouble: &Trouble) -> ExitCode {
    // With standard error gone too there is nobody to tell.
    let _ = writeln!(io::stderr(), "n-and-i: {trouble}");
    trouble.code()
}

struct Wrapper {
    exec: Exec,
    peers: Peers,
    children: Children,
    owned: Option<Lease>,
    /// Whether the worker was asked to end. No change says so if it owned nothing any more.
    is_asked: Arc<AtomicBool>,
    /// Whether there will be no more changes.
    is_over: bool,
    backoff: Backoff,
    /// The program is not started before.
    start_at: time::Instant,
}

impl Wrapper {
    async fn run(mut self) -> io::Result<ExitCode> {
        while let Some(lease) = self.lease_to_serve().await {
            let started = time::Instant::now();
            let (end, by_itself) = self.attend(&lease).await?;
            let exit = match end {
                End::Refused { errno } => {
                    self.leave().await;
                    return Ok(tell(&program::refused(&self.exec.program, errno)));
                }
                End::Ended { exit, killed } => {
                    if killed {
                        tracing::warn!("program killed, it did not end within its drain window");
                    }
                    exit
                }
                // If the lease is live all the same it is started under that.
                End::Late => continue,
                End::Lost => {
                    tracing::error!("program killed, as its keeper vanished");
                    Exit::Signal(Signal::KILL.as_raw())
                }
            };
            tracing::info!(%exit, "program ended");
            if self.is_asked.load(Ordering::Acquire) {
                return Ok(exit.code());
            }
            if by_itself {
                if self.exec.restart == Restart::Never {
                    self.leave().await;
                    return Ok(exit.code());
                }
                let delay = self.backoff.after(started.elapsed());
                tracing::warn!(%exit, ?delay, "program ended by itself, to be started again");
                self.start_at = time::Instant::now() + delay;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The lease on what is owned, once the program may be started. None if it never may again.
    async fn lease_to_serve(&mut self) -> Option<Lease> {
        loop {
            let is_early = time::Instant::now() < self.start_at;
            let live = self.owned.as_ref().filter(|lease| lease.is_live());
            if let Some(lease) = live
                && !is_early
            {
                return Some(lease.clone());
            }
            if self.is_over {
                return None;
            }
            let is_owner = live.is_some();
            tokio::select! {
                biased;
                change = self.peers.next() => self.note(change.as_ref()),
                () = self.children.changed() => drop(self.children.reap(None)),
                () = time::sleep_until(self.start_at), if is_owner => {}
            }
        }
    }

    fn note(&mut self, change: Option<&Change>) {
        self.owned = change.and_then(Change::lease).cloned();
        self.is_over |= change.is_none();
    }

    /// Runs the program until nothing is left of it. Also whether it ended by itself.
    async fn attend(&mut self, lease: &Lease) -> io::Result<(End, bool)> {
        let mut keeper = Keeper::start(&self.exec, lease)?;
        // A fraction of the time between renewals.
        let look = self.exec.config.interval() / 16;
        let mut deadline = None;
        let mut stop: Option<Stop> = None;
        let end = loop {
            if stop.is_none() {
                let is_live = lease.is_live();
                let window = lease.drain_window();
                if !is_live {
                    let left = window.remaining();
                    tracing::info!(?left, "program asked to end");
                    keeper.stop(window.deadline(), left).await;
                    stop = Some(Stop { next: window.deadline(), kills: 0 });
                } else if deadline.replace(window.deadline()) != Some(window.deadline()) {
                    keeper.renew(window.deadline(), lease.remaining()).await;
                }
            }
            tokio::select! {
                biased;
                change = self.peers.next(), if !self.is_over => self.note(change.as_ref()),
                () = lease.ended(), if stop.is_none() => {}
                end = keeper.end() => break end,
                () = self.children.changed() => {
                    keeper.is_reaped |= self.children.reap(Some(keeper.pid)).main.is_some();
                }
                () = time::sleep(look.min(lease.remaining())), if stop.is_none() => {}
                () = alarm(stop.map_or(Instant::from_nanos(0), |stop| stop.next)), if stop.is_some() => {
                    stop = stop.map(|stop| stop.kill(&keeper, &self.children));
                }
            }
        };
        self.dismiss(keeper, matches!(end, End::Lost)).await;
        Ok((end, stop.is_none()))
    }

    /// Waits for the end of the keeper. If it did not see to that itself, kills all that is
    /// left.
    async fn dismiss(&mut self, mut keeper: Keeper, is_lost: bool) {
        let late = time::Instant::now() + if is_lost { Duration::ZERO } else { KEEPER_ENDS };
        loop {
            let reaped = self.children.reap(Some(keeper.pid));
            keeper.is_reaped |= reaped.main.is_some();
            if keeper.is_reaped && !(is_lost && reaped.any_left) {
                return;
            }
            if time::Instant::now() >= late {
                keeper.kill(&self.children);
            }
            tokio::select! {
                () = self.children.changed() => {}
                () = time::sleep(AGAIN) => {}
            }
        }
    }

    /// Ends the membership.
    async fn leave(&mut self) {
        self.peers.stop();
        while self.peers.next().await.is_some() {}
    }
}

/// What is done against a keeper that does not keep the deadline.
#[derive(Clone, Copy)]
struct Stop {
    next: Instant,
    kills: u32,
}

impl Stop {
    /// From the deadline on the program; if the keeper does not see that it ended, the keeper too.
    fn kill(self, keeper: &Keeper, children: &Children) -> Self {
        if self.kills < KILLS {
            keeper.kill_program();
        } else {
            keeper.kill(children);
        }
        Self { next: BootClock.now().saturating_add(AGAIN), kills: self.kills.saturating_add(1) }
    }
}
