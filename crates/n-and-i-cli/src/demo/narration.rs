//! What is going on, in a sentence or two.

use n_and_i::{Reason, Rebalance};

/// The last thing that the script did to the groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    Start,
    /// The worker with this number joined.
    Join(usize),
    /// The worker with this number crashed.
    Crash(usize),
}

/// What there is to know for a sentence or two.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Situation<'a> {
    pub(crate) turn: Turn,
    /// The name of the worker that joined or crashed.
    pub(crate) who: &'a str,
    /// How many workers of each group have not crashed.
    pub(crate) running: usize,
    pub(crate) groups: Vec<Standings>,
    /// The error that registrations were seen to fail with lately.
    pub(crate) failure: Option<&'a str>,
}

/// How it stands with the workers of one group.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Standings {
    pub(crate) rebalance: Rebalance,
    /// The `n` of each worker that owns all of one pair.
    pub(crate) counts: Vec<u32>,
    /// How many own what two pairs have in common.
    pub(crate) partly: usize,
    /// Why the others own nothing.
    pub(crate) reasons: Vec<Reason>,
    /// What was lost since the turn, in intervals of the whole group.
    pub(crate) lost: f64,
}

/// How far a group has come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Phase {
    Failing,
    ClockStepped,
    Starting,
    /// What happened has not changed any count yet.
    Unnoticed,
    Changing,
    /// Some have their new share.
    TakingUp,
    /// All agree on a count beyond the workers of this demo: the group has others, elsewhere.
    WithGuests(u32),
    Settled,
}

/// A headline, and what it means.
pub(crate) fn narrate(situation: &Situation<'_>) -> (String, String) {
    let Situation { turn, who, running, groups, .. } = situation;
    // What is still going on in one of them is worth telling.
    let phase = groups.iter().map(|group| phase(group, situation)).min();
    match (phase.unwrap_or(Phase::Settled), turn) {
        (Phase::Failing, _) => {
            let error = situation.failure.map(|error| format!(" ({error})"));
            let meaning = "So nobody owns anything: a lease ends by its holder's own clock, before \
                           anyone else can be given its keys. The workers try to register for ever.";
            (
                format!("No registration gets through{}.", error.unwrap_or_default()),
                meaning.to_owned(),
            )
        }
        (Phase::ClockStepped, _) => (
            "The registry's clock stepped.".to_owned(),
            "Nobody owns anything for two intervals, until every lease granted before is over."
                .to_owned(),
        ),
        (Phase::Starting, _) => (
            format!("{} just started{}.", workers(*running), in_each(groups)),
            "Each registers once per interval. Nobody owns anything before two intervals in a \
             row give it the same place i and the same count n: about three intervals."
                .to_owned(),
        ),
        (Phase::Unnoticed, Turn::Crash(_)) => (
            format!("{who} crashed{}, without a goodbye.", in_each(groups)),
            format!(
                "Its keys (the dots) have no owner now. The others do not know yet: {who} was \
                 counted in the interval before, and the count decides."
            ),
        ),
        (Phase::Unnoticed, _) => (
            format!("{who} joins{}.", in_each(groups)),
            format!(
                "The others work on as {}: the interval that counts {who} is still open. {who} \
                 registers like everyone else; it tells nobody and asks nobody.",
                running - 1
            ),
        ),
        (Phase::Changing, _) => {
            (format!("The count changed to {running}."), rebalancing(groups, *running))
        }
        (Phase::TakingUp, _) => (
            format!(
                "The workers take up their {}share.",
                if *turn == Turn::Start { "" } else { "new " }
            ),
            format!(
                "Each does so at its own registration, as soon as two intervals agree that it \
                 is one of {running}. The dots are keys that have no owner yet."
            ),
        ),
        (Phase::WithGuests(count), _) => (
            format!("Settled: {count} workers share the keys."),
            format!(
                "{} of them are not of this demo: the dots are theirs.",
                usize::try_from(count).unwrap_or(0).saturating_sub(*running)
            ),
        ),
        (Phase::Settled, Turn::Start) => (
            format!("Settled: {} the keys.", share(*running)),
            format!(
                "Each owns those with jump(key, {running}) == i, each key has one owner, and every \
                 registration renews the lease. A worker that cannot register stops by its own \
                 clock."
            ),
        ),
        (Phase::Settled, Turn::Join(_)) => (
            format!("Settled again: {} the keys, {who} too.", share(*running)),
            cost("join", groups),
        ),
        (Phase::Settled, Turn::Crash(_)) => (
            format!("Recovered: {} the keys without {who}.", share(*running)),
            cost("crash", groups),
        ),
    }
}

