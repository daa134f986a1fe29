//! Pictures of simulations: the one of the docs, what is in others, and what cannot be drawn.

use std::fs;
use std::path::{Path, PathBuf};

use roxmltree::{Document, Node};

use crate::child::program;
use crate::simulate::run;

/// The colour of crashes and other faults.
const RED: &str = "#C8102E";
/// Of ticks that are registrations.
const TICK: &str = "#464C54";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What these arguments draw.
fn drawn(arguments: &[&str]) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("picture.svg");
    let path = path.to_str().expect("a path in UTF-8");
    let (code, _, errors) = run(&[&["simulate"], arguments, &["--svg", path]]);
    assert_eq!((code, errors), (Some(0), vec![]), "{arguments:?}");
    fs::read_to_string(path).expect("a picture")
}

fn texts<'a>(svg: &'a Document<'_>) -> Vec<&'a str> {
    let texts = svg.descendants().filter(|node| node.has_tag_name("text"));
    texts.filter_map(|node| node.text().map(str::trim)).collect()
}

fn number(node: Node<'_, '_>, name: &str) -> i32 {
    let value = node.attribute(name).unwrap_or_else(|| panic!("no {name}: {node:?}"));
    value.parse().unwrap_or_else(|_| panic!("{name} is {value:?}"))
}

/// Crosses, those of the legend too: two strokes each.
fn crosses(svg: &Document<'_>) -> usize {
    let strokes = svg
        .descendants()
        .filter(|node| node.has_tag_name("polyline") && node.attribute("stroke") == Some(RED));
    strokes.count() / 2
}

fn filled<'a>(svg: &'a Document<'a>, fill: &str) -> Vec<Node<'a, 'a>> {
    let shapes = svg.descendants().filter(|node| node.attribute("fill") == Some(fill));
    shapes.collect()
}

#[test]
fn the_picture_of_the_docs_is_what_its_command_draws() {
    let page = fs::read_to_string(root().join("docs/command-line.md")).expect("the page");
    let commands = page.lines().filter(|line| line.contains(" --svg docs/join-and-crash.svg"));
    let [command] = commands.collect::<Vec<_>>()[..] else { panic!("one such command") };
    let arguments: Vec<_> = command.strip_prefix("n-and-i ").unwrap().split(' ').collect();
    let directory = tempfile::tempdir().expect("a directory");
    fs::create_dir(directory.path().join("docs")).expect("a directory");
    let status = program(&arguments).current_dir(directory.path()).output().expect("it runs");
    assert!(status.status.success(), "{status:?}");
    let file = "docs/join-and-crash.svg";
    let picture = fs::read(directory.path().join(file)).expect("a picture");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(root().join(file), picture).expect("it is written");
        return;
    }
    let committed = fs::read(root().join(file)).unwrap_or_default();
    let is_same = committed == picture;
    assert!(
        is_same,
        "{file} is not what `{command}` draws. To draw it anew: \
         UPDATE_DOCS=1 cargo test -p n-and-i-cli --test program picture"
    );
    for page in ["README.md", "docs/command-line.md"] {
        let text = fs::read_to_string(root().join(page)).expect("a page");
        assert!(text.contains("join-and-crash.svg)"), "{page} shows it");
    }
}

#[test]
fn a_picture_shows_each_worker_and_what_happens_to_it() {
    let planned = ["--scenario", "join-and-crash", "--workers", "4", "--intervals", "30"];
    let svg = drawn(&[&planned[..], &["--rebalance", "mixed", "--seed", "5"]].concat());
    let svg = Document::parse(&svg).expect("well-formed XML");
    let texts = texts(&svg);
    let count = |text: &str| texts.iter().filter(|found| **found == text).count();
    for worker in 0..5 {
        assert_eq!(count(&format!("worker {worker}")), 1, "{texts:?}");
    }
    assert_eq!(count("worker 5"), 0, "{texts:?}");
    assert_eq!(count("worker 4 joins"), 1, "{texts:?}");
    let crash = texts.iter().filter(|text| text.ends_with(" crashes")).count();
    assert_eq!((crash, crosses(&svg)), (1, 1 + 1), "one, and one in the legend");
    for (text, least) in [("0 of 4", 2), ("3 of 4", 2), ("0 of 5", 1), ("4 of 5", 1)] {
        assert!(count(text) >= least, "{text}: {texts:?}");
    }
    for (expected, times) in [
        ("4 workers, join-and-crash, mixed, seed 5", 1),
        ("100 %", 1),
        ("0 %", 1),
        ("intervals of 5s since the start", 1),
        ("owns nothing: rebalancing", 1),
        ("owns nothing: starting", 1),
        ("registers", 1),
        // Faults are not explained where there are none.
        ("fault, named below", 0),
    ] {
        assert_eq!(count(expected), times, "{expected}: {texts:?}");
    }
    // Once per worker and interval, but in the last while it takes long; one is in the legend.
    let registrations = filled(&svg, TICK).len();
    assert!((30 * 4..30 * 5).contains(&registrations), "{registrations}");
    // The command is on the picture, in some lines.
    let head = texts.join(" ");
    assert!(head.contains(" --every 10 --seed 5 --show 0..30"), "{head}");
}

