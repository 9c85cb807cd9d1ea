//! Repeats some executions of a native program (in C or C++) at the end of a search, or of a slice
//! of a divided search, to find memory accesses that no *hook* (a function that the program calls
//! at its accesses) reports.

use super::search::Search;
use explore::{Execution, Schedule};
use report::Limit;

/// The schedules of the executions of the search whose numbers are powers of two.
#[derive(Default)]
pub(super) struct Samples {
    executions: u64,
    schedules: Vec<Schedule>,
    /// Whether other parts of the search have their own samples.
    has_others: bool,
}

impl Samples {
    /// Creates the samples of a part of a search that follows `earlier` executions.
    pub fn of_part(earlier: u64) -> Samples {
        Samples {
            executions: earlier,
            has_others: true,
            ..Samples::default()
        }
    }

    /// Counts an execution that has ended, and samples it if its number is a power of two.
    pub fn take(&mut self, execution: &Execution) {
        self.executions += 1;
        if self.executions.is_power_of_two() {
            self.schedules.push(execution.schedule());
        }
    }

    /// Discards the samples and the count, because the search starts again.
    pub fn restart(&mut self) {
        *self = Samples::default();
    }
}

impl Search {
    /// Compares the accesses that the program reports with those that it makes. The comparison is
    /// skipped if the program has failed or the search was interrupted. After the time limit, only
    /// one execution is compared.
    pub(super) fn audit(&mut self) {
        let most = match self.halt {
            _ if !self.failures.is_empty() => 0,
            Some(Limit::Interrupted) => 0,
            Some(Limit::Time) => 1,
            Some(_) | None => usize::MAX,
        };
        let mut schedules = std::mem::take(&mut self.samples.schedules);
        if schedules.is_empty() && !self.samples.has_others && self.settings.config.native.is_some()
        {
            // The search was complete when it was resumed.
            schedules.push(self.strategy.execution().schedule());
        }
        for schedule in schedules.iter().take(most) {
            self.model.audit(schedule);
        }
    }
}
