//! Simulated time as a number to calculate with.

#[expect(clippy::cast_precision_loss, reason = "simulated times are far below 2^53")]
pub(crate) fn to_f64(nanos: u64) -> f64 {
    nanos as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "simulated times are positive and far below 2^53"
)]
pub(crate) fn from_f64(nanos: f64) -> u64 {
    nanos as u64
}
