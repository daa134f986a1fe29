//! What was seen, as text for people and as JSON.

use std::time::Duration;

use n_and_i::{Config, Layout};
use serde::Serialize;

use crate::inspect::counts::{Closed, Open, State};
use crate::inspect::guard::Guard;
use crate::inspect::preflight::Finding;
use crate::inspect::server::Server;
use crate::inspect::source::{Key, Reading};
use crate::record::millis;
use crate::terminal::text::{Line, Style, wrap};

/// How many closed intervals are listed one by one.
const LISTED: usize = 8;
/// The width of the titles on the left.
const TITLE: usize = 11;
/// The width of the words behind the bars, for counts of five digits.
const LEGEND: usize = 16;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// What stands behind one title.
struct Entry {
    title: &'static str,
    style: Style,
    text: String,
}

impl Entry {
    fn new(title: &'static str, style: Style, text: impl Into<String>) -> Self {
        Self { title, style, text: text.into() }
    }
}

/// One look.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    t_ms: u64,
    prefix: String,
    group: String,
    layout: Option<&'static str>,
    interval_ms: Option<u64>,
    state: Option<State>,
    open: Option<Open>,
    closed: Vec<Closed>,
    keys: Vec<Key>,
    server: Option<Server>,
    findings: Vec<Finding>,
    unchecked: Vec<String>,
    error: Option<String>,
}

impl Report {
    pub(super) fn new(
        elapsed: Duration,
        config: &Config,
        reading: Reading,
        closed: Vec<Closed>,
        state: State,
        findings: Vec<Finding>,
    ) -> Self {
        let (layout, interval_ms) = match reading.guard {
            Guard::Group(layout, line) => (Some(Layout::as_str(layout)), Some(line.length)),
            Guard::Absent | Guard::Foreign => (None, None),
        };
        Self {
            t_ms: millis(elapsed),
            prefix: config.prefix().to_owned(),
            group: config.name().to_owned(),
            layout,
            interval_ms,
            state: Some(state),
            open: reading.open,
            closed,
            keys: reading.keys,
            server: reading.server,
            findings,
            unchecked: reading.unchecked,
            error: None,
        }
    }

    /// Redis could not be asked.
    pub(super) fn failed(elapsed: Duration, config: &Config, error: String) -> Self {
        Self {
            t_ms: millis(elapsed),
            prefix: config.prefix().to_owned(),
            group: config.name().to_owned(),
            layout: None,
            interval_ms: None,
            state: None,
            open: None,
            closed: Vec::new(),
            keys: Vec::new(),
            server: None,
            findings: Vec::new(),
            unchecked: Vec::new(),
            error: Some(error),
        }
    }

    /// Whether there is nothing for anybody to do.
    pub(super) fn is_good(&self) -> bool {
        self.findings.is_empty() && self.error.is_none()
    }

    /// Whether too few intervals are known to say anything of the group.
    pub(super) fn is_starting(&self) -> bool {
        self.state == Some(State::Starting)
    }

    /// The number of the open interval.
    pub(super) fn interval(&self) -> Option<u64> {
        self.open.map(|open| open.interval)
    }

    /// Whether there is something to tell after that.
    pub(super) fn differs_from(&self, other: &Self) -> bool {
        let seen = |report: &Self| {
            let problems: Vec<_> =
                report.findings.iter().map(|finding| finding.problem.clone()).collect();
            (report.interval(), report.state, report.layout, report.error.clone(), problems)
        };
        seen(self) != seen(other)
    }

    /// For people, as a whole, what matters most first, each line at most so wide.
    pub(super) fn lines(&self, width: usize) -> Vec<Line> {
        let entries = self.entries();
        let lines = entries.into_iter().flat_map(|Entry { title, style, text }| {
            let texts = wrap(&text, width.saturating_sub(TITLE).max(20));
            let titles = std::iter::once(title).chain(std::iter::repeat(""));
            let lines = titles.zip(texts).map(|(title, text)| titled(title).then(style, text));
            lines.collect::<Vec<_>>()
        });
        lines.collect()
    }

    fn entries(&self) -> Vec<Entry> {
        let group = Entry::new("group", Style::Strong, format!("{}{}", self.group, self.kept()));
        if let Some(error) = &self.error {
            return vec![group, Entry::new("error", Style::Bad, error)];
        }
        let mut entries = vec![group, self.state()];
        if self.findings.is_empty() {
            entries.push(Entry::new("findings", Style::Good, "none"));
        }
        for Finding { problem, remedy } in &self.findings {
            entries.push(Entry::new("WRONG", Style::Bad, problem));
            entries.push(Entry::new("", Style::Plain, format!("-> {remedy}")));
        }
        let notes = self.unchecked.iter();
        entries.extend(notes.map(|note| Entry::new("unchecked", Style::Middling, note)));
        entries.push(Entry::new("server", Style::Plain, self.server()));
        entries.extend(list("intervals", self.intervals()));
        entries.extend(list("keys", self.keys.iter().map(describe)));
        entries
    }

