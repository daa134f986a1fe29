//! A sweep as a table: a row for each value.

use n_and_i::Reason;

use crate::simulate::report::Report;
use crate::simulate::settings::duration;
use crate::simulate::{Settings, Value};

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
    others.extend(settings.faults.options());
    others.push(format!("seed {}", settings.seed));
    let heads = format!(
        "{:<10} {:>9} {:>7} {:>7} {:>10} ",
        value.field(),
        "in peace",
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
            "{:<10} {:>9} {:>15} {:>10}  {}",
            "", "settled", "served", "first own", "idle, % of the workers' time"
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
    let first = report.outcome.first_lease;
    let first = first.map_or("never".to_owned(), |intervals| format!("{intervals:.2}"));
    let idle = REASONS
        .map(|reason| format!(" {:>width$}", percent(report.idle(reason)), width = width(reason)));
    let conflicts = report.conflicts();
    let violation = report.violation().map(|violation| format!("  {violation}"));
    format!(
        "{value:<10} {settled:>9} {mean:>7} {least:>7} {first:>10} {}  {conflicts:>9}{}",
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
