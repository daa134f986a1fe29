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
        if schedule.change(self.changes).is_none() {
            return;
        }
        let stretches = to_f64(self.changes) * schedule.every;
        let moment = self.random.unit() * schedule.every.min(1.0);
        let after = from_f64((stretches + moment) * to_f64(self.interval()));
        let time = self.first_peace().saturating_add(after);
        self.at(time, Event::Planned);
    }

    /// The change that is planned for this moment.
    pub(super) fn change_membership(&mut self) {
        let Some(schedule) = self.scenario.schedule else { return };
        let Some(change) = schedule.change(self.changes) else { return };
        self.changes += 1;
        self.account.changes(self.now, change);
        let place = match change {
            Planned::Restart => self.longest_there(),
            Planned::Join => Some(self.place_to_join()),
            Planned::Leave => self.any(),
            Planned::Crash => self.middle(),
        };
        self.record(|recorder, now| recorder.changed(change, place, now));
        let Some(number) = place else { return };
        match change {
            Planned::Restart => {
                self.leave_for_good(number);
                let place = self.place_to_join();
                self.start(place);
            }
            Planned::Join => self.start(number),
            Planned::Leave => self.leave_for_good(number),
            Planned::Crash => {
                self.workers[number].leaves_a_free_place();
                self.crash(number);
            }
        }
    }

    fn leave_for_good(&mut self, number: usize) {
        self.leave(number, self.workers[number].life, Leaving::ForGood);
    }

    /// Where one more worker starts.
    fn place_to_join(&self) -> usize {
        let free = self.workers.iter().position(Worker::is_free);
        free.unwrap_or(self.workers.len())
    }

    fn longest_there(&self) -> Option<usize> {
        self.leavers().min_by_key(|&number| self.workers[number].started)
    }

    fn any(&mut self) -> Option<usize> {
        let count = self.leavers().count();
        let chosen = (count > 0).then(|| self.random.index(count))?;
        self.leavers().nth(chosen)
    }

    /// Who owns what is in the middle; of those whose share is not known, who is in the middle.
    fn middle(&self) -> Option<usize> {
        let mut owners: Vec<_> = self.claims.live(self.now).collect();
        owners.sort_unstable_by_key(|claim| claim.share.pair().i());
        let owners = owners.iter().map(|claim| claim.worker);
        let mut those: Vec<_> = owners.filter(|&number| !self.workers[number].visits).collect();
        if those.is_empty() {
            those.extend(self.leavers());
        }
        those.get(those.len() / 2).copied()
    }

    /// Who can be asked to stop.
    fn leavers(&self) -> impl Iterator<Item = usize> {
        let now = self.now;
        let workers = self.workers.iter().enumerate();
        workers.filter_map(move |(number, worker)| worker.can_leave(now).then_some(number))
    }
}
