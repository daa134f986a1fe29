//! The values of one setting, from the least to the greatest.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use crate::simulate::Settings;
use crate::simulate::settings::duration;

const USUAL_STEPS: usize = 9;
const STEPS: RangeInclusive<usize> = 2..=1000;
/// The same as without a sweep.
const WORKERS: RangeInclusive<usize> = 1..=10_000;
const FIELDS: &str = "gap, interval, workers, delay or every";

/// At least two values of one setting, rising.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Sweep(Vec<Value>);

/// A setting and its value.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub(crate) enum Value {
    Gap(f64),
    Interval(Duration),
    Workers(usize),
    Delay(Duration),
    Every(f64),
}

/// Why a sweep cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum SweepError {
    /// It is not `FIELD=FROM..TO` or `FIELD=FROM..TO/STEPS`.
    Form,
    /// There is no such field, or it cannot be varied.
    Field(String),
    /// An end of the range is not a value of the field.
    End { field: &'static str, value: String },
    /// The range does not rise.
    Falling { from: String, to: String },
    /// Multiples of nothing are nothing.
    Zero(&'static str),
    /// The number of steps is not one of [`STEPS`].
    Steps(String),
}

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => f.write_str(
                "must be FIELD=FROM..TO or FIELD=FROM..TO/STEPS (such as gap=0.05..0.45/9)",
            ),
            Self::Field(field) => {
                write!(f, "{field:?} cannot be varied: must be {FIELDS}")
            }
            Self::End { field: "gap", value } => {
                write!(f, "gap is {value:?}, must be a number (such as 0.15)")
            }
            Self::End { field: "every", value } => {
                write!(f, "every is {value:?}, must be a number of intervals (such as 4)")
            }
            Self::End { field: "workers", value } => {
                write!(
                    f,
                    "workers is {value:?}, must be from {} to {}",
                    WORKERS.start(),
                    WORKERS.end()
                )
            }
            Self::End { field, value } => {
                write!(f, "{field} is {value:?}, must be a duration (try 300ms, 5s or 1m)")
            }
            Self::Falling { from, to } => write!(f, "{from}..{to} must rise"),
            Self::Zero(field) => write!(f, "{field} must begin with more than 0"),
            Self::Steps(steps) => {
                write!(f, "steps is {steps:?}, must be from {} to {}", STEPS.start(), STEPS.end())
            }
        }
    }
}

impl std::error::Error for SweepError {}

impl FromStr for Sweep {
    type Err = SweepError;

    fn from_str(text: &str) -> Result<Self, SweepError> {
        let (field, range) = text.split_once('=').ok_or(SweepError::Form)?;
        let (range, steps) = match range.split_once('/') {
            Some((range, steps)) => {
                let count = steps.trim().parse().ok().filter(|count| STEPS.contains(count));
                (range, count.ok_or_else(|| SweepError::Steps(steps.to_owned()))?)
            }
            None => (range, USUAL_STEPS),
        };
        let read = match field.trim() {
            "gap" => Value::gap,
            "interval" => Value::interval,
            "workers" => Value::workers,
            "delay" => Value::delay,
            "every" => Value::every,
            other => return Err(SweepError::Field(other.to_owned())),
        };
        let (from, to) = range.split_once("..").ok_or(SweepError::Form)?;
        Self::between(read(from.trim())?, read(to.trim())?, steps)
    }
}

impl Sweep {
    pub(crate) fn into_values(self) -> impl Iterator<Item = Value> {
        self.0.into_iter()
    }

    fn between(from: Value, to: Value, steps: usize) -> Result<Self, SweepError> {
        // Not `from >= to`: a gap may be NaN.
        if from.partial_cmp(&to).is_none_or(std::cmp::Ordering::is_ge) {
            return Err(SweepError::Falling { from: from.to_string(), to: to.to_string() });
        }
        let (low, high) = (from.number(), to.number());
        if low <= 0.0 && from.is_geometric() {
            return Err(SweepError::Zero(from.field()));
        }
        let mut values = vec![from];
        for step in 1..steps - 1 {
            let part = to_f64(step) / to_f64(steps - 1);
            let number = if from.is_geometric() {
                low * (high / low).powf(part)
            } else {
                low + (high - low) * part
            };
            // Rounding may lead to the value before, or to the last.
            let value = from.with_number(number);
            if values.last().is_some_and(|last| *last < value) && value < to {
                values.push(value);
            }
        }
        values.push(to);
        Ok(Self(values))
    }
}

