//! What one exchange with the registry tells about the server's clock.

use crate::time::{NANOS_PER_MICRO, ServerTime};

/// The server's clock read `at` between these two readings of the local one (nanoseconds).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ServerClock {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) at: ServerTime,
}

impl ServerClock {
    /// The server's time at the local time `then`, estimated low.
    pub(crate) const fn earliest_at(&self, then: u64) -> ServerTime {
        let elapsed = then.saturating_sub(self.received) / NANOS_PER_MICRO;
        ServerTime::from_micros(self.at.as_micros().saturating_add(elapsed))
    }

    /// The server's time at the local time `then`, estimated high.
    pub(crate) const fn latest_at(&self, then: u64) -> ServerTime {
        // `at` was rounded down.
        let elapsed = then.saturating_sub(self.sent).div_ceil(NANOS_PER_MICRO) + 1;
        ServerTime::from_micros(self.at.as_micros().saturating_add(elapsed))
    }

    /// How far the server's clock ran ahead of the local one, in microseconds.
    pub(crate) const fn skew_since(&self, before: &Self) -> i64 {
        let local = self.received.saturating_sub(before.received) / NANOS_PER_MICRO;
        self.advance_since(before) - local.cast_signed()
    }

    /// Rule 9: whether it certainly moved more, or less, than the local clock allows: by more
    /// than `tolerance` nanoseconds outside what both round trips leave open.
    pub(crate) const fn stepped_since(&self, before: &Self, tolerance: u64) -> bool {
        let advance = self.advance_since(before);
        let least = self.sent.saturating_sub(before.received) / NANOS_PER_MICRO;
        let most = self.received.saturating_sub(before.sent).div_ceil(NANOS_PER_MICRO);
        let tolerance = (tolerance / NANOS_PER_MICRO).cast_signed();
        advance > most.cast_signed() + tolerance || advance < least.cast_signed() - tolerance
    }

    /// Both times are at most `ServerTime::MAX`, so the difference fits.
    const fn advance_since(&self, before: &Self) -> i64 {
        self.at.as_micros().cast_signed() - before.at.as_micros().cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: ServerClock =
        ServerClock { sent: 1_000_000, received: 3_000_000, at: ServerTime::from_micros(50_000) };

    fn later(at: u64) -> ServerClock {
        ServerClock { sent: 101_000_000, received: 102_000_000, at: ServerTime::from_micros(at) }
    }

    #[test]
    fn a_step_is_what_round_trips_and_tolerance_do_not_explain() {
        // The local clock allows 98 to 101 ms; the tolerance is 2 ms.
        for (advance, stepped) in [
            (96_000, false),
            (95_999, true),
            (98_000, false),
            (103_000, false),
            (103_001, true),
            (0, true),
        ] {
            assert_eq!(
                later(50_000 + advance).stepped_since(&BEFORE, 2_000_000),
                stepped,
                "{advance}"
            );
        }
        assert!(later(0).stepped_since(&BEFORE, 2_000_000));
    }

    #[test]
    fn estimates_bracket_the_server() {
        assert_eq!(BEFORE.earliest_at(5_000_000).as_micros(), 52_000);
        assert_eq!(BEFORE.latest_at(5_000_000).as_micros(), 54_001);
        assert_eq!(later(150_000).skew_since(&BEFORE), 1_000);
    }
}
