//! The live view of `demo`.

use n_and_i_test_support::eventually;
use rustix::process::Signal;
use rustix::termios::LocalModes;

use crate::terminal::Terminal;

const ENDLESS: [&str; 5] = ["demo", "--interval", "200ms", "--for", "10m"];

#[test]
fn it_shows_who_owns_what_and_gives_the_terminal_back() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut terminal = Terminal::start(&ENDLESS, (24, 80), false);
        let screen = terminal.wait_for("Settled: 5 workers share the keys.");
        assert!(screen.alternate_screen() && screen.hide_cursor());
        assert!(!terminal.modes().local_modes.contains(LocalModes::ECHO));
        let contents = screen.contents();
        for expected in
            ["n-and-i demo", "i of n", "of 5", "20.0 %", "SHARE OF KEYS", "lost: nothing yet"]
        {
            assert!(contents.contains(expected), "no {expected:?}: {contents}");
        }
        let titles = contents.lines().find(|line| line.starts_with("STAND DOWN")).unwrap();
        let (left, right) = titles.split_once('│').unwrap();
        assert!(left.contains("100 % of keys served"), "{titles}");
        assert!(right.contains("KEEP SERVING") && right.contains("100 %"), "{titles}");
        for part in strip(&contents) {
            assert_eq!(part.len(), 38);
            assert!(part.chars().all(|owner| "ABCDE".contains(owner)), "{part}");
            let changes = part.as_bytes().windows(2).filter(|two| two[0] != two[1]).count();
            assert_eq!(changes, 4, "each has its keys in a row: {part}");
        }

        terminal.signal(signal);
        assert_eq!(terminal.end().code(), Some(0));
        terminal.given_back("conflicts (a key with two owners)");
        assert!(terminal.modes().local_modes.contains(LocalModes::ECHO));
    }
}

/// The owners of the keys of both groups.
fn strip(contents: &str) -> [String; 2] {
    let mut lines = contents.lines().skip_while(|line| !line.starts_with("STAND DOWN"));
    let (left, right) = lines.nth(1).and_then(|line| line.split_once(" │ ")).unwrap();
    [left, right].map(|part| part.trim_end().to_owned())
}

#[test]
fn it_runs_to_its_end() {
    let arguments = ["demo", "--interval", "200ms", "--for", "6s", "--workers", "2"];
    let mut terminal = Terminal::start(&arguments, (24, 80), false);
    terminal.wait_for("Settled: 2 workers share the keys.");
    terminal.wait_for("C joins in each group.");
    terminal.wait_for("Settled again: 3 workers share the keys, C too.");
    terminal.wait_for("one that keeps serving");
    terminal.wait_for("lost: join ");
    terminal.wait_for("B crashed in each group, without a goodbye.");
    terminal.wait_for("Recovered: 2 workers share the keys without B.");
    assert_eq!(terminal.end().code(), Some(0));
    let contents = terminal.wait_for("conflicts").contents();
    assert!(contents.contains("lost by the crash, intervals of the group"), "{contents}");
    assert!(contents.contains("  30."), "{contents}");
}

#[test]
fn while_one_group_stands_down_the_other_keeps_serving() {
    // Slow enough to look, whatever else the machine does.
    let arguments = ["demo", "--interval", "1s", "--for", "24s", "--workers", "4"];
    let terminal = Terminal::start(&arguments, (24, 80), false);
    terminal.wait_for("E joins in each group.");
    let contents = eventually("nobody serves on the left, somebody on the right", || {
        let contents = terminal.screen().contents();
        let [left, right] = strip(&contents);
        let dots = |part: &str| part.chars().all(|owner| owner == '·');
        (dots(&left) && !dots(&right)).then_some(contents)
    });
    assert!(contents.contains("The count changed to 5."), "{contents}");
    assert!(contents.contains("owns nothing: rebalancing"), "{contents}");
    assert!(contents.contains("0 of 5 and 0 of 4"), "{contents}");
}

#[test]
fn in_a_narrow_terminal_one_group_is_above_the_other() {
    let terminal = Terminal::start(&ENDLESS, (30, 60), false);
    let contents = terminal.wait_for("Settled: 5 workers share the keys.").contents();
    let place = |title| contents.lines().position(|line| line.starts_with(title)).unwrap();
    assert!(place("STAND DOWN") + 3 < place("KEEP SERVING"), "{contents}");
    assert!(place("KEEP SERVING") + 3 < place("SHARE OF KEYS"), "{contents}");
}

#[test]
fn one_group_can_be_alone() {
    let arguments = [&ENDLESS[..], &["--rebalance", "keep-serving", "--name", "mine"]].concat();
    let terminal = Terminal::start(&arguments, (24, 80), false);
    let contents = terminal.wait_for("Settled: 5 workers share the keys.").contents();
    assert!(contents.contains("group \"mine\" in memory"), "{contents}");
    assert!(contents.contains("KEEP SERVING") && !contents.contains("STAND DOWN"), "{contents}");
}

#[test]
fn another_layout_is_named() {
    let terminal =
        Terminal::start(&[&ENDLESS[..], &["--layout", "slots"]].concat(), (24, 80), false);
    let contents = terminal.wait_for("Settled: 5 workers share the keys.").contents();
    assert!(contents.contains("in 2 groups in memory, layout slots, interval"), "{contents}");
}

#[test]
fn it_follows_the_terminals_size() {
    let terminal = Terminal::start(&ENDLESS, (24, 80), false);
    terminal.wait_for("Ctrl-C ends the demo");
    for (rows, columns) in [(12, 40), (3, 15), (50, 120)] {
        terminal.resize(rows, columns);
        eventually("the last line is in its place", || {
            let last = terminal.screen().rows(0, columns).nth(usize::from(rows) - 1)?;
            last.starts_with("keys with two o").then_some(())
        });
    }
}

#[test]
fn without_colours_there_are_none() {
    for no_color in [false, true] {
        let terminal = Terminal::start(&ENDLESS, (24, 80), no_color);
        let screen = terminal.wait_for("Settled: 5 workers share the keys.");
        let cells = (0..24).flat_map(|row| (0..80).map(move |column| (row, column)));
        let coloured = cells
            .filter_map(|(row, column)| screen.cell(row, column))
            .any(|cell| cell.fgcolor() != vt100::Color::Default);
        assert_eq!(coloured, !no_color);
    }
}

#[test]
fn the_log_leaves_the_picture_alone_and_comes_afterwards() {
    // Few workers, so that what they log last is on the terminal in the end.
    let group = ["demo", "--interval", "200ms", "--workers", "1"];
    let arguments = [&group[..], &["--redis", "redis://127.0.0.1:1", "-v"]].concat();
    let mut terminal = Terminal::start(&arguments, (24, 80), false);
    let screen = terminal.wait_for("No registration gets through (");
    let contents = screen.contents();
    assert!(contents.starts_with("n-and-i demo"), "{contents}");
    assert!(contents.contains("registration was not made: "), "{contents}");
    assert!(!contents.contains("ERROR"), "{contents}");
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.end().code(), Some(0));
    let contents = terminal.wait_for("first ownership").contents();
    assert!(contents.contains("ERROR") && contents.contains("never"), "{contents}");
}