impl Value {
    fn gap(text: &str) -> Result<Self, SweepError> {
        let error = || SweepError::End { field: "gap", value: text.to_owned() };
        text.parse().map(Self::Gap).map_err(|_| error())
    }

    fn interval(text: &str) -> Result<Self, SweepError> {
        length("interval", text).map(Self::Interval)
    }

    fn workers(text: &str) -> Result<Self, SweepError> {
        let count = text.parse().ok().filter(|count| WORKERS.contains(count));
        let error = || SweepError::End { field: "workers", value: text.to_owned() };
        count.map(Self::Workers).ok_or_else(error)
    }

    fn delay(text: &str) -> Result<Self, SweepError> {
        length("delay", text).map(Self::Delay)
    }

    fn every(text: &str) -> Result<Self, SweepError> {
        let error = || SweepError::End { field: "every", value: text.to_owned() };
        text.parse().map(Self::Every).map_err(|_| error())
    }

    /// The name of the setting, as an option.
    pub(crate) fn field(self) -> &'static str {
        match self {
            Self::Gap(_) => "gap",
            Self::Interval(_) => "interval",
            Self::Workers(_) => "workers",
            Self::Delay(_) => "delay",
            Self::Every(_) => "every",
        }
    }

    /// The settings with this value.
    pub(crate) fn applied_to(self, settings: &Settings) -> Settings {
        let mut settings = settings.clone();
        match self {
            Self::Gap(gap) => settings.gap = gap,
            Self::Interval(interval) => settings.interval = interval,
            Self::Workers(workers) => settings.workers = workers,
            Self::Delay(delay) => settings.delay = delay,
            Self::Every(every) => settings.every = Some(every),
        }
        settings
    }

    fn is_geometric(self) -> bool {
        !matches!(self, Self::Gap(_))
    }

    /// As a bare number, of nanoseconds if it is a duration.
    fn number(self) -> f64 {
        match self {
            Self::Gap(number) | Self::Every(number) => number,
            Self::Interval(length) | Self::Delay(length) => length.as_secs_f64() * 1e9,
            Self::Workers(count) => to_f64(count),
        }
    }

    /// The same setting with another value, rounded to what can be set and is good to read.
    fn with_number(self, number: f64) -> Self {
        match self {
            Self::Gap(_) => Self::Gap((number * 1e6).round() / 1e6),
            Self::Interval(_) => {
                Self::Interval(Duration::from_millis(whole(three_digits(number) / 1e6)))
            }
            Self::Workers(_) => Self::Workers(usize::try_from(whole(number)).unwrap_or(usize::MAX)),
            Self::Delay(_) => Self::Delay(Duration::from_nanos(whole(three_digits(number)))),
            Self::Every(_) => Self::Every((number * 100.0).round() / 100.0),
        }
    }
}

/// As it is written on the command line.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gap(number) | Self::Every(number) => f.pad(&number.to_string()),
            Self::Interval(length) | Self::Delay(length) => f.pad(&duration(*length)),
            Self::Workers(count) => f.pad(&count.to_string()),
        }
    }
}

fn length(field: &'static str, text: &str) -> Result<Duration, SweepError> {
    let error = |_| SweepError::End { field, value: text.to_owned() };
    humantime::parse_duration(text).map_err(error)
}

fn three_digits(number: f64) -> f64 {
    let unit = 10_f64.powf(number.log10().floor() - 2.0);
    (number / unit).round() * unit
}

