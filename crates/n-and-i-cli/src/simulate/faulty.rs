//! Which faults happen, as a word or a list.

use std::fmt;
use std::str::FromStr;

use n_and_i_sim::{Fault, Faults, UnknownFault};

/// `none`, `all` or names of faults joined by commas, each at its usual rate.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Faulty(Faults);

impl Faulty {
    pub(crate) fn faults(&self) -> &Faults {
        &self.0
    }
}

/// A name in the list is not that of a fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FaultyError(UnknownFault);

impl fmt::Display for FaultyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; or all or none alone", self.0)
    }
}

impl std::error::Error for FaultyError {}

impl FromStr for Faulty {
    type Err = FaultyError;

    fn from_str(text: &str) -> Result<Self, FaultyError> {
        match text.trim() {
            "none" => Ok(Self(Faults::none())),
            "all" => Ok(Self(Faults::all())),
            list => list.split(',').try_fold(Self(Faults::none()), |faulty, name| {
                let fault: Fault = name.trim().parse().map_err(FaultyError)?;
                Ok(Self(faulty.0.with(fault, fault.usual_rate())))
            }),
        }
    }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == Faults::all() {
            return f.write_str("all");
        }
        let names: Vec<_> = self.0.kinds().map(Fault::name).collect();
        f.write_str(if names.is_empty() { "none".into() } else { names.join(",") }.as_str())
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
        ] {
            let faulty: Faulty = text.parse().unwrap();
            assert_eq!(faulty.faults(), &faults);
            assert_eq!(faulty.to_string(), text);
        }
        let loose: Faulty = " flush, crash,crash ".parse().unwrap();
        assert_eq!(loose.to_string(), "crash,flush");
    }

    #[test]
    fn what_is_no_fault_is_refused_with_all_that_are() {
        for (text, wrong) in [
            ("", ""),
            ("crash,", ""),
            ("crash,,flush", ""),
            ("none,crash", "none"),
            ("crash,all", "all"),
            ("Crash", "Crash"),
            ("crash flush", "crash flush"),
        ] {
            let message = text.parse::<Faulty>().unwrap_err().to_string();
            assert!(message.starts_with(&format!("no fault is called {wrong:?}")), "{message}");
            assert!(Fault::ALL.iter().all(|fault| message.contains(fault.name())), "{message}");
        }
    }
}
