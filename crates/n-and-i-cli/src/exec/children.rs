//! The processes below this one: taking in orphans, waiting for all, signals to all.

use std::io;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions};
use tokio::signal::unix::{Signal as Listener, SignalKind, signal};

use crate::exec::message::Exit;

/// Whether processes whose parent has ended become children of this one. Elsewhere they are the
/// system's first process's, and lost unless they stay in the process group.
pub(super) const ADOPTS: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// Tells when children end, own and adopted ones.
#[derive(Debug)]
pub(super) struct Children {
    ended: Listener,
}

/// What was found by reaping.
#[derive(Debug)]
pub(super) struct Reaped {
    /// How the main child ended, if it was reaped now.
    pub(super) main: Option<Exit>,
    pub(super) any_left: bool,
}

impl Children {
    /// From now on orphans below this process are its children.
    pub(super) fn adopt() -> io::Result<Self> {
        let ended = signal(SignalKind::child())?;
        #[cfg(any(target_os = "linux", target_os = "android"))]
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        Ok(Self { ended })
    }

    /// Completes when a child may have ended since the last time. Cancel safe.
    pub(super) async fn changed(&mut self) {
        self.ended.recv().await;
    }
}

/// Reaps the children that have ended.
pub(super) fn reap(main: Option<Pid>) -> Reaped {
    let mut reaped = Reaped { main: None, any_left: true };
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if Some(pid) == main => reaped.main = Exit::of(status),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return reaped,
            // There are no children.
            Err(_) => {
                reaped.any_left = false;
                return reaped;
            }
        }
    }
}

/// Sends a signal to all processes below this one, as far as they can be found.
pub(super) fn signal_descendants(signal: Signal) {
    for pid in descendants(rustix::process::getpid()) {
        send(rustix::process::kill_process(pid, signal));
    }
}

/// Sends a signal to a process group.
pub(super) fn signal_group(group: Pid, signal: Signal) {
    send(rustix::process::kill_process_group(group, signal));
}

/// Whether the process group has a process, which may be a zombie.
pub(super) fn is_group(group: Pid) -> bool {
    rustix::process::test_kill_process_group(group) != Err(Errno::SRCH)
}

fn send(result: rustix::io::Result<()>) {
    match result {
        // Those that are gone need none.
        Ok(()) | Err(Errno::SRCH) => {}
        Err(error) => tracing::warn!(%error, "a process did not take a signal"),
    }
}

/// All processes below this one. None where there is no `/proc`, or that of other processes.
fn descendants(root: Pid) -> Vec<Pid> {
    let is_ours = std::fs::read_link("/proc/self")
        .is_ok_and(|link| link.to_str() == Some(&root.as_raw_nonzero().to_string()));
    if !is_ours {
        return Vec::new();
    }
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let parents: Vec<(Pid, Pid)> = processes
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let pid = path.file_name()?.to_str()?.parse().ok()?;
            // Its name may be any bytes.
            let stat = std::fs::read(path.join("stat")).ok()?;
            Some((Pid::from_raw(pid)?, parent(&String::from_utf8_lossy(&stat))?))
        })
        .collect();
    let mut found = vec![root];
    let mut at = 0;
    while at < found.len() {
        let parent = found[at];
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    found.split_off(1)
}

/// The parent in a line like `7 (a name) S 3 ...`. A name can have spaces and parentheses.
fn parent(stat: &str) -> Option<Pid> {
    let after_name = &stat[stat.rfind(')')? + 1..];
    Pid::from_raw(after_name.split_whitespace().nth(1)?.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_read_after_any_name() {
        assert_eq!(parent("7 (sh) S 3 7 7 0"), Pid::from_raw(3));
        assert_eq!(parent("7 (a) R 9 b) (c) S 12 7"), Pid::from_raw(12));
        for bad in ["", "7 (sh", "7 (sh)", "7 (sh) S", "7 (sh) S x", "1 (init) S 0 1"] {
            assert_eq!(parent(bad), None, "{bad}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn grandchildren_are_found() {
        use std::io::Read as _;
        use std::process::{Command, Stdio};

        let mut command = Command::new("sh");
        let command = command.args(["-c", "sleep 600 & echo $!; wait"]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut answer = Vec::new();
        let mut output = child.stdout.take().unwrap();
        while answer.last() != Some(&b'\n') {
            let mut byte = [0];
            output.read_exact(&mut byte).unwrap();
            answer.push(byte[0]);
        }
        let grandchild = Pid::from_raw(String::from_utf8(answer).unwrap().trim().parse().unwrap());
        let found = descendants(rustix::process::getpid());
        assert!(found.contains(&Pid::from_child(&child)), "{found:?}");
        assert!(found.contains(&grandchild.unwrap()), "{found:?}");
        rustix::process::kill_process(grandchild.unwrap(), Signal::KILL).unwrap();
        child.wait().unwrap();
        assert!(!descendants(rustix::process::getpid()).contains(&grandchild.unwrap()));
    }
}