    /// For people, as one line.
    pub(super) fn line(&self) -> String {
        let elapsed = Duration::from_millis(self.t_ms).as_secs_f64();
        let what = match (&self.error, self.state, self.open) {
            (Some(error), ..) => error.clone(),
            (None, Some(state), Some(open)) => {
                let counts: Vec<_> =
                    self.listed().iter().map(|each| each.count.to_string()).collect();
                let counts = if counts.is_empty() { "-".to_owned() } else { counts.join(" ") };
                format!("{} (closed: {counts}; open: {} so far)", state.as_str(), open.count)
            }
            (None, state, _) => state.map_or("", State::as_str).to_owned(),
        };
        let mut line = format!("{elapsed:9.3} s  {what}");
        for finding in &self.findings {
            line += "; WRONG: ";
            line += &finding.problem;
        }
        line
    }

    /// The counts of the closed intervals as bars, as many as there is room for.
    pub(super) fn bars(&self, room: usize) -> Line {
        // What they mean has its place, too.
        let room = room.saturating_sub(TITLE + LEGEND).max(1);
        let shown = &self.closed[self.closed.len().saturating_sub(room)..];
        let most = shown.iter().map(|closed| closed.count).max().unwrap_or(0).max(1);
        let bar = |closed: &Closed| match closed.count {
            0 => '·',
            count => BARS[usize::try_from((count * 8 - 1) / most).unwrap_or(7).min(7)],
        };
        let bars = titled("counts").then(Style::Plain, shown.iter().map(bar).collect::<String>());
        if shown.is_empty() { bars } else { bars.then(Style::Faint, format!("  {most} at most")) }
    }

    fn kept(&self) -> String {
        let prefix = match &*self.prefix {
            "" => String::new(),
            prefix => format!(", prefix {prefix}"),
        };
        match (self.layout, self.interval_ms) {
            (Some(layout), Some(length)) => {
                let interval = Duration::from_millis(length);
                format!("{prefix}, layout {layout}, interval {interval:?}")
            }
            _ => prefix,
        }
    }

    fn state(&self) -> Entry {
        let (style, meaning) = match self.state {
            Some(State::Settled) => {
                let count = self.closed.last().map_or(0, |closed| closed.count);
                let s = if count == 1 { "" } else { "s" };
                (Style::Good, format!("settled: {count} worker{s}"))
            }
            Some(State::Changing) => {
                (Style::Middling, "changing: its intervals do not agree yet".to_owned())
            }
            Some(State::Flapping) => {
                (Style::Bad, "flapping: the count keeps going up and down".to_owned())
            }
            Some(State::Starting) => {
                (Style::Middling, "starting: too few intervals have closed to tell".to_owned())
            }
            Some(State::Absent) | None => {
                (Style::Middling, "absent: no worker has registered under this name".to_owned())
            }
        };
        Entry::new("state", style, meaning)
    }

    fn intervals(&self) -> impl Iterator<Item = String> {
        let closed = self.listed().iter();
        let closed = closed.map(|Closed { interval, count }| format!("{interval}  {count}"));
        closed.chain(self.open.map(|open| {
            let rests = match open.rests {
                Some(false) => "; leases cannot rest on the one before",
                _ => "",
            };
            let Open { interval, count, passed, .. } = open;
            format!("{interval}  {count} so far, {:.0} % of it has passed{rests}", passed * 100.0)
        }))
    }

    fn listed(&self) -> &[Closed] {
        &self.closed[self.closed.len().saturating_sub(LISTED)..]
    }

    fn server(&self) -> String {
        let Some(server) = &self.server else { return "unknown".to_owned() };
        let product = server.product.as_ref().zip(server.version.as_ref());
        let product = product.map(|(product, version)| format!("{product} {version}"));
        let replicas = server.replicas.map(|replicas| format!("replicas {replicas}"));
        let policy = server.maxmemory_policy.as_ref();
        let policy = policy.map(|policy| format!("maxmemory-policy {policy}"));
        let facts = [product, server.role.clone(), server.mode.clone(), replicas, policy];
        let facts: Vec<_> = facts.into_iter().flatten().collect();
        if facts.is_empty() { "unknown".to_owned() } else { facts.join(", ") }
    }
}

fn titled(title: &str) -> Line {
    Line::new().then(Style::Faint, title).up_to(TITLE)
}

/// Several behind the first one's title.
fn list(title: &'static str, texts: impl Iterator<Item = String>) -> Vec<Entry> {
    let titles = std::iter::once(title).chain(std::iter::repeat(""));
    titles.zip(texts).map(|(title, text)| Entry::new(title, Style::Plain, text)).collect()
}

fn describe(key: &Key) -> String {
    let fields = key.fields.map(|fields| format!(" of {fields} fields")).unwrap_or_default();
    let left = match (key.ttl_ms, key.stays) {
        (Some(ttl), _) => format!(", {:.1} s left", Duration::from_millis(ttl).as_secs_f64()),
        (None, true) => ", no time to live".to_owned(),
        (None, false) => String::new(),
    };
    format!("{}  {}{fields}{left}", key.name, key.kind)
}
