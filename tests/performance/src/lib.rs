//! What the benchmarks share. They are in `benches`, one for each part of `docs/performance.md`.

/// The middle of some measurements, the higher of two.
///
/// # Panics
/// If there are none.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_middle_one() {
        assert!((median([3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median([4.0, 1.0, 3.0, 2.0]) - 3.0).abs() < f64::EPSILON);
    }
}
