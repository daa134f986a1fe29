//! What is going on, in a sentence or two.

use n_and_i::Reason;

/// The last thing that the script did to the group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    Start,
    /// The worker with this number joined.
    Join(usize),
    /// The worker with this number crashed.
    Crash(usize),
}

/// What there is to know for a sentence or two.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Situation<'a> {
    pub(crate) turn: Turn,
    /// The name of the worker that joined or crashed.
    pub(crate) who: &'a str,
    /// How many workers have not crashed.
    pub(crate) running: usize,
    /// The `n` of each worker that owns something.
    pub(crate) counts: Vec<u32>,
    /// Why the others do not.
    pub(crate) reasons: Vec<Reason>,
    /// Whether registrations were seen to fail lately.
    pub(crate) failing: bool,
}

/// A headline, and what it means.
pub(crate) fn narrate(situation: &Situation<'_>) -> (String, String) {
    let Situation { turn, who, running, .. } = situation;
    let owners = situation.counts.len();
    if let Some(trouble) = trouble(situation) {
        return trouble;
    }
    let now = situation.counts.iter().filter(|n| usize::try_from(**n) == Ok(*running)).count();
    let before = owners - now;
    if now == *running {
        return settled(situation);
    }
    if let Some(others) = guests(situation) {
        return others;
    }
    let all_start = situation.reasons.iter().all(|reason| *reason == Reason::Starting);
    let (headline, meaning) = match turn {
        _ if owners == 0 && all_start => (
            format!("{} just started.", workers(*running)),
            "Each registers once per interval. Nobody owns anything before two intervals in a \
             row give it the same place i and the same count n: about three intervals."
                .to_owned(),
        ),
        Turn::Join(_) if before == *running - 1 => (
            format!("{who} joins."),
            format!(
                "The others work on as {before}: the interval that counts {who} is still open. \
                 {who} registers like everyone else; it tells nobody and asks nobody."
            ),
        ),
        Turn::Crash(_) if before == *running => (
            format!("{who} crashed, without a goodbye."),
            format!(
                "Its tasks (the dots) have no owner now. The others do not know yet: {who} was \
                 counted in the interval before, and the count decides."
            ),
        ),
        Turn::Join(_) | Turn::Crash(_) if now == 0 => (
            format!("The count changed to {running}: everyone stands down."),
            format!(
                "Each worker stops when it learns that two intervals do not agree, and waits \
                 until two agree on {running}. So no task ever has two owners."
            ),
        ),
        _ => (
            format!("{now} of {running} workers have their new share."),
            format!(
                "Each takes its share up at its own registration, as soon as two intervals \
                 agree that it is one of {running}. The dots have no owner yet."
            ),
        ),
    };
    (headline, meaning)
}

fn settled(situation: &Situation<'_>) -> (String, String) {
    let Situation { turn, who, running, .. } = situation;
    let headline = match turn {
        Turn::Start => format!("Settled: {} the tasks.", share(*running)),
        Turn::Join(_) => format!("Settled again: {} the tasks, {who} too.", share(*running)),
        Turn::Crash(_) => format!("Recovered: {} the tasks without {who}.", share(*running)),
    };
    let meaning = format!(
        "Each owns those with task % {running} == i, each task has one owner, and every \
         registration renews the lease. A worker that cannot register stops by its own clock."
    );
    (headline, meaning)
}

/// All have stopped, and it is not because workers came or went.
fn trouble(situation: &Situation<'_>) -> Option<(String, String)> {
    let all = |reason| {
        situation.reasons.len() == situation.running
            && situation.reasons.iter().all(|other| *other == reason)
    };
    if all(Reason::Expired) || situation.failing && situation.counts.is_empty() {
        return Some((
            "No registration gets through.".to_owned(),
            "So nobody owns anything: a lease ends by its holder's own clock, before anyone else \
             can be given its tasks. The workers try to register for ever."
                .to_owned(),
        ));
    }
    all(Reason::ClockStepped).then(|| {
        (
            "The registry's clock stepped.".to_owned(),
            "Nobody owns anything for two intervals, until every lease granted before is over."
                .to_owned(),
        )
    })
}

/// All agree on a count beyond the workers of this demo: the group has others, elsewhere.
fn guests(situation: &Situation<'_>) -> Option<(String, String)> {
    let count = *situation.counts.first()?;
    let same = situation.counts.iter().all(|n| *n == count);
    let others = usize::try_from(count).ok()?.checked_sub(situation.running)?;
    // Right after a crash the one more is the crashed worker.
    let crashed = usize::from(matches!(situation.turn, Turn::Crash(_)));
    (same && situation.counts.len() == situation.running && others > crashed).then(|| {
        (
            format!("Settled: {count} workers share the tasks."),
            format!("{others} of them are not of this demo: the dots are theirs."),
        )
    })
}

fn workers(count: usize) -> String {
    match count {
        1 => "One worker".to_owned(),
        _ => format!("{count} workers"),
    }
}

fn share(count: usize) -> String {
    match count {
        1 => "one worker has".to_owned(),
        _ => format!("{count} workers share"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headline(turn: Turn, running: usize, counts: &[u32], reason: Reason) -> String {
        let idle = running.saturating_sub(counts.len());
        let (counts, reasons) = (counts.to_vec(), vec![reason; idle]);
        let failing = false;
        narrate(&Situation { turn, who: "F", running, counts, reasons, failing }).0
    }

    #[test]
    fn failures_are_named_as_long_as_nobody_owns_anything() {
        let mut situation = Situation {
            turn: Turn::Start,
            who: "",
            running: 1,
            counts: Vec::new(),
            reasons: vec![Reason::Starting],
            failing: true,
        };
        assert_eq!(narrate(&situation).0, "No registration gets through.");
        situation.counts.push(1);
        assert_eq!(narrate(&situation).0, "Settled: one worker has the tasks.");
    }

    #[test]
    fn every_phase_has_its_headline() {
        use Reason::{ClockStepped, Expired, Rebalancing, Starting};
        let (start, join, crash) = (Turn::Start, Turn::Join(5), Turn::Crash(5));
        for (turn, running, counts, reason, expected) in [
            (start, 5, &[][..], Starting, "5 workers just started."),
            (join, 6, &[], Starting, "6 workers just started."),
            (start, 5, &[5, 5], Starting, "2 of 5 workers have their new share."),
            (start, 5, &[5; 5], Starting, "Settled: 5 workers share the tasks."),
            (start, 1, &[1], Starting, "Settled: one worker has the tasks."),
            (start, 3, &[8; 3], Starting, "Settled: 8 workers share the tasks."),
            (join, 6, &[5; 5], Starting, "F joins."),
            (join, 6, &[5; 2], Rebalancing, "The count changed to 6: everyone stands down."),
            (join, 6, &[], Rebalancing, "The count changed to 6: everyone stands down."),
            (join, 6, &[6; 4], Rebalancing, "4 of 6 workers have their new share."),
            (join, 6, &[6; 6], Rebalancing, "Settled again: 6 workers share the tasks, F too."),
            (crash, 5, &[6; 5], Rebalancing, "F crashed, without a goodbye."),
            (crash, 5, &[6; 3], Rebalancing, "The count changed to 5: everyone stands down."),
            (crash, 5, &[5; 5], Rebalancing, "Recovered: 5 workers share the tasks without F."),
            (join, 6, &[], Expired, "No registration gets through."),
            (join, 6, &[], ClockStepped, "The registry's clock stepped."),
        ] {
            assert_eq!(headline(turn, running, counts, reason), expected);
        }
    }
}
