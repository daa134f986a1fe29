//! Any program as a worker: real children of real wrappers on a real Redis.

mod ends;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(target_os = "linux")]
mod group;
#[cfg(target_os = "linux")]
mod processes;
mod starts;

use std::process::Command;

use n_and_i_test_support::RedisServer;

use crate::child::{Program, program};

/// The arguments of a wrapper up to the program, as it is used in most tests.
fn words<'a>(url: &'a str, interval: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let group = ["exec", "--name", "x", "--interval", interval, "--redis", url];
    [&group[..], more].concat()
}

/// Runs a shell script while the worker owns something.
fn shell(server: &RedisServer, interval: &str, more: &[&str], script: &str) -> Command {
    let url = server.url();
    let script = [more, &["--", "bash", "-c", script]].concat();
    program(&words(&url, interval, &script))
}

fn start_shell(server: &RedisServer, interval: &str, more: &[&str], script: &str) -> Program {
    Program::run(&mut shell(server, interval, more, script))
}
