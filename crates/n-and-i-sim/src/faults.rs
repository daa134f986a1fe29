//! What can go wrong, and how often.

use std::fmt;
use std::str::FromStr;

macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $kind:ident $name:literal $usual:literal,)+) => {
        /// One kind of fault.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        pub enum Fault {
            $($(#[doc = $doc])+ $kind,)+
        }

        impl Fault {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind,)+];

            /// Its name in words joined by `-`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }

            /// What happens, in one sentence.
            pub const fn description(self) -> &'static str {
                match self {
                    $(Self::$kind => concat!($($doc),+).trim_ascii(),)+
                }
            }

            /// A rate that leaves a group of ten some time to recover: for a fault of messages
            /// the probability per message, for any other how many are expected per interval.
            pub const fn usual_rate(self) -> f64 {
                match self {
                    $(Self::$kind => $usual,)+
                }
            }
        }
    };
}

faults! {
    /// A message takes long, from a heavy tail up to more than an interval.
    SlowMessage "slow-message" 0.02,
    /// A request is lost before it reaches the server.
    LostRequest "lost-request" 0.01,
    /// A request is executed and its answer lost.
    LostReply "lost-reply" 0.01,
    /// A request is executed twice, the second time some time later.
    Duplicate "duplicate" 0.01,
    /// One worker's requests vanish for a while, of which it learns nothing.
    BlackHole "black-hole" 0.02,
    /// A worker's process stands still for less than a lease.
    ShortStall "short-stall" 0.05,
    /// A worker's process stands still for longer than a lease: suspended or starved.
    LongStall "long-stall" 0.03,
    /// A worker vanishes and a new one takes its place some time later.
    Crash "crash" 0.03,
    /// A worker stops in order and a new one takes its place some time later.
    Leave "leave" 0.02,
    /// One more worker joins; it leaves again some intervals later.
    Join "join" 0.02,
    /// The server refuses registrations for a while, and says so.
    Refusal "refusal" 0.02,
    /// The server stops for a while, then executes what arrived meanwhile.
    ServerStop "server-stop" 0.02,
    /// The server restarts empty.
    RestartEmpty "restart-empty" 0.02,
    /// The server loses its latest writes, up to some intervals' worth.
    Rollback "rollback" 0.02,
    /// The server's clock steps, by 0.1 to 4 intervals, back or forth.
    ClockStep "clock-step" 0.02,
    /// The server's clock steps by less than workers can be sure to notice.
    SmallStep "small-step" 0.05,
    /// Just after a worker registered, the server's clock leaps ahead and one more worker joins;
    /// just before, many may have joined and vanished; after, the requests of the one who registered
    /// or of all who were there may vanish.
    LeapAndJoin "leap-and-join" 0.02,
    /// The open counter is lost.
    LoseOpen "lose-open" 0.05,
    /// The closed counter is lost.
    LoseClosed "lose-closed" 0.05,
    /// The guard is lost.
    LoseGuard "lose-guard" 0.05,
    /// Everything is lost.
    Flush "flush" 0.02,
    /// A worker with another interval length tries to register for a while.
    OtherInterval "other-interval" 0.02,
    /// Everything is lost just after a worker with another interval length was refused.
    LostAfterRefusal "lost-after-refusal" 0.02,
}

impl Fault {
    /// Whether the rate is a probability per message.
    pub const fn is_of_messages(self) -> bool {
        matches!(self, Self::SlowMessage | Self::LostRequest | Self::LostReply | Self::Duplicate)
    }

    /// Whether it brings a second interval length into the group. What the group then promises
    /// holds only as long as no data is lost, or is lost just after a refusal.
    pub const fn is_of_other_intervals(self) -> bool {
        matches!(self, Self::OtherInterval | Self::LostAfterRefusal)
    }

    pub(crate) const fn number(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no fault of this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no fault is called {name:?}: must be one of {}", names())]
pub struct UnknownFault {
    name: String,
}

fn names() -> String {
    let names: Vec<_> = Fault::ALL.iter().map(|fault| fault.name()).collect();
    names.join(", ")
}

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(name: &str) -> Result<Self, UnknownFault> {
        let found = Self::ALL.iter().copied().find(|fault| fault.name() == name);
        found.ok_or_else(|| UnknownFault { name: name.to_owned() })
    }
}

/// How often each kind of fault happens, and how the group is made up.
#[derive(Clone, PartialEq)]
pub struct Faults {
    rates: [f64; Fault::ALL.len()],
    /// How much each worker's clock may run fast or slow: 0.01 is one per cent.
    pub clock_rate: f64,
    /// Whether workers have different gaps, from a fifth of the configured one to three times it.
    pub mixed_gaps: bool,
    /// How many workers know only the counters.
    pub foreign: u32,
}

impl Faults {
    /// Nothing goes wrong.
    pub const fn none() -> Self {
        Self { rates: [0.0; Fault::ALL.len()], clock_rate: 0.0, mixed_gaps: false, foreign: 0 }
    }

    /// Everything goes wrong, each kind at its usual rate, with clocks that run up to one
    /// thousandth fast or slow.
    ///
    /// Everything but a [second interval length](Fault::is_of_other_intervals): when the guard is
    /// lost, which keeps it out, leases of both can overlap.
    pub fn all() -> Self {
        let mut faults = Self::none();
        for &fault in Fault::ALL {
            if !fault.is_of_other_intervals() {
                faults = faults.with(fault, fault.usual_rate());
            }
        }
        faults.clock_rate = 0.001;
        faults
    }

    /// Only this kind, at its usual rate.
    pub fn only(fault: Fault) -> Self {
        Self::none().with(fault, fault.usual_rate())
    }

    /// With this rate: see [`Fault::usual_rate`].
    #[must_use]
    pub fn with(mut self, fault: Fault, rate: f64) -> Self {
        self.rates[fault.number()] = rate.max(0.0);
        self
    }

    /// How often this kind happens: see [`Fault::usual_rate`].
    pub fn rate(&self, fault: Fault) -> f64 {
        self.rates[fault.number()]
    }

    /// The kinds that happen at all.
    pub fn kinds(&self) -> impl Iterator<Item = Fault> {
        Fault::ALL.iter().copied().filter(|fault| self.rate(*fault) > 0.0)
    }
}

impl fmt::Debug for Faults {
    /// Names the kinds that happen at all.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut faults = f.debug_struct("Faults");
        for fault in self.kinds() {
            faults.field(fault.name(), &self.rate(fault));
        }
        faults
            .field("clock_rate", &self.clock_rate)
            .field("mixed_gaps", &self.mixed_gaps)
            .field("foreign", &self.foreign)
            .finish_non_exhaustive()
    }
}
