//! What goes wrong and how the group is made up, as arguments.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use n_and_i_sim::{Fault, Faults, UnknownFault};

/// `none`, `all` or names of faults joined by commas, each at its usual rate or with one of its
/// own as in `crash=0.1`. After `all`, and after the same name, what comes later counts.
///
/// How the group is made up has options of its own: see [`Faulty::options`].
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Faulty(Faults);

/// Why a list of faults cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum FaultyError {
    /// A name in the list is not that of a fault.
    Unknown(UnknownFault),
    /// `none` and something else.
    NotAlone,
    /// `all` after something else, which it would override.
    NotFirst,
    /// `all` or `none` with a rate.
    Word(&'static str),
    /// The rate is out of range, or no number.
    Rate { fault: Fault, rate: String },
}

impl fmt::Display for FaultyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(error) => write!(f, "{error}; or all, or none"),
            Self::NotAlone => f.write_str("none must stand alone"),
            Self::NotFirst => f.write_str("all must come first (such as all,crash=0.1)"),
            Self::Word(word) => write!(f, "{word} takes no rate, only single faults do"),
            Self::Rate { fault, rate } => {
                let (most, unit) = (*rates(*fault).end(), unit(*fault));
                write!(f, "the rate of {fault} is {rate:?}, must be from 0 to {most} ({unit})")
            }
        }
    }
}

impl std::error::Error for FaultyError {}

/// The rates that a fault may have.
pub(crate) fn rates(fault: Fault) -> RangeInclusive<f64> {
    if fault.is_of_messages() { 0.0..=1.0 } else { 0.0..=100.0 }
}

/// What its rate counts.
pub(crate) fn unit(fault: Fault) -> &'static str {
    if fault.is_of_messages() {
        "the probability per message"
    } else {
        "how many are expected per interval of a storm"
    }
}

impl Faulty {
    pub(crate) fn faults(&self) -> &Faults {
        &self.0
    }

    /// The same faults in a group that is made up like this. Without a rate of the clocks it is
    /// the one that belongs to the faults.
    pub(crate) fn in_group(self, clock_rate: Option<f64>, mixed_gaps: bool, foreign: u32) -> Self {
        let Self(mut faults) = self;
        faults.clock_rate = clock_rate.unwrap_or(faults.clock_rate);
        (faults.mixed_gaps, faults.foreign) = (mixed_gaps, foreign);
        Self(faults)
    }