#[test]
fn faults_are_marked_and_named() {
    let faults = ["--faults", "crash=0.3,flush=0.1,long-stall=0.2", "--seed", "2"];
    let group = ["--workers", "6", "--intervals", "60"];
    let svg = drawn(&[&group[..], &faults].concat());
    let svg = Document::parse(&svg).expect("well-formed XML");
    let (_, lines, _) = run(&[&["simulate", "--json"], &group, &faults]);
    let object = crate::simulate::object(&lines[0]);
    let count = |fault: &str| object["faults"][fault].as_u64().expect("a count");
    let texts = texts(&svg);
    for fault in ["crash", "flush", "long-stall"] {
        assert!(count(fault) > 1 && texts.contains(&fault), "{fault}: {texts:?}");
    }
    assert_eq!(crosses(&svg) as u64, count("crash") + 1);
    let red = filled(&svg, RED);
    let of = |name: &str| red.iter().filter(|node| node.has_tag_name(name)).count() as u64;
    // A mark in the row of its kind for each.
    assert_eq!(of("rect"), count("crash") + count("flush") + count("long-stall"));
    // A mark at the worker, and one in the legend.
    assert_eq!(of("polygon"), count("long-stall") + 1);
}

/// Where a text is: from left to right and from top to bottom, about.
fn extent(node: Node<'_, '_>) -> [i32; 4] {
    assert_eq!(node.attribute("font-family"), Some("sans-serif"));
    let size: f64 = node.attribute("font-size").and_then(|size| size.parse().ok()).expect("a size");
    let letters = node.text().map_or(0, |text| text.trim().len());
    let letters = f64::from(u32::try_from(letters).expect("few letters"));
    let part = if node.attribute("font-weight") == Some("bold") { 0.62 } else { 0.54 };
    #[expect(clippy::cast_possible_truncation, reason = "a few hundred pixels")]
    let (width, height) = ((letters * size * part) as i32, size as i32);
    let (x, y) = (number(node, "x"), number(node, "y"));
    let left = match node.attribute("text-anchor") {
        Some("start") => x,
        Some("middle") => x - width / 2,
        _ => x - width,
    };
    [left, left + width, y - height / 2, y + height / 2]
}

#[test]
fn nothing_is_cut_off_and_no_text_is_on_another() {
    for arguments in [
        &["--workers", "100", "--intervals", "200", "--show", "0..200"][..],
        &["--workers", "1", "--intervals", "10", "--show", "9..10"],
        &["--workers", "12", "--intervals", "60", "--rebalance", "mixed"],
        &["--workers", "30", "--faults", "none", "--layout", "slots"],
        &["--scenario", "rolling-restart", "--every", "0.3", "--show", "20..40"],
        &["--scenario", "join-and-leave", "--every", "1.5", "--rebalance", "keep-serving"],
        &["--scenario", "join-and-crash", "--workers", "1", "--intervals", "10"],
    ] {
        is_readable(&drawn(arguments));
    }
}

/// Checks that nothing is outside, and that no text is on another.
fn is_readable(svg: &str) {
    let svg = Document::parse(svg).expect("well-formed XML");
    let size = (number(svg.root_element(), "width"), number(svg.root_element(), "height"));
    let within = |[left, right, top, bottom]: [i32; 4], what: &str| {
        let inside = 0 <= left && left <= right && right <= size.0;
        let inside = inside && 0 <= top && top <= bottom && bottom <= size.1;
        assert!(inside, "{what} at {left}..{right}, {top}..{bottom} of {size:?}");
    };
    for node in svg.descendants().filter(|node| node.has_tag_name("rect")) {
        let (x, y) = (number(node, "x"), number(node, "y"));
        let far = (x + number(node, "width"), y + number(node, "height"));
        within([x, far.0, y, far.1], "a rectangle");
    }
    let texts: Vec<_> = (svg.descendants().filter(|node| node.has_tag_name("text")))
        .map(|node| (extent(node), node.text().map_or("", str::trim)))
        .collect();
    for (index, (at, text)) in texts.iter().enumerate() {
        within(*at, text);
        for (other, what) in &texts[index + 1..] {
            let apart = at[1] <= other[0] || other[1] <= at[0];
            let apart = apart || at[3] <= other[2] || other[3] <= at[2];
            assert!(apart, "{text:?} is on {what:?}");
        }
    }
}

