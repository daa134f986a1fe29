//! How programs end, by themselves and when they are asked to.

use std::time::{Duration, Instant};

use n_and_i_test_support::{RedisServer, eventually};
use rustix::process::Signal;

use crate::exec::start_shell;

/// Goes on until it is told to end, which takes it a moment.
const DRAINS: &str = "trap 'sleep 0.02; echo drained; exit 3' TERM; echo started; \
    while :; do sleep 0.01; done";

#[test]
fn it_is_drained_when_the_worker_is_asked_to_end() {
    let server = RedisServer::start();
    for signal in [Signal::TERM, Signal::INT] {
        let mut worker = start_shell(&server, "500ms", &[], DRAINS);
        worker.wait_for("started");
        worker.signal(signal);
        assert_eq!(worker.end().code(), Some(3), "{:?}", worker.stderr());
        assert_eq!(worker.stdout(), ["started", "drained"]);
        // The shell has its say about its child, the worker has none.
        let errors = worker.stderr();
        assert!(!errors.iter().any(|line| line.contains("n_and_i")), "{errors:?}");
    }
}

#[test]
fn its_exit_code_is_the_workers_also_if_it_was_draining_already() {
    let server = RedisServer::start();
    let script = "trap 'echo drains; sleep 0.3; exit 3' TERM; echo started; \
        while :; do sleep 0.01; done";
    let mut worker = start_shell(&server, "2s", &[], script);
    worker.wait_for("started");
    server.suspend();
    worker.wait_for("drains");
    worker.signal(Signal::TERM);
    assert_eq!(worker.end().code(), Some(3), "{:?}", worker.stderr());
    server.resume();
}

#[test]
fn it_gets_the_signal_that_it_wants() {
    let server = RedisServer::start();
    let script = "trap 'echo asked; exit 0' USR1; echo started; while :; do sleep 0.01; done";
    let mut worker = start_shell(&server, "300ms", &["--stop-signal", "USR1"], script);
    worker.wait_for("started");
    worker.signal(Signal::TERM);
    assert_eq!(worker.end().code(), Some(0));
    assert_eq!(worker.stdout(), ["started", "asked"]);
}

#[test]
fn one_that_does_not_end_is_killed_at_the_deadline_and_not_before() {
    let server = RedisServer::start();
    let script = "trap 'echo asked' TERM; echo \"started $N_AND_I_DRAIN_SECONDS\"; \
        while :; do sleep 0.01; done";
    let mut worker = start_shell(&server, "2s", &[], script);
    let line = worker.wait_for("started ");
    let least: f64 = line.strip_prefix("started ").unwrap().parse().unwrap();
    let before = Instant::now();
    worker.signal(Signal::TERM);
    assert_eq!(worker.end().code(), Some(128 + 9));
    assert!(before.elapsed() >= Duration::from_secs_f64(least), "{:?}", before.elapsed());
    assert!(worker.stdout().contains(&"asked".to_owned()), "{:?}", worker.stdout());
    let errors = worker.stderr();
    assert!(errors.iter().any(|line| line.contains("did not end within its drain window")));
}

#[test]
fn what_it_started_has_the_drain_window_too() {
    let server = RedisServer::start();
    // The shell ends at once, and leaves one that takes longer.
    let script = "bash -c 'trap \"sleep 0.05; echo drained; exit 0\" TERM; echo started; \
        while :; do sleep 0.01; done' & wait";
    let mut worker = start_shell(&server, "800ms", &[], script);
    worker.wait_for("started");
    worker.signal(Signal::TERM);
    assert_eq!(worker.end().code(), Some(128 + 15));
    assert_eq!(worker.stdout(), ["started", "drained"]);
}

#[test]
fn what_it_leaves_behind_when_it_ends_is_asked_to_end_too() {
    let server = RedisServer::start();
    let script = "bash -c 'trap \"echo drained; exit 0\" TERM; echo started; \
        while :; do sleep 0.01; done' & sleep 0.2; exit 4";
    let mut worker = start_shell(&server, "800ms", &["--restart", "never"], script);
    assert_eq!(worker.end().code(), Some(4), "{:?}", worker.stderr());
    assert_eq!(worker.stdout(), ["started", "drained"]);
}

#[test]
fn its_exit_code_is_the_workers_if_it_is_not_to_be_started_again() {
    let server = RedisServer::start();
    for (script, code) in [("exit 0", 0), ("exit 7", 7), ("kill -KILL $$", 128 + 9)] {
        let mut worker = start_shell(&server, "200ms", &["--restart", "never"], script);
        assert_eq!(worker.end().code(), Some(code), "{script}: {:?}", worker.stderr());
    }
}

#[test]
fn one_that_ends_by_itself_is_started_again_later_and_later() {
    let server = RedisServer::start();
    let mut worker = start_shell(&server, "200ms", &["-v"], "echo started; exit 7");
    let line = worker.wait_for_error("delay=800ms");
    assert!(
        line.contains("program ended by itself, to be started again exit=exit code 7"),
        "{line}"
    );
    let errors = worker.stderr();
    let delays: Vec<_> = errors
        .iter()
        .filter_map(|line| line.split_once("delay=").map(|(_, delay)| delay))
        .collect();
    assert_eq!(delays, ["200ms", "400ms", "800ms"], "{errors:?}");
    assert_eq!(worker.stdout().len(), 3, "{:?}", worker.stdout());
    worker.signal(Signal::TERM);
    assert_eq!(worker.end().code(), Some(0));
}

#[test]
fn it_is_ended_in_time_without_redis_and_started_again_with_it() {
    let mut server = RedisServer::start();
    let worker = start_shell(&server, "500ms", &[], DRAINS);
    worker.wait_for("started");
    server.kill();
    worker.wait_for("drained");
    server.restart();
    eventually("it is started again", || {
        (worker.stdout() == ["started", "drained", "started"]).then_some(())
    });
}
