//! Wrong arguments end with exit code 2 and say what would be right.

use crate::child::{Program, program};

#[test]
fn wrong_arguments_are_usage_errors() {
    const INSPECT: &[&str] = &["inspect", "--name", "x"];
    const WATCH: &[&str] = &["watch", "--name", "x", "--interval", "1s"];
    let table: &[(&[&str], &[&str], &[&str])] = &[
        (&[], &[], &["Usage: n-and-i", "demo", "simulate", "watch"]),
        (&["frobnicate"], &[], &["frobnicate", "unrecognized subcommand"]),
        (&["demo", "--worker", "3"], &[], &["--worker", "--workers"]),
        (&["demo"], &["--workers", "0"], &["1..=1000"]),
        (&["demo"], &["--workers", "1001"], &["1..=1000"]),
        (&["demo"], &["--interval", "5"], &["time unit needed", "300ms"]),
        (&["demo"], &["--interval", "fast"], &["--interval", "300ms"]),
        (&["demo"], &["--interval", "0s"], &["interval is 0ns, must be from 1ms"]),
        (&["demo"], &["--interval", "1500us"], &["whole number of milliseconds"]),
        (&["demo"], &["--for", "0s"], &["for is 0s, must be longer"]),
        (&["demo"], &["--gap", "0.5"], &["gap is 0.5, must be", "less than 0.5"]),
        (&["demo"], &["--gap", "-0.1"], &["gap is -0.1, must be greater than 0"]),
        (&["demo"], &["--gap", "NaN"], &["gap is NaN, must be"]),
        (&["demo"], &["--gap", "much"], &["--gap", "much"]),
        (&["demo"], &["--prefix", "a{"], &["prefix is \"a{\", must not contain"]),
        (&["demo"], &["--name", "a}b"], &["name is \"a}b\", must not contain"]),
        (
            &["demo"],
            &["--rebalance", "mixed"],
            &["--rebalance", "mixed", "stand-down, keep-serving"],
        ),
        (&["demo"], &["--redis", "localhost:6379"], &["redis://127.0.0.1:6379"]),
        (&["watch"], &[], &["--name", "--interval"]),
        (&["watch"], &["--name", "x"], &["--interval"]),
        (&["watch"], &["--name", "", "--interval", "1s"], &["name is empty"]),
        (WATCH, &["--gap", "0"], &["gap is 0, must be", "Usage: n-and-i watch"]),
        (WATCH, &["--rebalance", "no"], &["--rebalance", "'no'", "stand-down, keep-serving"]),
        (WATCH, &["--layout", "guard"], &["'guard' for '--layout <LAYOUT>'", "counters, slots"]),
        (&["demo"], &["--layout", "slot"], &["'slot' for '--layout", "counters, slots"]),
        (&["simulate"], &["--layout", "both"], &["'both' for '--layout", "counters, slots"]),
        (WATCH, &["--redis", "http://:hunter2@host"], &["redis+unix:///path", "rediss://"]),
        (WATCH, &["--redis", "redis://:hunter2@host/x"], &["Invalid database number"]),
        (&["inspect"], &[], &["--name", "Usage: n-and-i inspect"]),
        (&["inspect"], &["--name", "a}b"], &["name is \"a}b\", must not contain"]),
        (INSPECT, &["--prefix", "{"], &["prefix is \"{\", must not contain"]),
        (INSPECT, &["--layout", "both"], &["'both' for '--layout", "counters, slots"]),
        (INSPECT, &["--intervals", "0"], &["'0' for '--intervals", "1..=1000"]),
        (INSPECT, &["--intervals", "2", "--watch"], &["'--intervals <COUNT>'", "'--watch'"]),
        (INSPECT, &["--redis", "http://:hunter2@host"], &["rediss://"]),
        (INSPECT, &["--interval", "1s"], &["--interval", "--intervals"]),
    ];
    for (command, arguments, expected) in table {
        let arguments = [*command, *arguments].concat();
        let mut program = Program::start(&arguments);
        let status = program.end();
        let message = program.stderr().join("\n");
        assert_eq!(status.code(), Some(2), "{arguments:?}: {message}");
        assert!(program.stdout().is_empty(), "{arguments:?}");
        for part in *expected {
            assert!(message.contains(part), "{arguments:?} lacks {part:?}: {message}");
        }
        assert!(!message.contains("hunter2"), "{message}");
    }
}

#[test]
fn a_wrong_redis_url_in_the_environment_is_one_too() {
    let mut command = program(&["watch", "--name", "x", "--interval", "1s"]);
    let mut program = Program::run(command.env("REDIS_URL", "redis://:hunter2@"));
    assert_eq!(program.end().code(), Some(2));
    let message = program.stderr().join("\n");
    assert!(message.contains("redis://127.0.0.1:6379"), "{message}");
    assert!(!message.contains("hunter2"), "{message}");
}

#[test]
fn help_and_version_go_to_standard_output() {
    for (arguments, expected) in [
        (
            &["--help"][..],
            &["demo", "simulate", "watch", "inspect", "RUST_LOG", "Exit codes:", "Examples:"][..],
        ),
        (
            &["demo", "--help"],
            &[
                "[default: 5]",
                "[default: both]",
                "counters, slots",
                "lost_by_join",
                "pi, pn",
                "token",
                "Examples:",
            ],
        ),
        (
            &["watch", "--help"],
            &[
                "REDIS_URL",
                "[default: stand-down]",
                "[default: counters]",
                "pi, pn",
                "fencing token",
                "Examples:",
            ],
        ),
        (&["--version"], &["n-and-i ", env!("CARGO_PKG_VERSION")]),
    ] {
        let mut command = program(arguments);
        let mut program = Program::run(command.env("REDIS_URL", "redis://:hunter2@"));
        assert_eq!(program.end().code(), Some(0));
        let text = program.stdout().join("\n");
        for part in expected {
            assert!(text.contains(part), "{arguments:?} lacks {part:?}: {text}");
        }
        assert!(program.stderr().is_empty() && !text.contains("hunter2"), "{text}");
    }
}
