//! Wrapper and keeper stopped and killed: nothing is left behind, and no deadline is missed.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use n_and_i_test_support::{RedisServer, eventually};
use rustix::process::{Pid, Signal};

use crate::child::{Program, program};
use crate::exec::processes::{children, exists, keeper, number, runs, send, wait_until_gone};
use crate::exec::{shell, start_shell};

/// Does not end when it is asked to, and has a child of the same kind, and one that left the
/// process group. Prints the numbers of all three.
const STUBBORN: &str = "trap '' TERM; \
    bash -c 'while :; do sleep 0.01; done' & one=$!; \
    setsid bash -c 'while :; do sleep 0.01; done' & \
    echo \"$$ $one $! drain $N_AND_I_DRAIN_SECONDS\"; while :; do sleep 0.01; done";

/// The processes of the program that was started as the one with this number, from 0 on.
fn processes(worker: &Program, start: usize) -> Vec<Pid> {
    let line = eventually("it is started", || {
        worker.stdout().into_iter().filter(|line| line.contains(" drain ")).nth(start)
    });
    let pids: Vec<_> = line.split(' ').take(3).map(|pid| number(pid).expect("a process")).collect();
    assert!(pids.iter().all(|pid| exists(*pid)), "{line}");
    pids
}

#[test]
fn a_killed_wrapper_leaves_nothing() {
    let server = RedisServer::start();
    let mut worker = start_shell(&server, "1s", &[], STUBBORN);
    let pids = processes(&worker, 0);
    let keeper = keeper(&worker);
    worker.signal(Signal::KILL);
    worker.end();
    wait_until_gone(&pids);
    wait_until_gone(&[keeper]);
}

#[test]
fn a_stopped_wrapper_does_not_keep_the_program_beyond_its_deadline() {
    let server = RedisServer::start();
    let mut worker = start_shell(&server, "1s", &[], STUBBORN);
    let pids = processes(&worker, 0);
    worker.signal(Signal::STOP);
    wait_until_gone(&pids);
    worker.signal(Signal::CONT);
    let next = processes(&worker, 1);
    worker.signal(Signal::TERM);
    assert_eq!(worker.end().code(), Some(128 + 9), "{:?}", worker.stderr());
    wait_until_gone(&next);
}

#[test]
fn a_killed_keeper_leaves_nothing_and_another_follows() {
    let server = RedisServer::start();
    let mut worker = start_shell(&server, "1s", &[], STUBBORN);
    let pids = processes(&worker, 0);
    send(keeper(&worker), Signal::KILL);
    wait_until_gone(&pids);
    worker.wait_for_error("its keeper vanished");
    let next = processes(&worker, 1);
    worker.signal(Signal::TERM);
    worker.end();
    wait_until_gone(&next);
}

#[test]
fn what_was_there_before_outlives_a_killed_keeper() {
    let server = RedisServer::start();
    let wrapper = shell(&server, "500ms", &[], STUBBORN);
    let mut before = Command::new("bash");
    before.args(["-c", "sleep 600 & echo other $!; exec \"$0\" \"$@\""]);
    before.arg(wrapper.get_program()).args(wrapper.get_args()).env_remove("REDIS_URL");
    let mut worker = Program::run(&mut before);
    let pids = processes(&worker, 0);
    let other = worker.wait_for("other ");
    let other = number(other.trim_start_matches("other ")).expect("a process");
    let keeper = children(worker.pid()).into_iter().find(|pid| *pid != other);
    send(keeper.expect("there is a keeper"), Signal::KILL);
    wait_until_gone(&pids);
    let next = processes(&worker, 1);
    assert!(runs(other));
    worker.signal(Signal::TERM);
    eventually("the program is gone", || (!worker.is_running()).then_some(()));
    wait_until_gone(&next);
    // It holds the worker's output.
    send(other, Signal::KILL);
    worker.end();
}

