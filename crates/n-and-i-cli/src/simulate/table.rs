//! A sweep as a table: a row for each value.

use n_and_i::Reason;

use crate::simulate::report::Report;
use crate::simulate::settings::duration;
use crate::simulate::{Settings, Value};

/// How wide a column is that tells what a planned change cost.
const COST: usize = 9;

/// Why a worker that lives may own nothing. One that stops is gone at once.
const REASONS: [Reason; 4] =
    [Reason::Starting, Reason::Rebalancing, Reason::Expired, Reason::ClockStepped];

/// What is the same for all rows, and the heads of the columns.
pub(super) fn title(settings: &Settings, value: Value) -> Vec<String> {
    let others = [
        ("workers", settings.workers.to_string()),
        ("interval", duration(settings.interval)),
        ("gap", settings.gap.to_string()),
        ("delay", duration(settings.delay)),
        ("intervals", settings.intervals.to_string()),
        ("faults", settings.faults.to_string()),
    ];
    let others = others.iter().filter(|(field, _)| *field != value.field());
    let mut others: Vec<_> = others.map(|(field, value)| format!("{field} {value}")).collect();
    // What is varied there needs no mention.
    let options = settings.options().into_iter();
    others.extend(options.filter(|option| !option.starts_with(&format!("{} ", value.field()))));
    others.push(format!("seed {}", settings.seed));
    let kinds = settings.changes();
    let costs: Vec<_> = kinds.iter().map(|kind| format!(" {kind:>COST$}")).collect();
    let costs = costs.concat();
    let lost = if kinds.is_empty() { "" } else { "lost per" };
    let when = if kinds.is_empty() { "in peace" } else { "at first" };
    let heads = format!(
        "{:<10} {when:>9} {:>7} {:>7}{costs} {:>10} ",
        value.field(),
        "mean %",
        "least %",
        "intervals"
    );
    let reasons =
        REASONS.map(|reason| format!(" {:>width$}", reason.as_str(), width = width(reason)));
    vec![
        others.join(", "),
        String::new(),
        format!(
            "{:<10} {:>9} {:>15}{lost:>width$} {:>10}  {}",
            "",
            "settled",
            "served",
            "first own",
            "idle, % of the workers' time",
            width = costs.len()
        ),
        format!("{heads}{}  conflicts", reasons.concat()),
    ]
}

/// The figures of one value.
pub(super) fn row(value: Value, report: &Report<'_>) -> String {
    let settled = report.settled();
    let settled = settled.map_or("-".to_owned(), |(settled, peaces)| format!("{settled}/{peaces}"));
    let served = report.served();
    let mean = percent(served.map(|(mean, _)| mean));
    let least = percent(served.map(|(_, least)| least));
    let costs = report.costs().into_iter().map(|(_, cost)| {
        format!(" {:>COST$}", cost.map_or("-".to_owned(), |cost| format!("{cost:.2}")))
    });
    let costs = costs.collect::<Vec<_>>().concat();
    let first = report.outcome.first_lease;
    let first = first.map_or("never".to_owned(), |intervals| format!("{intervals:.2}"));
    let idle = REASONS
        .map(|reason| format!(" {:>width$}", percent(report.idle(reason)), width = width(reason)));
    let conflicts = report.conflicts();
    let violation = report.violation().map(|violation| format!("  {violation}"));
    format!(
        "{value:<10} {settled:>9} {mean:>7} {least:>7}{costs} {first:>10} {}  {conflicts:>9}{}",
        idle.concat(),
        violation.unwrap_or_default()
    )
}

fn width(reason: Reason) -> usize {
    reason.as_str().len() + 1
}

fn percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1}", share * 100.0))
}