fn phase(group: &Standings, situation: &Situation<'_>) -> Phase {
    let Situation { turn, running, failure, .. } = situation;
    let owners = group.counts.len() + group.partly;
    let all = |reason| {
        group.reasons.len() == *running && group.reasons.iter().all(|other| *other == reason)
    };
    if all(Reason::Expired) || failure.is_some() && owners == 0 {
        return Phase::Failing;
    }
    if all(Reason::ClockStepped) {
        return Phase::ClockStepped;
    }
    let now = group.counts.iter().filter(|n| usize::try_from(**n) == Ok(*running)).count();
    let before = group.counts.len() - now;
    if now == *running {
        return Phase::Settled;
    }
    if let Some(count) = with_guests(group, situation) {
        return Phase::WithGuests(count);
    }
    match turn {
        _ if owners == 0 && group.reasons.iter().all(|reason| *reason == Reason::Starting) => {
            Phase::Starting
        }
        Turn::Join(_) if before + 1 == *running => Phase::Unnoticed,
        Turn::Crash(_) if before == *running => Phase::Unnoticed,
        Turn::Join(_) | Turn::Crash(_) if now == 0 => Phase::Changing,
        _ => Phase::TakingUp,
    }
}

fn with_guests(group: &Standings, situation: &Situation<'_>) -> Option<u32> {
    let count = *group.counts.first()?;
    let same = group.counts.iter().all(|n| *n == count);
    let others = usize::try_from(count).ok()?.checked_sub(situation.running)?;
    // Right after a crash the one more is the crashed worker.
    let crashed = usize::from(matches!(situation.turn, Turn::Crash(_)));
    (same && group.counts.len() == situation.running && others > crashed).then_some(count)
}

fn rebalancing(groups: &[Standings], running: usize) -> String {
    match groups {
        [Standings { rebalance: Rebalance::StandDown, .. }] => format!(
            "Each worker stops when it learns that two intervals do not agree, and waits until \
             two agree on {running}. So no key ever has two owners."
        ),
        [_] => "Each worker goes on with the keys that both intervals give it: nearly all if its \
                place i is the same, hardly any if it moved. So no key ever has two owners."
            .to_owned(),
        _ => format!(
            "STAND DOWN: each worker stops until two intervals agree on {running}. KEEP SERVING: each \
             goes on with the keys that both give it, nearly all if its place i is the same, \
             hardly any if it moved."
        ),
    }
}

fn cost(of: &str, groups: &[Standings]) -> String {
    match groups {
        [one] => format!("The {of} cost {:.2} intervals of all the group's work.", one.lost),
        groups => {
            let each = groups.iter().map(|group| match group.rebalance {
                Rebalance::StandDown => {
                    format!(
                        "the group that stands down {:.2} intervals of all its work",
                        group.lost
                    )
                }
                Rebalance::KeepServing => {
                    format!("the one that keeps serving {:.2}", group.lost)
                }
            });
            format!("The {of} cost {}.", each.collect::<Vec<_>>().join(", "))
        }
    }
}

