use n_and_i::Pair;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn row(name: &str, state: State) -> Row {
    Row { name: name.to_owned(), state }
}

fn owns(i: u32, n: u32) -> State {
    State::Owns { share: Share::of(Pair::new(i, n).unwrap()), left: SECOND / 2 }
}

fn keeps((i, n): (u32, u32), (pi, pn): (u32, u32)) -> State {
    let pair = |i, n| Pair::new(i, n).unwrap();
    State::Owns { share: Share::common(pair(i, n), pair(pi, pn)).unwrap(), left: SECOND / 2 }
}

fn panel(rebalance: Rebalance, workers: Vec<Row>, share: f64) -> Panel {
    Panel {
        rebalance,
        workers,
        full_lease: SECOND,
        share,
        mean: Some(share.max(0.5)),
        losses: vec![0.5, 1.25],
        columns: vec![Some(0.0), Some(0.5), Some(1.0), Some(share), None],
        events: (0..20).map(|number| Line::plain(format!("event {number}"))).collect(),
        conflicts: 0,
    }
}

/// Of these groups, with the keys of three workers in their order.
fn picture(panels: Vec<Panel>, layout: Layout) -> Picture {
    let keys = crate::demo::keys::Keys::sample(3);
    Picture {
        groups: "the same in 2 groups".to_owned(),
        elapsed: SECOND * 7,
        length: SECOND * 15,
        headline: "The count changed to 4.".to_owned(),
        meaning: "Each does what it does, as it always did. ".repeat(3).trim_end().to_owned(),
        keys: keys.spread(layout.panel).map(str::to_owned).collect(),
        panels,
        marks: vec![(SECOND * 3, "D joins".to_owned()), (SECOND * 9, "B crashes".to_owned())],
    }
}

/// D joined before C.
fn both() -> Vec<Panel> {
    let idle = |name| row(name, State::Idle(Reason::Rebalancing));
    let starts = || row("D", State::Idle(Reason::Starting));
    let stands_down = vec![idle("A"), row("B", owns(1, 3)), idle("C"), starts()];
    let keeps_serving = vec![
        row("A", keeps((0, 4), (0, 3))),
        row("B", owns(1, 3)),
        row("C", keeps((3, 4), (2, 3))),
        starts(),
    ];
    vec![
        panel(Rebalance::StandDown, stands_down, 1.0 / 3.0),
        panel(Rebalance::KeepServing, keeps_serving, 2.0 / 3.0),
    ]
}

fn text(lines: &[Line]) -> Vec<String> {
    let line = |line: &Line| line.cut(usize::MAX).map(|(_, text)| text).collect::<String>();
    lines.iter().map(|each| line(each).trim_end().to_owned()).collect()
}

fn drawn(panels: Vec<Panel>, width: usize, height: usize) -> Vec<String> {
    let layout = Layout::new(width, panels.len());
    text(&picture(panels, layout).draw(layout, height))
}

#[test]
fn two_groups_stand_side_by_side() {
    let expected = "\
n-and-i demo  the same in 2 groups                              7.0 s of 15.0 s

The count changed to 4. Each does what it does, as it always did. Each does
what it does, as it always did. Each does what it does, as it always did.


STAND DOWN         33 % of keys served │ KEEP SERVING       67 % of keys served
·············BBBBBBBBBBBB············· │ AAAAAAAAAA···BBBBBBBBBBBB··········CCC
·············████████████············· │ ██████████···████████████··········███
   i of n            LEASE        KEYS │    i of n            LEASE        KEYS
A  owns nothing: rebalancing           │ A  0 of 4 and 0 of 3 ████░░░░   25.0 %
B  1 of 3            ████░░░░   33.3 % │ B  1 of 3            ████░░░░   33.3 %
C  owns nothing: rebalancing           │ C  3 of 4 and 2 of 3 ████░░░░    8.3 %
D  owns nothing: starting              │ D  owns nothing: starting
lost: join 0.50, crash 1.25 intervals  │ lost: join 0.50, crash 1.25 intervals

SHARE OF KEYS WITH AN OWNER, over time
stand-down      ▇
mean 50.0 %   ▁██▅
keep-serving    ▇▂
mean 66.7 %   ▁███
               ↑ D joins

keys with two owners: 0                                    Ctrl-C ends the demo";
    assert_eq!(drawn(both(), 80, 24).join("\n"), expected);
}

