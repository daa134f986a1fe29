use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn row(name: &str, state: State) -> Row {
    Row { name: name.to_owned(), state }
}

fn owns(i: u32, n: u32) -> State {
    State::Owns { pair: Pair::new(i, n).unwrap(), left: SECOND / 2 }
}

fn picture(workers: Vec<Row>) -> Picture {
    Picture {
        group: "group \"demo\"".to_owned(),
        elapsed: SECOND * 7,
        length: SECOND * 15,
        headline: "Settled: 3 workers share the tasks.".to_owned(),
        meaning: "Each owns those with task % 3 == i. ".repeat(3),
        workers,
        full_lease: SECOND,
        share: 2.0 / 3.0,
        mean: Some(0.5),
        columns: vec![Some(0.0), Some(0.5), Some(1.0), None],
        marks: vec![(SECOND * 5, "F joins".to_owned())],
        events: (0..20).map(|number| Line::plain(format!("event {number}"))).collect(),
        conflicts: 0,
    }
}

fn three() -> Picture {
    let idle = State::Idle(Reason::Rebalancing);
    picture(vec![row("A", owns(2, 3)), row("B", idle), row("C", owns(0, 3))])
}

fn text(lines: &[Line]) -> Vec<String> {
    let line = |line: &Line| line.cut(usize::MAX).map(|(_, text)| text).collect::<String>();
    lines.iter().map(|each| line(each).trim_end().to_owned()).collect()
}

#[test]
fn a_picture_for_a_usual_terminal() {
    let lines = text(&three().draw(80, 24));
    assert_eq!(lines.len(), 24);
    let expected = "\
n-and-i demo  group \"demo\"                                      7.0 s of 15.0 s

Settled: 3 workers share the tasks. Each owns those with task % 3 == i. Each
owns those with task % 3 == i. Each owns those with task % 3 == i.


WORKER  i of n       LEASE LEFT           OWNS TASKS
A       2 of 3       ██████░░░░░░   0.50 s 2, 5, 8, 11, ...
B       idle (rebalancing)
C       0 of 3       ██████░░░░░░   0.50 s 0, 3, 6, 9, ...

TASKS by owner: task % n == i, a dot if nobody owns it
  0 C·AC·AC·AC ·AC·AC·AC· AC·AC·AC·A C·AC·AC·AC ·AC·AC·AC· AC·AC·AC·A

SHARE OF TASKS WITH AN OWNER  67 % now, 50 % on average since the first lease
▁▄█
 ↑ F joins

EVENTS
event 16
event 17
event 18
event 19
tasks with two owners: 0                                   Ctrl-C ends the demo";
    assert_eq!(lines.join("\n"), expected);
}

#[test]
fn it_fits_every_terminal() {
    for workers in [1, 5, 27, 100, 1000] {
        let rows =
            (0..workers).map(|i| row(if workers > 26 { "ABC" } else { "A" }, owns(i, workers)));
        let picture = picture(rows.collect());
        for width in [1, 5, 20, 40, 79, 80, 200] {
            for height in [1, 2, 5, 10, 16, 24, 50, 2000] {
                let lines = picture.draw(width, height);
                assert_eq!(lines.len(), height, "{workers} workers, {width} x {height}");
            }
        }
    }
}

#[test]
fn what_has_no_room_is_summed_up() {
    let mut rows: Vec<_> = (0..98).map(|i| row("AB", owns(i, 100))).collect();
    rows.push(row("AC", State::Crashed));
    rows.push(row("AD", State::Idle(Reason::Starting)));
    let lines = text(&picture(rows).draw(80, 24));
    let rest = lines.iter().find(|line| line.starts_with("and ")).unwrap();
    let (count, sum) = rest["and ".len()..].split_once(" more: ").unwrap();
    let owners = count.parse::<usize>().unwrap() - 2;
    assert_eq!(sum, format!("{owners} own a share, 1 idle, 1 crashed"));
}

#[test]
fn longer_names_are_spread_over_more_lines() {
    let rows = (0..27).map(|i| row(if i < 26 { "A" } else { "AA" }, owns(i, 27)));
    let lines = text(&picture(rows.collect()).draw(80, 40));
    let first = lines.iter().position(|line| line.starts_with("TASKS")).unwrap() + 1;
    let starts: Vec<_> = lines[first..first + 3].iter().map(|line| &line[..4]).collect();
    assert_eq!(starts, ["  0 ", " 20 ", " 40 "]);
}

#[test]
fn a_task_with_two_owners_would_be_seen() {
    let lines = text(&picture(vec![row("A", owns(0, 2)), row("B", owns(0, 3))]).draw(80, 24));
    let tasks = lines.iter().find(|line| line.starts_with("  0 ")).unwrap();
    assert!(tasks.starts_with("  0 !·ABA·!·AB"), "{tasks}");
}