#[test]
fn a_run_that_ends_early_is_drawn_to_its_end() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("picture.svg");
    let path = path.to_str().expect("a path in UTF-8");
    // The promise does not cover two lengths of interval while everything is lost.
    let faults = ["--faults", "flush=0.5,other-interval=2", "--mixed-gaps", "--workers", "4"];
    let group = [&faults[..], &["--clock-rate", "0.001", "--intervals", "200"]].concat();
    let mut seeds = (1..=50).map(|seed: u32| seed.to_string());
    let broken = |seed: &String| {
        let show = ["--show", "0..200", "--seed", seed];
        run(&[&["simulate", "--svg", path], &group, &show]).0 == Some(1)
    };
    seeds.find(broken).expect("a seed that breaks the promise");
    let svg = fs::read_to_string(path).expect("a picture");
    is_readable(&svg);
    let svg = Document::parse(&svg).expect("well-formed XML");
    let head = texts(&svg).join(" ");
    assert!(
        head.contains("two owners of one task: worker ") && head.contains(" of 200 intervals)"),
        "{head}"
    );
}

#[test]
fn a_part_of_a_run_can_be_drawn() {
    let run = ["--workers", "3", "--intervals", "300"];
    let show = |show: &str| drawn(&[&run[..], &["--show", show]].concat());
    assert_eq!(drawn(&run), show("0..60"), "the first 60 of a long run");
    let svg = show("120..180");
    let svg = Document::parse(&svg).expect("well-formed XML");
    let texts = texts(&svg);
    assert!(texts.contains(&"120") && texts.contains(&"180"), "{texts:?}");
    assert!(!texts.contains(&"115") && !texts.contains(&"185"), "{texts:?}");
    let short = ["--workers", "3", "--intervals", "40"];
    assert_eq!(drawn(&short), drawn(&[&short[..], &["--show", "0..40"]].concat()), "all of it");
}

#[test]
fn a_picture_changes_nothing_else() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("picture.svg");
    let path = path.to_str().expect("a path in UTF-8");
    let json = ["simulate", "--json", "--intervals", "100"];
    let (_, with, _) = run(&[&json, &["--svg", path]]);
    let (_, without, _) = run(&[&json]);
    let object = crate::simulate::object;
    assert_eq!(object(&with[0]), object(&without[0]));
}

#[test]
fn a_picture_that_cannot_be_written_is_a_failure() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("missing").join("picture.svg");
    let path = path.to_str().expect("a path in UTF-8");
    let (code, lines, errors) = run(&[&["simulate", "--svg", path]]);
    assert_eq!((code, lines.len()), (Some(1), 0));
    assert!(errors[0].starts_with(&format!("n-and-i: {path} cannot be written: ")), "{errors:?}");
}

#[test]
fn what_cannot_be_drawn_is_a_usage_error() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("picture.svg");
    let name = path.to_str().expect("a path in UTF-8");
    let form = "must be FROM..TO in whole numbers of intervals (such as 0..60)";
    let table: &[(&[&str], &[&str])] = &[
        (
            &["--show", "0..300"],
            &["'0..300' for '--show <FROM..TO>'", "300 intervals, must be at most 200"],
        ),
        (&["--show", "9..5"], &["'9..5' for '--show <FROM..TO>'", "9..5 must rise"]),
        (&["--show", "5..5"], &["'5..5' for '--show <FROM..TO>'", "5..5 must rise"]),
        (&["--show", "5-9"], &["'5-9' for '--show <FROM..TO>'", form]),
        (&["--show", "-1..9"], &["'-1..9' for '--show <FROM..TO>'", form]),
        (&["--show", ""], &["--show <FROM..TO>"]),
        (&["--show", "990..1001"], &["show is 990..1001, must end by 1000, where the run ends"]),
        (&["--intervals", "50", "--show", "20..51"], &["show is 20..51, must end by 50"]),
        (&["--workers", "101"], &["workers is 101, must be at most 100 with --svg"]),
        (
            &["--sweep", "gap=0.1..0.2"],
            &["'--svg <FILE>' cannot be used with '--sweep <FIELD=FROM..TO>'"],
        ),
    ];
    for (arguments, expected) in table {
        let (code, lines, errors) = run(&[&["simulate", "--svg", name], arguments]);
        let message = errors.join("\n");
        assert_eq!((code, lines.len()), (Some(2), 0), "{arguments:?}: {message}");
        for part in *expected {
            assert!(message.contains(part), "{arguments:?} lacks {part:?}: {message}");
        }
        assert!(!path.exists(), "{arguments:?}: nothing is written");
    }
    let (code, _, errors) = run(&[&["simulate", "--show", "0..60"]]);
    assert_eq!(code, Some(2));
    assert!(errors.iter().any(|line| line.trim() == "--svg <FILE>"), "{errors:?}");
}
