//! The processes below this one: taking in orphans, waiting for all, signals to all.

use std::io;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions};
use tokio::signal::unix::{Signal as Listener, SignalKind, signal};

use crate::exec::message::Exit;

/// Whether processes whose parent has ended become children of this one. Elsewhere they are the
/// system's first process's, and lost unless they stay in the process group.
pub(super) const ADOPTS: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// How often to look for the end of children where nothing tells.
const LOOK: Duration = Duration::from_millis(50);

/// Tells when children end, own and adopted ones.
#[derive(Debug)]
pub(super) struct Children {
    ended: Listener,
    /// Whether whoever started this process has blocked the signal: then nothing tells.
    is_untold: bool,
    /// Those that were there before, of a shell that then became this process. They are let be.
    others: Vec<Pid>,
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
        let others = listed_children(rustix::process::getpid());
        Ok(Self { ended, is_untold: is_blocked(Signal::CHILD), others })
    }

    /// Completes when a child may have ended since the last time. Cancel safe.
    pub(super) async fn changed(&mut self) {
        if self.is_untold {
            tokio::time::sleep(LOOK).await;
        } else {
            self.ended.recv().await;
        }
    }

    /// Reaps the children that have ended.
    pub(super) fn reap(&mut self, main: Option<Pid>) -> Reaped {
        let mut reaped = Reaped { main: None, any_left: true };
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    self.others.retain(|other| *other != pid);
                    if Some(pid) == main {
                        reaped.main = Exit::of(status);
                    }
                }
                Err(Errno::INTR) => {}
                Ok(None) => {
                    reaped.any_left = self.are_any_not_others();
                    return reaped;
                }
                // There are no children.
                Err(_) => {
                    reaped.any_left = false;
                    return reaped;
                }
            }
        }
    }

    fn are_any_not_others(&self) -> bool {
        let are_any = || {
            let listed = listed_children(rustix::process::getpid());
            listed.iter().any(|pid| !self.others.contains(pid))
        };
        // Without others whatever is there is none of them.
        self.others.is_empty() || are_any()
    }

    /// Sends a signal to all processes below this one, as far as they can be found.
    pub(super) fn signal(&self, signal: Signal) {
        signal_below(rustix::process::getpid(), signal, &self.others);
    }
}

/// Sends a signal to all processes below that one, as far as they can be found, but not to
/// these and what is below them.
pub(super) fn signal_below(root: Pid, signal: Signal, others: &[Pid]) {
    for pid in descendants(root, others) {
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

/// Whether this process does not get that signal. No where that cannot be told.
fn is_blocked(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
    let blocked = blocked.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    blocked.is_some_and(|mask| mask >> (signal.as_raw() - 1) & 1 == 1)
}

/// Whether there is a `/proc` by which the processes below this one can be found, not that of
/// other processes.
pub(super) fn can_be_found() -> bool {
    let this = rustix::process::getpid().as_raw_nonzero().to_string();
    std::fs::read_link("/proc/self").is_ok_and(|link| link.to_str() == Some(this.as_str()))
}

/// All processes below that one, without these and what is below them. None if they cannot be
/// found.
fn descendants(root: Pid, others: &[Pid]) -> Vec<Pid> {
    if !can_be_found() {
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
    found.extend(listed_children(root).iter().filter(|pid| !others.contains(pid)));
    let mut at = 0;
    while at < found.len() {
        let parent = found[at];
        for (pid, of) in &parents {
            if *of == parent && !found.contains(pid) && !others.contains(pid) {
                found.push(*pid);
            }
        }
        at += 1;
    }
    found.split_off(1)
}

/// The processes right below that one, also those that `/proc` hides otherwise (`hidepid`). None
/// where the kernel keeps no such list.
fn listed_children(of: Pid) -> Vec<Pid> {
    let threads = std::fs::read_dir(format!("/proc/{}/task", of.as_raw_nonzero()));
    let lists = threads.into_iter().flatten().flatten().map(|thread| {
        // The thread may have ended.
        std::fs::read_to_string(thread.path().join("children")).unwrap_or_default()
    });
    let words = lists.collect::<Vec<_>>().concat();
    words.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

/// Whether that number is still the one of a child of one of these. Where that cannot be told it
/// is.
pub(super) fn is_child(pid: Pid, of: &[Pid]) -> bool {
    match std::fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())) {
        Ok(stat) => parent(&String::from_utf8_lossy(&stat)).is_some_and(|pid| of.contains(&pid)),
        Err(error) => !ADOPTS || error.kind() != io::ErrorKind::NotFound,
    }
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
        let found = descendants(rustix::process::getpid(), &[]);
        assert!(found.contains(&Pid::from_child(&child)), "{found:?}");
        assert!(found.contains(&grandchild.unwrap()), "{found:?}");
        assert!(is_child(Pid::from_child(&child), &[rustix::process::getpid()]));
        assert!(!is_child(grandchild.unwrap(), &[rustix::process::getpid()]));
        let of_others = descendants(rustix::process::getpid(), &[Pid::from_child(&child)]);
        assert!(!of_others.contains(&grandchild.unwrap()), "{of_others:?}");
        let listed = listed_children(rustix::process::getpid());
        assert!(listed.contains(&Pid::from_child(&child)), "{listed:?}");
        rustix::process::kill_process(grandchild.unwrap(), Signal::KILL).unwrap();
        child.wait().unwrap();
        assert!(!descendants(rustix::process::getpid(), &[]).contains(&grandchild.unwrap()));
    }
}
