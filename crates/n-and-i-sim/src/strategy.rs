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
/// A [second interval length](Fault::is_of_other_intervals) is left out, as it is from
/// [`Faults::all`].
///
/// ```
/// use std::{cell::RefCell, collections::HashMap, rc::Rc, time::Duration};
/// use n_and_i_sim::{Scenario, any_faults};
/// use proptest::prelude::*;
///
/// proptest! {
/// #   #![proptest_config(ProptestConfig::with_cases(16))]
///     // With #[test] in a test of yours.
///     fn nobody_works_on_a_task_whose_last_owner_may_still(faults in any_faults(), seed: u64) {
///         let owners = Rc::new(RefCell::new(HashMap::new()));
///         let rehearsal = Scenario::new(3, faults).with_intervals(100).rehearse(seed, |mut member| {
///             let owners = Rc::clone(&owners);
///             async move {
///                 while let Some(change) = member.peers.next().await {
///                     let Some(lease) = change.lease().cloned() else { continue };
///                     while lease.is_live() {
///                         for task in (0..9).filter(|task| lease.owns(*task)) {
///                             let last = owners.borrow_mut().insert(task, (member.place, lease.clone()));
///                             let Some((place, last)) = last else { continue };
///                             assert!(place == member.place || !last.is_live(), "task {task}");
///                         }
///                         member.time.sleep(Duration::from_millis(200)).await;
///                     }
///                 }
///             }
///         });
///         prop_assert_eq!(rehearsal.violation, None, "{}", rehearsal.trace);
///     }
/// }
/// # nobody_works_on_a_task_whose_last_owner_may_still();
/// ```
pub fn any_faults() -> impl Strategy<Value = Faults> {
    let kinds: Vec<_> =
        Fault::ALL.iter().copied().filter(|fault| !fault.is_of_other_intervals()).collect();
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
