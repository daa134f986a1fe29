//! Which part of a run is drawn.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// How many intervals are drawn unless it is said.
const USUAL: u64 = 60;
/// More would be too narrow to tell apart, or the picture too wide.
const MOST: u64 = 200;
/// More workers would make the picture too high.
pub(crate) const WORKERS: usize = 100;

/// Some intervals of a run, counted from 0; at least one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Show(Range<u64>);

/// Why intervals cannot be shown.
#[derive(Debug)]
pub(crate) enum ShowError {
    /// Not FROM..TO in whole numbers.
    Form,
    /// It does not end after it begins.
    Falling { from: u64, to: u64 },
    /// More than can be drawn.
    TooMany(u64),
}

impl fmt::Display for ShowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => {
                write!(f, "must be FROM..TO in whole numbers of intervals (such as 0..{USUAL})")
            }
            Self::Falling { from, to } => write!(f, "{from}..{to} must rise"),
            Self::TooMany(count) => {
                write!(f, "are {count} intervals, must be at most {MOST} to be drawn")
            }
        }
    }
}

impl std::error::Error for ShowError {}

impl FromStr for Show {
    type Err = ShowError;

    fn from_str(text: &str) -> Result<Self, ShowError> {
        let (from, to) = text.split_once("..").ok_or(ShowError::Form)?;
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| ShowError::Form);
        let (from, to) = (number(from)?, number(to)?);
        if from >= to {
            return Err(ShowError::Falling { from, to });
        }
        if to - from > MOST {
            return Err(ShowError::TooMany(to - from));
        }
        Ok(Self(from..to))
    }
}

impl Show {
    /// All of a short run, the beginning of a long one.
    pub(crate) fn usual(intervals: u64) -> Self {
        Self(0..intervals.min(USUAL))
    }

    pub(crate) fn intervals(&self) -> Range<u64> {
        self.0.clone()
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.end - self.0.start
    }
}

impl fmt::Display for Show {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.0.start, self.0.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_read() {
        for (text, range) in [("0..1", 0..1), (" 20 .. 220 ", 20..220), ("999..1000", 999..1000)] {
            assert_eq!(text.parse::<Show>().unwrap().intervals(), range);
        }
        assert_eq!(Show::usual(60).intervals(), 0..60);
        assert_eq!(Show::usual(61).to_string(), "0..60");
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        for (text, expected) in [
            ("", "must be FROM..TO in whole numbers of intervals (such as 0..60)"),
            ("5", "must be FROM..TO"),
            ("5-9", "must be FROM..TO"),
            ("..9", "must be FROM..TO"),
            ("5..", "must be FROM..TO"),
            ("-5..9", "must be FROM..TO"),
            ("1.5..9", "must be FROM..TO"),
            ("0..=9", "must be FROM..TO"),
            ("9..5", "9..5 must rise"),
            ("5..5", "5..5 must rise"),
            ("0..201", "are 201 intervals, must be at most 200 to be drawn"),
        ] {
            let message = text.parse::<Show>().unwrap_err().to_string();
            assert!(message.starts_with(expected), "{text:?}: {message}");
        }
    }
}