#[test]
fn wrapper_and_keeper_killed_at_once_take_the_program_with_them() {
    let server = RedisServer::start();
    let worker = start_shell(&server, "1s", &[], STUBBORN);
    let pids = processes(&worker, 0);
    let keeper = keeper(&worker);
    // So that it cannot do anything about the wrapper's end.
    send(keeper, Signal::STOP);
    worker.signal(Signal::KILL);
    send(keeper, Signal::KILL);
    wait_until_gone(&pids[..1]);
    // What the program started itself is nobody's now.
    for pid in &pids[1..] {
        send(*pid, Signal::KILL);
    }
}

#[test]
fn a_stopped_keeper_does_not_keep_the_program_beyond_its_deadline() {
    let server = RedisServer::start();
    let mut worker = start_shell(&server, "1s", &[], STUBBORN);
    let pids = processes(&worker, 0);
    let keeper = keeper(&worker);
    send(keeper, Signal::STOP);
    worker.signal(Signal::TERM);
    assert_eq!(worker.end().code(), Some(128 + 9), "{:?}", worker.stderr());
    wait_until_gone(&pids);
    wait_until_gone(&[keeper]);
}

#[test]
fn a_stopped_keeper_does_not_keep_what_left_the_group_for_longer() {
    let server = RedisServer::start();
    let mut worker = start_shell(&server, "400ms", &[], STUBBORN);
    let pids = processes(&worker, 0);
    let keeper = keeper(&worker);
    send(keeper, Signal::STOP);
    worker.signal(Signal::TERM);
    wait_until_gone(&pids);
    // Which is killed itself only if it does not go on after that.
    assert!(runs(keeper));
    worker.end();
}

#[test]
fn a_stopped_program_is_killed_at_its_deadline() {
    let server = RedisServer::start();
    let mut worker = start_shell(&server, "1s", &[], STUBBORN);
    let pids = processes(&worker, 0);
    send(pids[0], Signal::STOP);
    let drain = eventually("how long it has", || {
        worker.stdout()[0].rsplit(' ').next().and_then(|drain| drain.parse().ok())
    });
    let before = Instant::now();
    worker.signal(Signal::TERM);
    assert_eq!(worker.end().code(), Some(128 + 9));
    assert!(before.elapsed() >= Duration::from_secs_f64(drain), "{:?}", before.elapsed());
    wait_until_gone(&pids);
}

#[test]
fn orphans_are_reaped_while_the_program_runs() {
    let server = RedisServer::start();
    let script = "(bash -c 'exit 0' & echo \"orphan $!\"); (sleep 0.2 & echo \"orphan $!\"); \
        echo \"program $$\"; while :; do sleep 0.01; done";
    let mut worker = start_shell(&server, "500ms", &[], script);
    worker.wait_for("program ");
    let orphans: Vec<Pid> =
        worker.stdout().iter().filter_map(|line| number(line.strip_prefix("orphan ")?)).collect();
    assert_eq!(orphans.len(), 2, "{:?}", worker.stdout());
    eventually("they are gone, not zombies", || {
        orphans.iter().all(|pid| !exists(*pid)).then_some(())
    });
    worker.signal(Signal::TERM);
    worker.end();
}

#[test]
fn orphans_are_reaped_while_there_is_no_program() {
    let words = ["--", "bash", "-c", "echo started"];
    // Nobody listens there.
    let words = [&super::words("redis://127.0.0.1:1", "500ms", &[])[..], &words].concat();
    let wrapper = program(&words);
    let mut before = Command::new("bash");
    before.args(["-c", "sleep 0.2 & echo $!; exec \"$0\" \"$@\""]);
    before.arg(wrapper.get_program()).args(wrapper.get_args()).env_remove("REDIS_URL");
    let mut worker = Program::run(&mut before);
    let other = eventually("the shell names it", || number(worker.stdout().first()?));
    eventually("it is gone, no zombie", || (!exists(other)).then_some(()));
    worker.signal(Signal::TERM);
    assert_eq!(worker.end().code(), Some(0));
    assert_eq!(worker.stdout().len(), 1, "{:?}", worker.stdout());
}