fn in_each(groups: &[Standings]) -> &'static str {
    if groups.len() > 1 { " in each group" } else { "" }
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

    fn standings(rebalance: Rebalance, counts: &[u32], partly: usize) -> Standings {
        Standings { rebalance, counts: counts.to_vec(), partly, reasons: Vec::new(), lost: 1.018 }
    }

    fn situation(
        turn: Turn,
        running: usize,
        mut groups: Vec<Standings>,
        reason: Reason,
    ) -> Situation<'static> {
        for group in &mut groups {
            let idle = running.saturating_sub(group.counts.len() + group.partly);
            group.reasons = vec![reason; idle];
        }
        Situation { turn, who: "F", running, groups, failure: None }
    }

    fn stand_down(counts: &[u32]) -> Standings {
        standings(Rebalance::StandDown, counts, 0)
    }

    fn keep_serving(counts: &[u32], partly: usize) -> Standings {
        standings(Rebalance::KeepServing, counts, partly)
    }

    const JOIN: Turn = Turn::Join(5);
    const CRASH: Turn = Turn::Crash(5);

    #[test]
    fn failures_are_named_as_long_as_nobody_owns_anything() {
        let mut situation = situation(Turn::Start, 1, vec![stand_down(&[])], Reason::Starting);
        situation.failure = Some("connection refused");
        let (headline, _) = narrate(&situation);
        assert_eq!(headline, "No registration gets through (connection refused).");
        situation.groups[0].counts.push(1);
        assert_eq!(narrate(&situation).0, "Settled: one worker has the keys.");
    }

    #[test]
    fn every_phase_has_its_headline() {
        use Reason::{ClockStepped, Expired, Rebalancing, Starting};
        for (turn, running, counts, reason, expected) in [
            (Turn::Start, 5, &[][..], Starting, "5 workers just started."),
            (JOIN, 6, &[], Starting, "6 workers just started."),
            (Turn::Start, 5, &[5, 5], Starting, "The workers take up their share."),
            (Turn::Start, 5, &[5; 5], Starting, "Settled: 5 workers share the keys."),
            (Turn::Start, 1, &[1], Starting, "Settled: one worker has the keys."),
            (Turn::Start, 3, &[8; 3], Starting, "Settled: 8 workers share the keys."),
            (JOIN, 6, &[5; 5], Starting, "F joins."),
            (JOIN, 6, &[5; 2], Rebalancing, "The count changed to 6."),
            (JOIN, 6, &[], Rebalancing, "The count changed to 6."),
            (JOIN, 6, &[6; 4], Rebalancing, "The workers take up their new share."),
            (JOIN, 6, &[6; 6], Rebalancing, "Settled again: 6 workers share the keys, F too."),
            (CRASH, 5, &[6; 5], Rebalancing, "F crashed, without a goodbye."),
            (CRASH, 5, &[6; 3], Rebalancing, "The count changed to 5."),
            (CRASH, 5, &[5; 5], Rebalancing, "Recovered: 5 workers share the keys without F."),
            (JOIN, 6, &[], Expired, "No registration gets through."),
            (JOIN, 6, &[], ClockStepped, "The registry's clock stepped."),
        ] {
            let situation = situation(turn, running, vec![stand_down(counts)], reason);
            assert_eq!(narrate(&situation).0, expected);
        }
    }

    #[test]
    fn those_that_keep_a_part_are_no_longer_as_before() {
        for (counts, partly, expected) in [
            (&[5; 5][..], 0, "F joins."),
            (&[5; 2], 3, "The count changed to 6."),
            (&[], 5, "The count changed to 6."),
            (&[6], 4, "The workers take up their new share."),
        ] {
            let groups = vec![keep_serving(counts, partly)];
            let situation = situation(JOIN, 6, groups, Reason::Starting);
            assert_eq!(narrate(&situation).0, expected);
        }
    }

    #[test]
    fn of_two_groups_the_one_that_has_not_come_as_far_counts() {
        for (groups, expected) in [
            ([stand_down(&[5; 5]), keep_serving(&[5; 2], 3)], "F joins in each group."),
            ([stand_down(&[]), keep_serving(&[6; 3], 3)], "The count changed to 6."),
            (
                [stand_down(&[6; 6]), keep_serving(&[6; 3], 3)],
                "The workers take up their new share.",
            ),
            (
                [stand_down(&[6; 6]), keep_serving(&[6; 6], 0)],
                "Settled again: 6 workers share the keys, F too.",
            ),
        ] {
            let situation = situation(JOIN, 6, groups.to_vec(), Reason::Rebalancing);
            assert_eq!(narrate(&situation).0, expected);
        }
    }

    #[test]
    fn the_cost_is_told_at_the_end() {
        let mut keeping = keep_serving(&[6; 6], 0);
        keeping.lost = 0.5;
        let groups = vec![stand_down(&[6; 6]), keeping];
        let mut situation = situation(JOIN, 6, groups, Reason::Rebalancing);
        assert_eq!(
            narrate(&situation).1,
            "The join cost the group that stands down 1.02 intervals of all its work, \
             the one that keeps serving 0.50."
        );
        situation.groups.pop();
        let expected = "The join cost 1.02 intervals of all the group's work.";
        assert_eq!(narrate(&situation).1, expected);
    }
}
