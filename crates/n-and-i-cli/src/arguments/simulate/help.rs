//! What the long help of `simulate` says after the options.

use n_and_i_sim::{Fault, Faults};

use crate::simulate::{rates, unit};

/// Where lines end at the latest.
const WIDTH: usize = 98;

const FAULTS: &str = "\
Faults, with their usual rates, at which a group of ten has some time to recover:";

const SLOTS: &str = "\
With --layout slots all of a group is one key: lose-open, lose-closed and lose-guard lose it, as \
flush does.";

const FIELDS: &str = r#"With --json the object has:
  seed, workers, interval_ms, gap, delay_ms, fault_rates, clock_rate, mixed_gaps, foreign,
  layout, rebalance, mapping, scenario, every
                     what was simulated; every is null if nothing was planned
  intervals          how many intervals; less than asked for if a violation ended the run
  peaces             how many times of peace came to their end; 0 with foreign workers
  unsettled          at the end of how many of them the group did not own everything
  worker_intervals   how many intervals, summed over the workers that were there
  faults             how often each kind of fault happened, by name
  conflicts          1 if two workers owned one task, if it was handed out within the drain
                     window of who had it before, or with a token that did not rise; otherwise 0
  served_mean        share of the tasks that had an owner, 0 to 1, mean from the 6th interval on,
                     where changes are planned from the 15th, with join-and-crash from the join
  served_min         the same for the interval in which it was least; both null if a violation
                     came before
  changes            how many planned changes of membership there were
  lost_per_join, lost_per_leave, lost_per_restart, lost_per_crash
                     what such a change cost, on average: the share of the tasks without an owner,
                     summed up to the next change, the crash to the end, in intervals; 1 is what
                     the whole group does in one; null if there was none
  first_ownership    how long workers waited for their first ownership, in intervals, on
                     average; null if none ever owned anything
  idle               worker-intervals spent owning nothing, by reason: "starting",
                     "rebalancing", "expired", "clock-stepped"
  registrations      how many registrations were counted
  registrations_per_worker_interval
                     the same per worker and interval
  seconds            how long the simulation took
  violation          only if there was one: how the promise was broken, or (conflicts is 0) that
                     a worker waits for nothing or has a deadline in the past
  sweep, value       with --sweep: which field was varied and its value here

Exit codes:
  0  the promise held
  1  it was broken, or the run failed
  2  wrong arguments

Examples:
  n-and-i simulate --workers 20 --interval 2s --faults crash=0.1,slow-message --seed 7
  n-and-i simulate --faults all,flush=0 --clock-rate 0.01 --mixed-gaps
  n-and-i simulate --faults none --delay 60ms --sweep interval=1s..30s
  n-and-i simulate --scenario rolling-restart --layout slots --rebalance keep-serving
  n-and-i simulate --scenario join-and-crash --workers 5 --intervals 30 --svg group.svg"#;

pub(super) fn text() -> String {
    let mut lines = vec![FAULTS.to_owned()];
    for of_messages in [true, false] {
        let faults = Fault::ALL.iter().filter(|fault| fault.is_of_messages() == of_messages);
        let (unit, most) = if of_messages {
            (unit(Fault::LostReply), rates(Fault::LostReply))
        } else {
            (unit(Fault::Crash), rates(Fault::Crash))
        };
        lines.push(format!("  The rate is {unit}, at most {}:", most.end()));
        lines.extend(faults.flat_map(|fault| describe(*fault)));
    }
    let all = Faults::all();
    let left_out = Fault::ALL.iter().filter(|fault| all.rate(**fault) == 0.0);
    let left_out: Vec<_> = left_out.map(|fault| fault.name()).collect();
    let clocks = format!("clocks that run up to {} % fast or slow", all.clock_rate * 100.0);
    let all = format!(
        "all has {clocks}, and leaves out {}: with them leases can overlap when data is lost.",
        left_out.join(" and ")
    );
    lines.extend(wrapped(String::new(), 0, &all));
    lines.extend(wrapped(String::new(), 0, SLOTS));
    lines.extend([String::new(), FIELDS.to_owned()]);
    lines.join("\n")
}

/// Its name, usual rate and description.
fn describe(fault: Fault) -> Vec<String> {
    let room = Fault::ALL.iter().map(|fault| fault.name().len()).max().unwrap_or(0);
    let head = format!("    {:<room$}  {:<4} ", fault.name(), fault.usual_rate());
    let indent = head.len() + 1;
    wrapped(head, indent, fault.description().trim_end_matches('.'))
}

/// The text after a head, in lines; those after the first are indented.
fn wrapped(head: String, indent: usize, text: &str) -> Vec<String> {
    let mut lines = vec![head];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("the first line");
        if last.len() + 1 + word.len() > WIDTH {
            lines.push(format!("{:indent$}{word}", ""));
        } else {
            let space = if last.is_empty() { "" } else { " " };
            last.extend([space, word]);
        }
    }
    lines
}