#[expect(clippy::cast_precision_loss, reason = "steps and workers are few")]
fn to_f64(count: usize) -> f64 {
    count as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it saturates, and lies between two values that were read"
)]
fn whole(number: f64) -> u64 {
    number.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        let sweep: Sweep = text.parse().unwrap();
        sweep.into_values().map(|value| value.to_string()).collect()
    }

    #[test]
    fn gaps_are_evenly_spaced() {
        let nine = ["0.05", "0.1", "0.15", "0.2", "0.25", "0.3", "0.35", "0.4", "0.45"];
        assert_eq!(values("gap=0.05..0.45"), nine);
        assert_eq!(values("gap=0.1..0.2/3"), ["0.1", "0.15", "0.2"]);
        assert_eq!(values("gap=0.1..0.2/2"), ["0.1", "0.2"]);
    }

    #[test]
    fn the_others_are_multiples() {
        assert_eq!(values("interval=1s..4s/3"), ["1s", "2s", "4s"]);
        assert_eq!(values("delay=10us..1ms/5"), ["10us", "31600ns", "100us", "316us", "1ms"]);
        assert_eq!(values("every=0.5..8/5"), ["0.5", "1", "2", "4", "8"]);
        assert_eq!(values("every=2..20/4"), ["2", "4.31", "9.28", "20"]);
        assert_eq!(values("workers=2..50"), ["2", "3", "4", "7", "10", "15", "22", "33", "50"]);
        let lengths = values("interval=1s..30s");
        assert_eq!(lengths.len(), 9);
        assert_eq!(lengths[..3], ["1s", "1530ms", "2340ms"]);
    }

    #[test]
    fn no_value_comes_twice() {
        assert_eq!(values("workers=2..5/1000"), ["2", "3", "4", "5"]);
        assert_eq!(values("interval=1ms..3ms/50"), ["1ms", "2ms", "3ms"]);
    }

    #[test]
    fn the_ends_stay_as_they_are() {
        assert_eq!(values("delay=1234567ns..7654321ns/2"), ["1234567ns", "7654321ns"]);
        // For the check of the timing to refuse.
        assert_eq!(values("interval=1500us..5s/2"), ["1500us", "5s"]);
    }

    #[test]
    fn spaces_do_not_matter() {
        assert_eq!(values(" interval = 1s 500ms .. 6s / 3"), ["1500ms", "3s", "6s"]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (text, expected) in [
            ("", "must be FIELD=FROM..TO"),
            ("gap", "must be FIELD=FROM..TO"),
            ("gap=0.1", "must be FIELD=FROM..TO"),
            ("gap=0.1-0.2", "must be FIELD=FROM..TO"),
            (
                "seed=1..9",
                "\"seed\" cannot be varied: must be gap, interval, workers, delay or every",
            ),
            ("gap=a..0.2", "gap is \"a\", must be a number"),
            ("gap=..0.2", "gap is \"\", must be a number"),
            ("gap=0.1..=0.2", "gap is \"=0.2\", must be a number"),
            ("interval=1..30", "interval is \"1\", must be a duration"),
            ("delay=1ms..fast", "delay is \"fast\", must be a duration"),
            ("every=often..5", "every is \"often\", must be a number of intervals (such as 4)"),
            ("every=0..5", "every must begin with more than 0"),
            ("every=-1..5", "every must begin with more than 0"),
            ("every=1..NaN", "1..NaN must rise"),
            ("workers=0..5", "workers is \"0\", must be from 1 to 10000"),
            ("workers=1..10001", "workers is \"10001\", must be from 1 to 10000"),
            ("workers=2.5..5", "workers is \"2.5\", must be from 1 to 10000"),
            ("gap=0.4..0.1", "0.4..0.1 must rise"),
            ("gap=0.1..0.1", "0.1..0.1 must rise"),
            ("gap=NaN..0.1", "NaN..0.1 must rise"),
            ("interval=5s..1s", "5s..1s must rise"),
            ("delay=0s..1s", "delay must begin with more than 0"),
            ("gap=0.1..0.2/1", "steps is \"1\", must be from 2 to 1000"),
            ("gap=0.1..0.2/1001", "steps is \"1001\", must be from 2 to 1000"),
            ("gap=0.1..0.2/", "steps is \"\", must be from 2 to 1000"),
        ] {
            let message = text.parse::<Sweep>().unwrap_err().to_string();
            assert!(message.starts_with(expected), "{text:?}: {message}");
        }
    }
}