#[test]
fn where_it_is_narrow_one_stands_above_the_other() {
    let expected = "\
n-and-i demo  the same in 2 groups   7.0 s of 15.0 s
The count changed to 4. Each does what it does, as
it always did. Each does what it does, as it always
did. Each does what it does, as it always did.
STAND DOWN                       33 % of keys served
··················BBBBBBBBBBBBBBBBB·················
   i of n            LEASE                KEYS
A  owns nothing: rebalancing
2 more: 1 settled, 1 idle
lost: join 0.50, crash 1.25 intervals
KEEP SERVING                     67 % of keys served
AAAAAAAAAAAAA·····BBBBBBBBBBBBBBBBB·············CCCC
   i of n            LEASE                KEYS
A  0 of 4 and 0 of 3 ████████░░░░░░░░   25.0 %
2 more: 1 settled, 1 part
lost: join 0.50, crash 1.25 intervals
SHARE OF KEYS WITH AN OWNER, over time
stand-down    ▁▄▇▃
keep-serving  ▁▄▇▅
               ↑ D joins
keys with two owners: 0         Ctrl-C ends the demo";
    let mut panels = both();
    for panel in &mut panels {
        panel.workers.truncate(3);
    }
    assert_eq!(drawn(panels, 53, 21).join("\n"), expected);
}

#[test]
fn with_more_room_there_are_events_and_higher_bars() {
    let lines = drawn(both(), 120, 40);
    let place = |text: &str| lines.iter().position(|line| line.contains(text)).unwrap();
    let events = place("EVENTS");
    assert_eq!(lines[events].matches("EVENTS").count(), 2);
    assert_eq!(lines[events + 1].matches("event 8").count(), 2);
    assert!(lines[events + 12].contains("event 19"));
    let timeline = place("SHARE OF KEYS");
    assert!(lines[timeline + 1].starts_with("stand-down"));
    assert!(lines[timeline + 5].starts_with("keep-serving"), "{lines:#?}");
}

#[test]
fn one_group_has_all_the_room() {
    let lines = drawn(both().split_off(1), 80, 24);
    assert!(lines.iter().all(|line| !line.contains('│') && !line.contains("STAND DOWN")));
    assert!(lines.iter().any(|line| line.starts_with("KEEP SERVING")));
    assert!(lines.iter().any(|line| line.starts_with("AAAAAAAAAAAAAAAAAAAA")), "{lines:#?}");
}

#[test]
fn it_fits_every_terminal() {
    for workers in [1, 5, 27, 300] {
        let name = if workers > 26 { "ABC" } else { "A" };
        let rows: Vec<_> = (0..workers).map(|i| row(name, owns(i, workers))).collect();
        for panels in 1..=2 {
            let panel = panel(Rebalance::StandDown, rows.clone(), 1.0);
            for width in [1, 5, 20, 40, 79, 80, 200] {
                let layout = Layout::new(width, panels);
                let picture = picture(vec![panel.clone(); panels], layout);
                for height in [1, 2, 5, 10, 16, 24, 50, 2000] {
                    let lines = picture.draw(layout, height);
                    assert_eq!(lines.len(), height, "{workers} workers, {width} x {height}");
                }
            }
        }
    }
}

#[test]
fn the_last_column_stays_free() {
    for width in [40, 79, 80, 81, 120] {
        for line in drawn(both(), width, 40).iter().filter(|line| line.contains("of keys served")) {
            assert!(line.chars().count() < width, "{width}: {line}");
        }
    }
}

#[test]
fn what_has_no_room_is_summed_up() {
    let mut rows: Vec<_> = (0..97).map(|i| row("AB", owns(i, 100))).collect();
    rows.push(row("AC", keeps((0, 100), (0, 99))));
    rows.push(row("AD", State::Crashed));
    rows.push(row("AE", State::Idle(Reason::Starting)));
    let lines = drawn(vec![panel(Rebalance::StandDown, rows, 1.0)], 80, 24);
    let rest = lines.iter().find(|line| line.contains(" more: ")).unwrap();
    let (count, sum) = rest.split_once(" more: ").unwrap();
    let settled = count.parse::<usize>().unwrap() - 3;
    assert_eq!(sum, format!("{settled} settled, 1 part, 1 idle, 1 crashed"));
}

#[test]
fn longer_names_are_not_shown_key_by_key() {
    let rows = (0..3).map(|i| row(if i < 2 { "A" } else { "AA" }, owns(i, 3))).collect();
    let lines = drawn(vec![panel(Rebalance::StandDown, rows, 1.0)], 31, 24);
    let title = lines.iter().position(|line| line.starts_with("STAND DOWN")).unwrap();
    assert_eq!(lines[title + 1], "AAAAAAAAAAAAAAAAAAAA██████████");
}

#[test]
fn a_key_with_two_owners_would_be_seen() {
    let rows = vec![row("A", owns(0, 3)), row("B", owns(0, 2))];
    let lines = drawn(vec![panel(Rebalance::StandDown, rows, 1.0)], 31, 24);
    let title = lines.iter().position(|line| line.starts_with("STAND DOWN")).unwrap();
    let strip = &lines[title + 1];
    assert!(strip.starts_with("!!!!!!!!!") && !strip.contains('A'), "{strip}");
    assert!(strip.matches('B').count() > 2, "{strip}");
}
