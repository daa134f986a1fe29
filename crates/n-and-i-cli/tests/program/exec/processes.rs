//! Looking at processes, and at what they leave behind.

use std::fs;

use n_and_i_test_support::eventually;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::child::Program;

/// The processes right below one, zombies too.
pub(super) fn children(pid: Pid) -> Vec<Pid> {
    let pid = pid.as_raw_nonzero();
    // It may be gone.
    let listed = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let listed = listed.unwrap_or_default();
    listed.split_whitespace().map(|pid| number(pid).expect("a process")).collect()
}

/// The process whose number this is.
pub(super) fn number(text: &str) -> Option<Pid> {
    Pid::from_raw(text.parse().ok()?)
}

/// Whether it runs, and is not a zombie.
pub(super) fn runs(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

/// The keeper of a wrapper that has one.
pub(super) fn keeper(wrapper: &Program) -> Pid {
    eventually("there is a keeper", || children(wrapper.pid()).first().copied())
}

pub(super) fn send(pid: Pid, signal: Signal) {
    kill_process(pid, signal).expect("the process takes signals");
}

pub(super) fn wait_until_gone(pids: &[Pid]) {
    eventually("all have ended", || pids.iter().all(|pid| !runs(*pid)).then_some(()));
}

pub(super) fn exists(pid: Pid) -> bool {
    test_kill_process(pid).is_ok()
}
