//! The run loop, with the timer of whatever runtime the worker is on.

use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};

use n_and_i::{Finished, Lease, Peers};

/// Runs work that never returns, and stops the worker: the work is dropped when its drain window
/// closes, not before.
///
/// # Panics
/// If it is not so.
pub async fn drops_late_work(peers: Peers) {
    let stop = peers.stop_handle();
    let begun: Mutex<Option<Lease>> = Mutex::default();
    let work = async |lease: Lease| {
        begun.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(lease);
        stop.stop();
        std::future::pending::<Result<(), Infallible>>().await
    };
    assert_eq!(peers.run(work).await, Ok(Finished::Stopped));
    let lease = begun.into_inner().unwrap_or_else(PoisonError::into_inner).expect("work was begun");
    assert!(!lease.is_live() && !lease.may_finish());
}
