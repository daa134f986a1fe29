//! A fault, and what is expected of whoever meets it.

use std::time::Duration;

use n_and_i::{Config, Layout};

use crate::subject::{Client, Subject};

/// A fault.
#[derive(Debug)]
pub struct Row<S> {
    /// What it is called, in the table and in the names of tests.
    pub name: &'static str,
    /// What is done to the server.
    pub fault: &'static str,
    /// Starts a server.
    pub set_up: fn() -> S,
    /// Breaks it.
    pub break_it: fn(&mut S),
    /// Repairs it.
    pub repair: fn(&mut S),
    /// Whether the clients are made only once it is broken.
    pub made_while_broken: bool,
    /// The interval of the group of workers.
    pub interval: Duration,
    /// The gap of that group, if it is not the usual one.
    pub gap: Option<f64>,
    /// How many intervals it stays broken, at least.
    pub lasts: u32,
    /// How many calls are made while it is broken, all at once.
    pub calls: u32,
    /// Whether the calls tell the server when they will be given up.
    pub limited: bool,
    /// The norm.
    pub expected: Expected,
    /// What is expected of groups with slots, if that is more.
    pub with_slots: Option<(Expected, &'static str)>,
    /// Where the norm is not met.
    pub deviations: Vec<Deviation>,
}

/// What is expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Expected {
    /// What becomes of the first call that is made while the server is broken, and how many registrations all
    /// calls together come to by the server's own count. Any of these.
    pub outcomes: &'static [(Class, u32)],
    /// What becomes of the leases of a settled group.
    pub leases: Leases,
    /// When the group owns everything again, after the repair.
    pub back: Back,
}

/// What a call came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// It was counted, and the worker knows.
    Succeeds,
    /// An error that says that it was not counted.
    NotExecuted,
    /// An error that says that it may have been counted.
    Unknown,
    /// An error that says that somebody must change something, and that it was not counted.
    Configuration,
    /// No answer within the interval.
    GivenUp,
}

/// What becomes of leases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leases {
    /// Nobody loses one.
    Kept,
    /// Some may end.
    MayEnd,
    /// All end.
    End,
}

/// When everything is owned again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Back {
    /// Within this many intervals.
    Within(u64),
    /// Not without help.
    Never,
}

/// Clients that do otherwise.
#[derive(Debug)]
pub struct Deviation {
    /// Which.
    pub clients: &'static [Client],
    /// What they do instead.
    pub expected: Expected,
    /// Why.
    pub reason: &'static str,
}

/// The interval of groups, unless a row says otherwise.
const INTERVAL: Duration = Duration::from_millis(250);

/// How many intervals faults last at least, unless a row says otherwise.
pub const USUAL: u32 = 6;

impl<S> Row<S> {
    /// A fault that clients meet after they were used before, with one call.
    pub fn new(
        name: &'static str,
        fault: &'static str,
        set_up: fn() -> S,
        break_it: fn(&mut S),
        repair: fn(&mut S),
        expected: Expected,
    ) -> Self {
        Self {
            name,
            fault,
            set_up,
            break_it,
            repair,
            made_while_broken: false,
            interval: INTERVAL,
            gap: None,
            lasts: USUAL,
            calls: 1,
            limited: true,
            expected,
            with_slots: None,
            deviations: Vec::new(),
        }
    }

    /// With more calls.
    #[must_use]
    pub fn calls(self, calls: u32) -> Self {
        Self { calls, ..self }
    }

    /// With calls that do not tell when they will be given up, as of a worker that does not know the server's
    /// time yet.
    #[must_use]
    pub fn unlimited(self) -> Self {
        Self { limited: false, ..self }
    }

    /// With a group of another interval.
    #[must_use]
    pub fn interval(self, interval: Duration) -> Self {
        Self { interval, ..self }
    }

    /// With a group of another gap.
    #[must_use]
    pub fn gap(self, gap: f64) -> Self {
        Self { gap: Some(gap), ..self }
    }

    /// With more to be expected of groups with slots, whatever the client.
    #[must_use]
    pub fn with_slots(self, expected: Expected, reason: &'static str) -> Self {
        Self { with_slots: Some((expected, reason)), ..self }
    }

    /// With a fault that lasts for more intervals.
    #[must_use]
    pub fn lasts(self, lasts: u32) -> Self {
        Self { lasts, ..self }
    }

    /// With clients that never saw the server whole.
    #[must_use]
    pub fn made_while_broken(self) -> Self {
        Self { made_while_broken: true, ..self }
    }

    /// With clients that do otherwise.
    #[must_use]
    pub fn but(
        mut self,
        clients: &'static [Client],
        expected: Expected,
        reason: &'static str,
    ) -> Self {
        self.deviations.push(Deviation { clients, expected, reason });
        self
    }

    /// The group of workers.
    ///
    /// # Panics
    /// If the gap cannot be one.
    pub fn group(&self, subject: &Subject) -> Config {
        let config = Config::new("workers", self.interval).expect("a good name");
        let gap = self.gap.unwrap_or_else(|| config.gap());
        config.with_gap(gap).expect("a gap").with_layout(subject.layout)
    }

    /// What is expected of this subject, and why if that is not the norm.
    pub fn expected_of(&self, subject: &Subject) -> (Expected, Option<&'static str>) {
        if let Some((expected, reason)) =
            self.with_slots.filter(|_| subject.layout == Layout::Slots)
        {
            return (expected, Some(reason));
        }
        let of = |deviation: &&Deviation| deviation.clients.contains(&subject.client);
        match self.deviations.iter().find(of) {
            Some(deviation) => (deviation.expected, Some(deviation.reason)),
            None => (self.expected, None),
        }
    }
}

impl Expected {
    /// What is expected, the same as usual but for the first call.
    #[must_use]
    pub const fn outcomes(self, outcomes: &'static [(Class, u32)]) -> Self {
        Self { outcomes, ..self }
    }

    /// The same but for the leases.
    #[must_use]
    pub const fn leases(self, leases: Leases) -> Self {
        Self { leases, ..self }
    }

    /// The same but for the time.
    #[must_use]
    pub const fn back(self, back: Back) -> Self {
        Self { back, ..self }
    }
}