    /// The options besides the faults that are not as usual, without their dashes.
    pub(crate) fn options(&self) -> Vec<String> {
        let Faults { clock_rate, mixed_gaps, foreign, .. } = self.0;
        let usual = self.list().0.clock_rate;
        [
            ((clock_rate - usual).abs() > 0.0).then(|| format!("clock-rate {clock_rate}")),
            mixed_gaps.then(|| "mixed-gaps".to_owned()),
            (foreign > 0).then(|| format!("foreign {foreign}")),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// What the list begins with, and its elements: only those that differ.
    fn list(&self) -> (Faults, Vec<String>) {
        let from = |start: Faults, word: Option<&str>| {
            let changed = |fault: &Fault| (start.rate(*fault) - self.0.rate(*fault)).abs() > 0.0;
            let changed = Fault::ALL.iter().copied().filter(changed);
            let elements = changed.map(|fault| element(fault, self.0.rate(fault)));
            let list: Vec<_> = word.map(str::to_owned).into_iter().chain(elements).collect();
            (start, list)
        };
        let (listed, all) = (from(Faults::none(), None), from(Faults::all(), Some("all")));
        if listed.1.len() <= all.1.len() { listed } else { all }
    }
}

impl From<Faults> for Faulty {
    fn from(faults: Faults) -> Self {
        Self(faults)
    }
}

fn element(fault: Fault, rate: f64) -> String {
    let usual = (rate - fault.usual_rate()).abs() == 0.0;
    if usual { fault.to_string() } else { format!("{fault}={rate}") }
}

impl FromStr for Faulty {
    type Err = FaultyError;

    fn from_str(text: &str) -> Result<Self, FaultyError> {
        let mut faults = Faults::none();
        let elements: Vec<_> = text.split(',').map(str::trim).collect();
        for (place, element) in elements.iter().enumerate() {
            let (name, rate) = match element.split_once('=') {
                Some((name, rate)) => (name.trim_end(), Some(rate.trim_start())),
                None => (*element, None),
            };
            match (name, rate) {
                ("none", None) if elements.len() == 1 => {}
                ("none", None) => return Err(FaultyError::NotAlone),
                ("none", Some(_)) => return Err(FaultyError::Word("none")),
                ("all", None) if place == 0 => faults = Faults::all(),
                ("all", None) => return Err(FaultyError::NotFirst),
                ("all", Some(_)) => return Err(FaultyError::Word("all")),
                (name, rate) => {
                    let fault: Fault = name.parse().map_err(FaultyError::Unknown)?;
                    faults = faults.with(fault, read(fault, rate)?);
                }
            }
        }
        Ok(Self(faults))
    }
}

fn read(fault: Fault, rate: Option<&str>) -> Result<f64, FaultyError> {
    let Some(text) = rate else { return Ok(fault.usual_rate()) };
    let rate = text.parse().ok().filter(|rate| rates(fault).contains(rate));
    rate.ok_or_else(|| FaultyError::Rate { fault, rate: text.to_owned() })
}

/// The list, which says nothing of the group.
impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = self.list().1;
        f.write_str(if list.is_empty() { "none".into() } else { list.join(",") }.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_lists_are_read_and_written() {
        for (text, faults) in [
            ("none", Faults::none()),
            ("all", Faults::all()),
            ("crash", Faults::only(Fault::Crash)),
            ("crash,flush", Faults::only(Fault::Crash).with(Fault::Flush, 0.02)),
            ("crash=0.1", Faults::none().with(Fault::Crash, 0.1)),
            ("lost-reply,crash=0.1", Faults::only(Fault::LostReply).with(Fault::Crash, 0.1)),
            ("lost-reply=1,crash=100", {
                Faults::none().with(Fault::LostReply, 1.0).with(Fault::Crash, 100.0)
            }),
            ("crash=0.000001", Faults::none().with(Fault::Crash, 1e-6)),
            ("all,crash=0.1", Faults::all().with(Fault::Crash, 0.1)),
            ("all,flush=0", Faults::all().with(Fault::Flush, 0.0)),
            ("all,other-interval", Faults::all().with(Fault::OtherInterval, 0.02)),
        ] {
            let faulty: Faulty = text.parse().unwrap();
            assert_eq!(faulty.faults(), &faults);
            assert_eq!(faulty.to_string(), text);
            assert_eq!(faulty.options(), [""; 0]);
        }
    }

    #[test]
    fn a_list_is_written_in_its_shortest_form() {
        for (loose, text) in [
            (" flush, crash,crash ", "crash,flush"),
            ("crash=0.1,crash=0.3", "crash=0.3"),
            ("crash = 0.1 , flush = 2e-2", "crash=0.1,flush"),
            ("crash=0", "none"),
            ("crash,flush=-0", "crash"),
            ("all,crash=0.03,other-interval=0", "all"),
        ] {
            let faulty: Faulty = loose.parse().unwrap();
            assert_eq!(faulty.to_string(), text);
        }
    }

    #[test]
    fn options_tell_what_the_list_does_not() {
        for (list, clock_rate, mixed_gaps, foreign, options) in [
            ("all", Some(0.001), false, 0, &[][..]),
            ("all", Some(0.0), false, 0, &["clock-rate 0"]),
            ("none", None, true, 0, &["mixed-gaps"]),
            ("crash", Some(0.01), true, 3, &["clock-rate 0.01", "mixed-gaps", "foreign 3"]),
        ] {
            let faulty = list.parse::<Faulty>().unwrap();
            let faulty = faulty.in_group(clock_rate, mixed_gaps, foreign);
            assert_eq!(faulty.to_string(), list);
            assert_eq!(faulty.options(), options);
        }
    }

    #[test]
    fn clocks_stay_as_they_were_when_most_of_all_is_switched_off() {
        let off = Fault::ALL.iter().filter(|fault| **fault != Fault::Crash);
        let off = off.map(|fault| format!("{fault}=0"));
        let list: Vec<_> = std::iter::once("all".to_owned()).chain(off).collect();
        let faulty: Faulty = list.join(",").parse().unwrap();
        assert_eq!(faulty.to_string(), "crash");
        assert_eq!(faulty.options(), ["clock-rate 0.001"]);
        let again: Faulty = "crash".parse().unwrap();
        assert_eq!(again.in_group(Some(0.001), false, 0), faulty);
    }

    #[test]
    fn what_is_no_fault_is_refused_with_all_that_are() {
        for (text, wrong) in [
            ("", ""),
            ("crash,", ""),
            ("crash,,flush", ""),
            ("=1", ""),
            ("Crash", "Crash"),
            ("crash:0.1", "crash:0.1"),
            ("crash flush", "crash flush"),
        ] {
            let message = text.parse::<Faulty>().unwrap_err().to_string();
            assert!(message.starts_with(&format!("no fault is called {wrong:?}")), "{message}");
            assert!(Fault::ALL.iter().all(|fault| message.contains(fault.name())), "{message}");
        }
    }

    #[test]
    fn rates_and_words_that_make_no_sense_are_refused() {
        let per_interval = "must be from 0 to 100 (how many are expected per interval of a storm)";
        for (text, expected) in [
            ("crash=", format!("the rate of crash is \"\", {per_interval}")),
            ("crash=often", format!("the rate of crash is \"often\", {per_interval}")),
            ("crash=-0.1", format!("the rate of crash is \"-0.1\", {per_interval}")),
            ("crash=100.1", format!("the rate of crash is \"100.1\", {per_interval}")),
            ("flush,crash=NaN", format!("the rate of crash is \"NaN\", {per_interval}")),
            ("crash=inf", format!("the rate of crash is \"inf\", {per_interval}")),
            ("crash=0.1=0.2", format!("the rate of crash is \"0.1=0.2\", {per_interval}")),
            (
                "lost-reply=1.5",
                "the rate of lost-reply is \"1.5\", must be from 0 to 1 (the probability \
                 per message)"
                    .to_owned(),
            ),
            ("none,crash", "none must stand alone".to_owned()),
            ("crash,none", "none must stand alone".to_owned()),
            ("crash,all", "all must come first (such as all,crash=0.1)".to_owned()),
            ("all,all", "all must come first (such as all,crash=0.1)".to_owned()),
            ("all=2", "all takes no rate, only single faults do".to_owned()),
            ("none=0", "none takes no rate, only single faults do".to_owned()),
        ] {
            assert_eq!(text.parse::<Faulty>().unwrap_err().to_string(), expected);
        }
    }
}