#[test]
fn the_keeper_leaves_it_to_the_wrapper_what_signals_mean() {
    let server = RedisServer::start();
    let script = "trap 'exit 3' TERM; echo started; while :; do sleep 0.01; done";
    let mut worker = start_shell(&server, "1s", &[], script);
    worker.wait_for("started");
    // As a service manager does that asks all of a unit to end.
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        send(keeper(&worker), signal);
    }
    worker.signal(Signal::TERM);
    assert_eq!(worker.end().code(), Some(3), "{:?}", worker.stderr());
}

#[test]
fn the_end_is_noticed_also_if_the_signal_that_tells_is_blocked() {
    let server = RedisServer::start();
    let script = "trap 'exit 3' TERM; echo started; while :; do sleep 0.01; done";
    let wrapper = shell(&server, "4s", &[], script);
    let mut blocked = Command::new("env");
    blocked.arg("--block-signal=CHLD").arg(wrapper.get_program()).args(wrapper.get_args());
    let mut worker = Program::run(blocked.env_remove("REDIS_URL").stdin(Stdio::null()));
    worker.wait_for("started");
    worker.signal(Signal::TERM);
    assert_eq!(worker.end().code(), Some(3), "{:?}", worker.stderr());
    let errors = worker.stderr();
    assert!(!errors.iter().any(|line| line.contains("program killed")), "{errors:?}");
}

/// Runs what follows as the first process of its namespace.
fn unshare() -> Command {
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"]);
    unshare.stdin(Stdio::null());
    unshare
}

#[test]
fn without_a_proc_of_its_own_it_does_not_join() {
    let server = RedisServer::start();
    let wrapper = shell(&server, "200ms", &[], "echo started");
    let mut first = unshare();
    first.arg("unshare").args(["--pid", "--fork", "--kill-child"]);
    first.arg(wrapper.get_program()).args(wrapper.get_args()).env_remove("REDIS_URL");
    let mut outer = Program::run(&mut first);
    assert_eq!(outer.end().code(), Some(1));
    assert!(outer.stderr()[0].contains("/proc"), "{:?}", outer.stderr());
    let keys: Vec<String> = server.command(&["KEYS", "*"]);
    assert!(keys.is_empty(), "{keys:?}");
}

/// As in a container whose only program this is.
#[test]
fn as_the_first_process_it_reaps_and_takes_signals() {
    let server = RedisServer::start();
    let script = "trap 'echo drained; exit 5' TERM; (sleep 0.1 & echo \"orphan $!\"); \
        echo \"below $PPID\"; while :; do sleep 0.01; done";
    let wrapper = shell(&server, "500ms", &[], script);
    let mut first = unshare();
    let can = first.arg("true").status().expect("unshare, of util-linux, is installed");
    assert!(can.success(), "this test makes a process the first one: allow user namespaces");
    let mut first = unshare();
    first.arg(wrapper.get_program()).args(wrapper.get_args()).env_remove("REDIS_URL");
    let mut outer = Program::run(&mut first);
    outer.wait_for("below ");
    let wrapper = children(outer.pid())[0];
    // An orphan of another process in there, such as one from a shell in the container.
    let mut visitor = Command::new("nsenter");
    visitor.args(["--user", "--pid", "--mount", "--target"]);
    visitor.arg(wrapper.as_raw_nonzero().to_string());
    let visited = visitor.args(["sh", "-c", "sleep 0.3 & exit 0"]).status().unwrap();
    assert!(visited.success(), "{visited}");
    let is_adopted = || children(wrapper).len() == 2;
    eventually("the orphan of the other is the first process's", || is_adopted().then_some(()));
    eventually("and is reaped by it", || (children(wrapper).len() == 1).then_some(()));
    let keeper = children(wrapper)[0];
    eventually("the program's own orphan is reaped by the keeper", || {
        children(keeper).iter().all(|pid| runs(*pid)).then_some(())
    });
    send(wrapper, Signal::TERM);
    assert_eq!(outer.end().code(), Some(5), "{:?}", outer.stderr());
    outer.wait_for("drained");
}
