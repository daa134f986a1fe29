//! Logs go to standard error, and only there.

use crate::child::{Program, json, program};

const DEMO: [&str; 6] = ["demo", "--json", "--interval", "200ms", "--for", "1s"];

#[test]
fn verbosity_grows_with_every_v() {
    let mut seen = Vec::new();
    for more in [&[][..], &["-v"], &["-vv"], &["-v", "-v", "--verbose"]] {
        let mut demo = Program::start(&[&DEMO, more].concat());
        assert!(demo.end().success());
        for line in demo.stdout() {
            assert!(json(&line).is_object(), "a log line on standard output: {line}");
        }
        let log = demo.stderr().join("\n");
        seen.push([" INFO ", "DEBUG ", "TRACE "].map(|level| log.contains(level)));
    }
    let [no, yes] = [false, true];
    assert_eq!(seen, [[no, no, no], [yes, no, no], [yes, yes, no], [yes, yes, yes]]);
}

#[test]
fn the_environment_can_ask_too() {
    let mut demo = Program::run(program(&DEMO).env("RUST_LOG", "n_and_i=info"));
    assert!(demo.end().success());
    demo.wait_for_error("discover started");
    let mut demo = Program::run(program(&DEMO).env("RUST_LOG", "n_and_i=loud"));
    assert!(demo.end().success());
    demo.wait_for_error("RUST_LOG is ignored");
}
