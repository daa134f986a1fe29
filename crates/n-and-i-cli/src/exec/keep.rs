//! The keeper: a process between wrapper and program that outlives neither's deadline.
//!
//! It starts the program and ends it, with all that it started: when the wrapper says so, at the
//! deadline if the wrapper is stopped and says nothing, and at once if the wrapper is gone.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, PipeReader, Write};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::os::unix::process::CommandExt;
use std::process::ExitCode;
use std::time::Duration;

use n_and_i::{BootClock, Clock, Instant};
use rustix::process::{Pid, Signal};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::Receiver;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::signal::unix::{SignalKind, signal};

use crate::exec::alarm::alarm;
use crate::exec::children::{ADOPTS, Children, is_group, signal_group};
use crate::exec::message::{Exit, Order, Report, line};
use crate::exec::{LAUNCH, this_program};

/// How often to look for what is left where nothing tells.
const LOOK: Duration = Duration::from_millis(10);

/// What the keeper is started with.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) stop: Signal,
    /// When everything is killed unless there is another order.
    pub(super) until: Instant,
    /// How long what the program leaves behind may finish when it has ended by itself.
    pub(super) grace: Duration,
    /// The program and its arguments.
    pub(super) words: Vec<OsString>,
}

/// Keeps a program until nothing is left of it. Standard input is the socket to the wrapper.
pub(super) fn run(job: &Job) -> io::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        // It may have been stopped on the way here, or the wrapper.
        if BootClock.now() >= job.until {
            return late();
        }
        let mut keeper = Keeper::start(job)?;
        let report = keeper.keep(job).await;
        keeper.report(report).await;
        Ok(ExitCode::SUCCESS)
    })
}

struct Keeper {
    orders: Lines<BufReader<OwnedReadHalf>>,
    reports: OwnedWriteHalf,
    children: Children,
    /// The program's process, which leads its group.
    program: Pid,
    status: Status,
    /// How the program ended, once it has.
    exit: Option<Exit>,
    until: Instant,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// What is there was asked to end.
    Stopping,
    /// The time is over.
    Late,
    /// The wrapper is gone.
    Alone,
}

impl Keeper {
    fn start(job: &Job) -> io::Result<Self> {
        ignore_signals()?;
        let children = Children::adopt()?;
        let socket = StdUnixStream::from(rustix::stdio::stdin().try_clone_to_owned()?);
        socket.set_nonblocking(true)?;
        let (orders, reports) = UnixStream::from_std(socket)?.into_split();
        let orders = BufReader::new(orders).lines();
        let (program, status) = spawn(&job.words)?;
        let (exit, until, phase) = (None, job.until, Phase::Running);
        Ok(Self { orders, reports, children, program, status, exit, until, phase })
    }

    /// Until nothing is left.
    async fn keep(&mut self, job: &Job) -> Report {
        self.report(Report::Started { pid: self.program.as_raw_nonzero().get() }).await;
        while self.reap(job) {
            if matches!(self.phase, Phase::Late | Phase::Alone) {
                self.signal(Signal::KILL);
            }
            let is_killing = matches!(self.phase, Phase::Late | Phase::Alone);
            tokio::select! {
                biased;
                () = alarm(self.until), if !is_killing => self.phase = Phase::Late,
                order = self.orders.next_line(), if self.phase != Phase::Alone => {
                    self.follow(order.ok().flatten().as_deref(), job);
                }
                () = self.children.changed() => {}
                () = tokio::time::sleep(LOOK), if is_killing || (self.exit.is_some() && !ADOPTS) => {}
            }
        }
        let exit = self.exit.unwrap_or(Exit::Signal(Signal::KILL.as_raw()));
        match self.status.errno().await {
            Some(errno) => Report::Refused { errno },
            None => Report::Ended { exit, killed: self.phase == Phase::Late },
        }
    }

    fn follow(&mut self, order: Option<&str>, job: &Job) {
        match order.and_then(|line| serde_json::from_str(line).ok()) {
            Some(Order::Until(until)) if self.phase == Phase::Running => {
                self.until = Instant::from_nanos(until);
            }
            Some(Order::Until(_)) => {}
            Some(Order::Stop(until)) => {
                let until = Instant::from_nanos(until);
                match self.phase {
                    Phase::Running => {
                        self.until = until;
                        self.phase = Phase::Stopping;
                        self.signal(job.stop);
                    }
                    // What is left of a program that ended by itself has no more time than that.
                    Phase::Stopping => self.until = self.until.min(until),
                    Phase::Late | Phase::Alone => {}
                }
            }
            None => self.phase = Phase::Alone,
        }
    }

    /// Reaps whatever has ended. Whether anything is left.
    fn reap(&mut self, job: &Job) -> bool {
        let reaped = self.children.reap(Some(self.program));
        let any_left = reaped.any_left || (!ADOPTS && is_group(self.program));
        if let Some(exit) = reaped.main {
            self.exit = Some(exit);
            if self.phase == Phase::Running && any_left {
                self.phase = Phase::Stopping;
                self.until = self.until.min(BootClock.now().saturating_add(job.grace));
                self.signal(job.stop);
            }
        }
        any_left
    }

    /// To the process group, and to all when it is about killing.
    fn signal(&self, signal: Signal) {
        // Once the program was reaped its number may be that of others. What it left is found
        // below this process, where there is a way.
        let is_program_there = self.exit.is_none();
        if is_program_there || !ADOPTS {
            signal_group(self.program, signal);
        }
        if !is_program_there || signal == Signal::KILL {
            self.children.signal(signal);
        }
    }

    async fn report(&mut self, report: Report) {
        // If the wrapper is gone, that is noticed by reading.
        let _ = self.reports.write_all(line(report).as_bytes()).await;
    }
}

fn late() -> io::Result<ExitCode> {
    let mut reports = File::from(rustix::stdio::stdin().try_clone_to_owned()?);
    // If the wrapper is gone, there is nobody to tell.
    let _ = reports.write_all(line(Report::Late).as_bytes());
    Ok(ExitCode::SUCCESS)
}

/// The wrapper decides about these, and the terminal sends them to all that have this name.
fn ignore_signals() -> io::Result<()> {
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        // Once a listener was made, the signal does nothing by itself any more.
        drop(signal(kind)?);
    }
    Ok(())
}

fn spawn(words: &[OsString]) -> io::Result<(Pid, Status)> {
    let (status, launcher) = io::pipe()?;
    let mut command = this_program()?;
    let keeper = rustix::process::getpid().as_raw_nonzero().to_string();
    command.args([LAUNCH, &keeper, "--"]).args(words).stdin(launcher).process_group(0);
    let child = command.spawn()?;
    Ok((Pid::from_child(&child), Status::new(status)?))
}

/// What the launcher has to say, if anything.
struct Status {
    pipe: Receiver,
}

impl Status {
    fn new(pipe: PipeReader) -> io::Result<Self> {
        Ok(Self { pipe: Receiver::from_owned_fd(pipe.into())? })
    }

    /// Why the program was not started, once its process has ended.
    async fn errno(&mut self) -> Option<i32> {
        let mut answer = String::new();
        self.pipe.read_to_string(&mut answer).await.ok()?;
        answer.parse().ok()
    }
}
