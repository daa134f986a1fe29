//! How many worker-intervals are simulated per second on one core: the items of the report.
//!
//! `cargo bench -p n-and-i-sim`

use divan::counter::ItemsCount;
use n_and_i_sim::{Faults, Scenario};

const WORKER_INTERVALS: u64 = 200_000;

fn main() {
    divan::main();
}

/// Simulates as many intervals as make up the same number of worker-intervals.
fn run(bencher: divan::Bencher<'_, '_>, workers: usize, faults: Faults) {
    let intervals = WORKER_INTERVALS / workers as u64;
    let scenario = Scenario::new(workers, faults).with_intervals(intervals);
    let mut seed = 0;
    bencher.counter(ItemsCount::new(WORKER_INTERVALS)).bench_local(|| {
        seed += 1;
        let outcome = scenario.run(seed);
        assert_eq!(outcome.violation, None, "seed {seed}");
        outcome
    });
}

#[divan::bench(args = [1, 3, 10, 100])]
fn calm(bencher: divan::Bencher<'_, '_>, workers: usize) {
    run(bencher, workers, Faults::none());
}

#[divan::bench(args = [3, 10])]
fn all_faults(bencher: divan::Bencher<'_, '_>, workers: usize) {
    run(bencher, workers, Faults::all());
}
