//! Completions and manual pages.

use std::process::Command;

use crate::child::{Program, program};

const COMMANDS: [&str; 7] = ["demo", "exec", "inspect", "simulate", "watch", "completions", "man"];

/// What the program prints.
fn print(arguments: &[&str]) -> String {
    let output = program(arguments).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Sets up the completions in a bash, and asks it what it makes of these words.
#[cfg(unix)]
const ASK: &str = r#"
source "$0"
words=$(complete -p n-and-i) && [[ $words =~ \ -F\ ([^ ]+) ]] || exit
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
"${BASH_REMATCH[1]}" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

#[cfg(unix)]
#[test]
fn bash_completes_commands_options_and_values() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("completions.bash");
    std::fs::write(&script, print(&["completions", "bash"])).unwrap();
    for (words, expected) in [
        (&[""][..], &COMMANDS[..]),
        (&["ins"], &["inspect"]),
        (&["inspect", "--w"], &["--watch"]),
        (&["inspect", "--layout", ""], &["counters", "slots"]),
        (&["exec", "--re"], &["--restart", "--redis"]),
        (&["exec", "--restart", "n"], &["never"]),
        (&["simulate", "--scenario", "r"], &["rolling-restart"]),
        (&["completions", "f"], &["fish"]),
        // Those of another program are for the shell to complete.
        (&["exec", "--name", "x", "--", "program", "--"], &[""]),
    ] {
        let mut bash = Command::new("bash");
        bash.args(["--norc", "-c", ASK]).arg(&script).arg("n-and-i").args(words);
        let output = bash.output().expect("bash is there");
        let output = String::from_utf8(output.stdout).unwrap();
        let replies: Vec<_> = output.lines().collect();
        for word in expected {
            assert!(replies.contains(word), "{words:?} lacks {word}: {replies:?}");
        }
        let prefix = words.last().unwrap();
        let is_one = |reply: &&str| reply.is_empty() || reply.starts_with(prefix);
        assert!(replies.iter().all(is_one), "{words:?}: {replies:?}");
        assert!(!expected[0].is_empty() || replies == [""], "{words:?}: {replies:?}");
    }
}

#[test]
fn every_shell_hears_of_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = print(&["completions", shell]);
        for words in COMMANDS.iter().chain(&["rebalance", "stop-signal", "scenario"]) {
            assert!(script.contains(words), "{shell} lacks {words}");
        }
        // What processes of this program start others with is no business of a user.
        assert!(!script.contains("__keep") && !script.contains("__launch"), "{shell}");
    }
}

#[test]
fn an_unknown_shell_is_refused() {
    let mut program = Program::start(&["completions", "tcsh"]);
    assert_eq!(program.end().code(), Some(2));
    let message = program.stderr().join("\n");
    assert!(message.contains("'tcsh'") && message.contains("bash, elvish, fish"), "{message}");
}

#[test]
fn each_command_has_a_manual_page() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(print(&["man", "--out", directory.path().to_str().unwrap()]), "");
    let read = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
    let main = read("n-and-i.1");
    for command in COMMANDS {
        assert!(main.contains(&format!("n\\-and\\-i\\-{command}(1)")), "{command}: {main}");
        let page = read(&format!("n-and-i-{command}.1"));
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "\"EXIT STATUS\"", "EXAMPLES"]
        {
            assert!(page.contains(&format!("\n.SH {section}\n")), "{command} lacks {section}");
        }
        // Lines stay as they are.
        assert!(page.contains(&format!("\n  n\\-and\\-i {command} ")), "{command}: {page}");
    }
    let exec = read("n-and-i-exec.1");
    assert!(exec.contains("\n.SH ENVIRONMENT\n"), "{exec}");
    assert!(exec.contains("\nn\\-and\\-i exec [OPTIONS] \\-\\-name <NAME>"), "{exec}");
    assert!(exec.contains(" \\-\\- <PROGRAM> [ARGS]"), "{exec}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), COMMANDS.len() + 1);
    assert_eq!(print(&["man"]), main);
}

#[test]
fn a_directory_is_made_and_one_that_cannot_be_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let new = directory.path().join("share").join("man1");
    print(&["man", "--out", new.to_str().unwrap()]);
    let no_directory = new.join("n-and-i.1");
    let mut program = Program::start(&["man", "--out", no_directory.to_str().unwrap()]);
    assert_eq!(program.end().code(), Some(1));
    let message = program.stderr().join("\n");
    assert!(message.contains("n-and-i.1 cannot be written"), "{message}");
}
