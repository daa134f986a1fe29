//! Membership that changes by plan.

use super::worker::{Leaving, Worker};
use super::{Event, World};
use crate::nanos::{from_f64, to_f64};
use crate::plan::Planned;
use crate::process::Program;

impl<P: Program> World<P> {
    /// Plans the next change, if there is a plan: one in each stretch of the length that lies
    /// between two, at a random moment of its first interval.
    pub(super) fn plan_change(&mut self) {
        let Some(schedule) = self.scenario.schedule else { return };
        let stretches = to_f64(self.changes) * schedule.every;
        let moment = self.random.unit() * schedule.every.min(1.0);
        let after = from_f64((stretches + moment) * to_f64(self.interval()));
        let time = self.first_peace().saturating_add(after);
        self.at(time, Event::Planned);
    }

    /// The change that is planned for this moment.
    pub(super) fn change_membership(&mut self) {
        let Some(schedule) = self.scenario.schedule else { return };
        let change = schedule.change(self.changes);
        self.changes += 1;
        self.account.changes(self.now, change);
        match change {
            Planned::Restart => {
                if let Some(number) = self.longest_there() {
                    self.leave_for_good(number);
                    self.join();
                }
            }
            Planned::Join => self.join(),
            Planned::Leave => {
                if let Some(number) = self.any() {
                    self.leave_for_good(number);
                }
            }
        }
    }

    fn leave_for_good(&mut self, number: usize) {
        self.leave(number, self.workers[number].life, Leaving::ForGood);
    }

    /// One more worker starts, at a free place.
    fn join(&mut self) {
        let free = self.workers.iter().position(Worker::is_free);
        self.start(free.unwrap_or(self.workers.len()));
    }

    fn longest_there(&self) -> Option<usize> {
        self.leavers().min_by_key(|&number| self.workers[number].started)
    }

    fn any(&mut self) -> Option<usize> {
        let count = self.leavers().count();
        let chosen = (count > 0).then(|| self.random.index(count))?;
        self.leavers().nth(chosen)
    }

    /// Who can be asked to stop.
    fn leavers(&self) -> impl Iterator<Item = usize> {
        let now = self.now;
        let workers = self.workers.iter().enumerate();
        workers.filter_map(move |(number, worker)| worker.can_leave(now).then_some(number))
    }
}
