//! Some executions are run once more at the end of a search or of a slice, to find what no hook reports.

use super::search::Search;
use explore::{Execution, Schedule};
use report::Limit;

/// The schedules of some executions of the search: of the first ones, and then of each whose number is a power of two.
#[derive(Default)]
pub(super) struct Samples {
    executions: u64,
    schedules: Vec<Schedule>,
    /// Other parts of the search have samples of their own.
    has_others: bool,
}

impl Samples {
    /// Of a part of a search that comes behind so many executions.
    pub fn of_part(earlier: u64) -> Samples {
        Samples {
            executions: earlier,
            has_others: true,
            ..Samples::default()
        }
    }

    /// An execution has ended.
    pub fn take(&mut self, execution: &Execution) {
        self.executions += 1;
        if self.executions.is_power_of_two() {
            self.schedules.push(execution.schedule());
        }
    }

    /// The search starts again.
    pub fn begin_anew(&mut self) {
        *self = Samples::default();
    }
}

impl Search {
    /// Compares the accesses that the program reports with those that it makes. Programs that have failed are not audited, nor are
    /// searches that must stop at once.
    pub(super) fn audit(&mut self) {
        let most = match self.halt {
            _ if !self.failures.is_empty() => 0,
            Some(Limit::Interrupted) => 0,
            Some(Limit::Time) => 1,
            Some(_) | None => usize::MAX,
        };
        let mut schedules = std::mem::take(&mut self.samples.schedules);
        if schedules.is_empty() && !self.samples.has_others && self.settings.native.is_some() {
            // The search was done when it was resumed.
            schedules.push(self.strategy.execution().schedule());
        }
        for schedule in schedules.iter().take(most) {
            self.model.audit(schedule);
        }
    }
}
