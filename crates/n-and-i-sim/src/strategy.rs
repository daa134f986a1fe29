//! Faults for property tests.

use proptest::prelude::*;

use crate::faults::{Fault, Faults};

/// How many kinds of fault a case has at most.
const MOST_KINDS: usize = 6;
/// How much more often than usual they happen at most.
const MOST_OFTEN: f64 = 8.0;

/// Any mix of up to six kinds of fault, from never to eight times as often as
/// [usual](Fault::usual_rate), with equal or different gaps. Shrinks to few and rare faults.
///
/// [`Fault::OtherInterval`] is left out, as it is from [`Faults::all`].
///
/// ```
/// use n_and_i_sim::{Scenario, Violation, any_faults};
/// use proptest::prelude::*;
///
/// proptest! {
///     # #![proptest_config(ProptestConfig::with_cases(8))]
///     # fn promise(
///     #     faults in any_faults(), seed: u64,
///     # ) {
///     #     let outcome = Scenario::new(3, faults).with_intervals(100).run(seed);
///     #     let kept = matches!(outcome.violation, None | Some(Violation::NotSettled { .. }));
///     #     prop_assert!(kept, "{outcome:?}");
///     # }
///     # /*
///     #[test]
///     fn my_handover_keeps_its_promise(faults in any_faults(), seed: u64) {
///         let outcome = Scenario::new(3, faults).with_intervals(100).run(seed);
///         prop_assert_eq!(outcome.violation, None);
///     }
///     # */
/// }
/// # promise();
/// ```
pub fn any_faults() -> impl Strategy<Value = Faults> {
    let kinds: Vec<_> =
        Fault::ALL.iter().copied().filter(|fault| *fault != Fault::OtherInterval).collect();
    let chosen = proptest::sample::subsequence(kinds, 0..=MOST_KINDS);
    let rates = proptest::collection::vec(0.0..MOST_OFTEN, MOST_KINDS);
    (chosen, rates, any::<bool>()).prop_map(|(kinds, rates, mixed_gaps)| {
        let mut faults = Faults::none();
        for (fault, often) in kinds.into_iter().zip(rates) {
            faults = faults.with(fault, fault.usual_rate() * often);
        }
        faults.mixed_gaps = mixed_gaps;
        faults
    })
}
