//! What lives at a worker's place: a bare machine, or whatever else registers.

use n_and_i_core::{AttemptId, Failure, Instant, Lease, Machine, Output, Rebalance, Reply, Timing};

use crate::clock::WorkerClock;

/// One worker, as the world sees it.
pub(crate) trait Process {
    /// What it owns is known to the world.
    const IS_OBSERVED: bool;

    fn answer(&mut self, now: Instant, attempt: AttemptId, result: Result<Reply, Failure>);

    /// Handles what is due at `now`.
    fn run(&mut self, now: Instant);

    /// Asks it to stop.
    fn stop(&mut self, now: Instant);

    fn poll_output(&mut self) -> Option<Output>;

    /// When it wants to run next.
    fn deadline(&self) -> Option<Instant>;

    fn lease(&self) -> Option<Lease>;

    /// What it wants written down, unless it is observed.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Whether its code panicked.
    fn has_panicked(&self) -> bool {
        false
    }

    /// Whether it has to tell that it left; true once.
    fn takes_leave(&mut self) -> bool;

    /// Whether it has come to its end.
    fn is_done(&self) -> bool;
}

/// Starts processes.
pub(crate) trait Program {
    type Process: Process;

    fn start(
        &mut self,
        number: usize,
        timing: Timing,
        rebalance: Rebalance,
        clock: WorkerClock,
        now: u64,
    ) -> Self::Process;

    /// True time has come to this.
    fn at(&mut self, _now: u64) {}
}

/// Workers that are machines and nothing else.
#[derive(Debug)]
pub(crate) struct Machines;

impl Program for Machines {
    type Process = Machine;

    fn start(
        &mut self,
        _: usize,
        timing: Timing,
        rebalance: Rebalance,
        clock: WorkerClock,
        now: u64,
    ) -> Machine {
        Machine::new(timing, clock.at(now)).with_rebalance(rebalance)
    }
}

impl Process for Machine {
    const IS_OBSERVED: bool = true;

    fn answer(&mut self, now: Instant, attempt: AttemptId, result: Result<Reply, Failure>) {
        // Refused if it was given up meanwhile.
        let _ = match result {
            Ok(reply) => self.handle_reply(now, attempt, reply),
            Err(failure) => self.handle_failure(now, attempt, failure),
        };
    }

    fn run(&mut self, now: Instant) {
        self.handle_timeout(now);
    }

    fn stop(&mut self, now: Instant) {
        self.handle_stop(now);
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.poll_output()
    }

    fn deadline(&self) -> Option<Instant> {
        self.poll_timeout()
    }

    fn lease(&self) -> Option<Lease> {
        self.lease()
    }

    fn takes_leave(&mut self) -> bool {
        // The end of it follows.
        self.is_stopped()
    }

    fn is_done(&self) -> bool {
        self.is_stopped()
    }
}
