//! What a program is started with, and programs that do not start.

use std::fs;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;

use n_and_i_test_support::RedisServer;
use rustix::process::Signal;

use crate::child::{Program, program};
use crate::exec::{shell, start_shell, words};

#[test]
fn the_environment_says_what_is_owned() {
    let server = RedisServer::start();
    let variables =
        "echo $N_AND_I_I $N_AND_I_N $N_AND_I_STAGE $N_AND_I_TOKEN $N_AND_I_DRAIN_SECONDS";
    let mut worker = start_shell(&server, "400ms", &["--restart", "never"], variables);
    assert_eq!(worker.end().code(), Some(0), "{:?}", worker.stderr());
    let lines = worker.stdout();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let words: Vec<_> = lines[0].split(' ').collect();
    assert_eq!(words[..2], ["0", "1"], "{lines:?}");
    let stage: u64 = words[2].parse().unwrap();
    assert_eq!(words[3], (stage * 400).to_string());
    let drain: f64 = words[4].parse().unwrap();
    // The middle of an interval to that of the next, and the gap, leave so much of the longest
    // time to drain.
    assert!((0.08..=0.4).contains(&drain), "{drain}");
}

#[test]
fn nothing_is_started_when_the_time_is_over() {
    // As the wrapper starts a keeper, with a deadline long ago.
    let (mut wrapper, keeper) = UnixStream::pair().unwrap();
    let mut keep = program(&["__keep", "15", "1", "1000000", "--", "echo", "started"]);
    let output = keep.stdin(OwnedFd::from(keeper)).output().unwrap();
    drop(keep);
    let mut report = String::new();
    wrapper.read_to_string(&mut report).unwrap();
    assert_eq!(report, "\"late\"\n", "{output:?}");
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
}

#[test]
fn output_passes_as_it_is_and_input_is_empty() {
    let server = RedisServer::start();
    let script = r"printf '\x00\xff no line'; cat; printf 'error\xfe' >&2";
    let output = shell(&server, "200ms", &["--restart", "never"], script).output().unwrap();
    assert_eq!(output.stdout, b"\x00\xff no line");
    assert_eq!(output.stderr, b"error\xfe");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn arguments_reach_the_program_as_they_are() {
    let server = RedisServer::start();
    let url = server.url();
    let script =
        ["--restart", "never", "--", "printf", "%s|", "-v", "a b", "--", "--help", "$HOME"];
    let mut worker = Program::start(&words(&url, "200ms", &script));
    assert_eq!(worker.end().code(), Some(0), "{:?}", worker.stderr());
    assert_eq!(worker.stdout(), ["-v|a b|--|--help|$HOME|"]);
}

#[test]
fn a_program_that_is_not_there_is_reported_before_the_group_is_joined() {
    let server = RedisServer::start();
    let directory = tempfile::tempdir().unwrap();
    let plain = directory.path().join("plain");
    fs::write(&plain, "echo x").unwrap();
    let missing = directory.path().join("missing");
    for (path, code, message) in [
        ("no-such-program", 127, "program no-such-program is not in a directory of PATH"),
        (missing.to_str().unwrap(), 127, "is not there"),
        (plain.to_str().unwrap(), 126, "is not executable (try chmod +x)"),
        (directory.path().to_str().unwrap(), 126, "is a directory"),
    ] {
        let mut worker = Program::start(&words(&server.url(), "200ms", &["--", path]));
        assert_eq!(worker.end().code(), Some(code), "{path}");
        let errors = worker.stderr();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].starts_with("n-and-i: program "), "{errors:?}");
        assert!(errors[0].contains(path) && errors[0].contains(message), "{errors:?}");
    }
    let keys: Vec<String> = server.command(&["KEYS", "*"]);
    assert!(keys.is_empty(), "{keys:?}");
}

#[test]
fn a_program_that_the_system_refuses_ends_the_worker() {
    let server = RedisServer::start();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("script");
    fs::write(&path, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let path = path.to_str().unwrap();
    let mut worker = Program::start(&words(&server.url(), "200ms", &["--", path]));
    assert_eq!(worker.end().code(), Some(127));
    let errors = worker.stderr();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].contains(path), "{errors:?}");
    assert!(errors[0].contains("it or its interpreter is not there"), "{errors:?}");
}

#[test]
fn wrong_arguments_say_what_would_be_right() {
    for (more, message) in [
        (&["--"][..], "PROGRAM"),
        (&["--stop-signal", "STOP", "--", "true"], "TERM, INT, QUIT, HUP, USR1, USR2, KILL"),
        (&["--restart", "always", "--", "true"], "on-exit, never"),
        (&["true"], "--"),
    ] {
        let output = program(&words("redis://127.0.0.1", "1s", more)).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{more:?}: {errors}");
        assert!(errors.contains(message), "{more:?}: {errors}");
    }
}

#[test]
fn an_idle_worker_ends_at_once_when_it_is_asked_to() {
    let server = RedisServer::start();
    let mut worker = start_shell(&server, "1h", &["-v"], "echo started");
    worker.wait_for_error("discover started");
    worker.signal(Signal::TERM);
    assert_eq!(worker.end().code(), Some(0));
    assert!(worker.stdout().is_empty());
}
