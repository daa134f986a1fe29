//! What a group is called and how it is paced.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use n_and_i_core::{Rebalance, Timing, TimingError};

use crate::layout::{Layout, interval_millis};

/// The group that a worker joins and the group's pace, checked. Cheap to clone.
///
/// ```
/// use std::time::Duration;
/// use n_and_i::Config;
///
/// let config = Config::new("mail-sender", Duration::from_secs(30))?
///     .with_gap(0.2)?
///     .with_prefix("prod:")?;
/// assert_eq!(config.tag(), "prod:{mail-sender}:");
///
/// let error = Config::new("mail{sender", Duration::from_secs(30)).unwrap_err();
/// assert_eq!(error.to_string(), r#"name is "mail{sender", must not contain "{" or "}""#);
/// # Ok::<(), n_and_i::ConfigError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Config {
    tag: Arc<str>,
    prefix_length: usize,
    timing: Timing,
    rebalance: Rebalance,
    layout: Layout,
}

impl Config {
    /// The group `name` at this interval, with a gap of 0.15 and no prefix; its workers stand
    /// down while membership changes.
    ///
    /// - `name`: not empty, without `{` and `}`, which would break the Redis hash tag that
    ///   keeps a group's keys together.
    /// - `interval`: `T`, from 1 ms to [`Timing::MAX_INTERVAL`] in whole milliseconds; the same
    ///   for every worker of the group. A change of membership takes two to four intervals,
    ///   and each worker makes one registration per interval. `gap · interval` should be
    ///   well above the slowest usual round trip to the registry.
    ///
    /// # Errors
    /// Names the field, the value and what would be right.
    pub fn new(name: impl AsRef<str>, interval: Duration) -> Result<Self, ConfigError> {
        let name = name.as_ref();
        if name.is_empty() {
            return Err(ConfigError::EmptyName);
        }
        if name.contains(['{', '}']) {
            return Err(ConfigError::NameWithBraces { name: name.to_owned() });
        }
        Ok(Self {
            tag: format!("{{{name}}}:").into(),
            prefix_length: 0,
            timing: Timing::new(interval, Timing::DEFAULT_GAP)?,
            rebalance: Rebalance::default(),
            layout: Layout::default(),
        })
    }

    /// Sets the gap: timing slack as a fraction of the interval, `0 < gap < 0.5`, kept to the
    /// nearest millionth.
    ///
    /// Registrations keep this distance from the interval's edges, so it bounds the delays and
    /// the clock rate differences that a group takes without losing leases. One registration that
    /// certainly did not run costs nothing if the gap is above 0.125. Workers of a group may
    /// use different gaps.
    ///
    /// # Errors
    /// Names the value and what would be right.
    pub fn with_gap(mut self, gap: f64) -> Result<Self, ConfigError> {
        self.timing = Timing::new(self.timing.interval(), gap)?;
        Ok(self)
    }

    /// Sets what every key of the group begins with, such as `prod:`. Without `{` and `}`.
    ///
    /// # Errors
    /// Names the value and what would be right.
    pub fn with_prefix(mut self, prefix: impl AsRef<str>) -> Result<Self, ConfigError> {
        let prefix = prefix.as_ref();
        if prefix.contains(['{', '}']) {
            return Err(ConfigError::PrefixWithBraces { prefix: prefix.to_owned() });
        }
        self.tag = format!("{prefix}{{{}}}:", self.name()).into();
        self.prefix_length = prefix.len();
        Ok(self)
    }

    /// Sets what the worker does while the group's membership changes: stand down, the default,
    /// or keep serving what it owns before and after. Workers of a group may differ in this.
    #[must_use]
    pub fn with_rebalance(mut self, rebalance: Rebalance) -> Self {
        self.rebalance = rebalance;
        self
    }

    /// Sets how the group is kept in the registry: as counters, the default, or as slots. The same
    /// for every worker of the group; who has another is refused.
    #[must_use]
    pub fn with_layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// The group's name.
    pub fn name(&self) -> &str {
        &self.tag[self.prefix_length + 1..self.tag.len() - 2]
    }

    /// What every key begins with, before the group's name.
    pub fn prefix(&self) -> &str {
        &self.tag[..self.prefix_length]
    }

    /// What every key of the group begins with: `<prefix>{<name>}:`.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// The interval length `T`.
    pub fn interval(&self) -> Duration {
        self.timing.interval()
    }

    /// The gap, a fraction of the interval.
    pub fn gap(&self) -> f64 {
        self.timing.gap()
    }

    /// What the worker does while the group's membership changes.
    pub fn rebalance(&self) -> Rebalance {
        self.rebalance
    }

    /// How the group is kept in the registry.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    pub(crate) fn interval_millis(&self) -> u64 {
        interval_millis(self.timing)
    }

    /// Interval and gap together, as the core takes them.
    pub fn timing(&self) -> Timing {
        self.timing
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("name", &self.name())
            .field("interval", &self.interval())
            .field("gap", &self.gap())
            .field("prefix", &self.prefix())
            .field("rebalance", &self.rebalance())
            .field("layout", &self.layout())
            .finish()
    }
}

/// Why a configuration was refused. Nothing was created.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The name is empty.
    #[error("name is empty, must have at least one character")]
    EmptyName,
    /// The name contains a brace.
    #[error("name is {name:?}, must not contain \"{{\" or \"}}\"")]
    NameWithBraces {
        /// The name that was asked for.
        name: String,
    },
    /// The prefix contains a brace.
    #[error("prefix is {prefix:?}, must not contain \"{{\" or \"}}\"")]
    PrefixWithBraces {
        /// The prefix that was asked for.
        prefix: String,
    },
    /// The interval or the gap is out of range.
    #[error(transparent)]
    Timing(#[from] TimingError),
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn parts_come_back_as_they_went_in() {
        let config = Config::new("grüße", SECOND).unwrap().with_prefix("a:b:").unwrap();
        assert_eq!((config.name(), config.prefix()), ("grüße", "a:b:"));
        assert_eq!(config.tag(), "a:b:{grüße}:");
        let config = config.with_prefix("").unwrap().with_gap(0.25).unwrap();
        assert_eq!((config.tag(), config.gap()), ("{grüße}:", 0.25));
        assert_eq!(config.interval(), SECOND);
        assert!(format!("{config:?}").contains("grüße"));
    }

    #[test]
    fn bad_parts_are_refused_by_name() {
        let good = || Config::new("a", SECOND).unwrap();
        let cases: [(Result<Config, ConfigError>, &str); 9] = [
            (Config::new("", SECOND), "name is empty"),
            (Config::new("a{b", SECOND), "name is \"a{b\""),
            (Config::new("}", SECOND), "name is \"}\""),
            (good().with_prefix("a{"), "prefix is \"a{\""),
            (good().with_prefix("}"), "prefix is \"}\""),
            (Config::new("a", Duration::ZERO), "interval is 0ns, must be from 1ms"),
            (good().with_gap(0.0), "gap is 0, must be greater than 0 and less than 0.5"),
            (good().with_gap(0.5), "gap is 0.5, must be"),
            (good().with_gap(f64::NAN), "gap is NaN, must be"),
        ];
        for (result, message) in cases {
            let error = result.expect_err(message).to_string();
            assert!(error.starts_with(message), "{error}");
        }
        assert!(good().with_gap(-0.1).is_err());
    }
}
