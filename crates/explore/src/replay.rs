//! Replay of earlier executions, with detection of divergence.

use crate::execution::{Execution, Performed, Request, Schedule, Step, ThreadId};
use crate::program::{Divergence, Outcome, Pending, planned};
use crate::search::Enabled;
use crate::strategy::{Decision, Ending, Strategy};

/// Runs one schedule. After the end of the schedule, runs the thread that ran last while that
/// thread is enabled, then the first enabled thread, until no thread is enabled.
#[derive(Debug)]
pub struct Replay {
    schedule: Schedule,
    execution: Execution,
    request: Request,
    step: Step,
    has_begun: bool,
}

impl Replay {
    /// Returns a strategy that runs this schedule once.
    pub fn new(schedule: Schedule) -> Replay {
        Replay {
            schedule,
            execution: Execution::default(),
            request: Request::UNKNOWN,
            step: Step::of(ThreadId::MAIN),
            has_begun: false,
        }
    }
}

impl Strategy for Replay {
    fn backtrack(&mut self) -> bool {
        !std::mem::replace(&mut self.has_begun, true)
    }

    fn extend(&mut self, pending: &[Pending]) -> Result<Decision, Divergence> {
        let at = self.execution.len();
        let enabled = Enabled::new(pending, self.execution.last_thread());
        let next = self.schedule.get(at).copied();
        let Some(step) = next.or_else(|| enabled.first().map(|(first, _)| Step::of(first))) else {
            return Ok(Decision::Stop(Ending::Maximal));
        };
        self.request = *planned(at, step, pending)?;
        self.step = step;
        Ok(Decision::Run(step))
    }

    fn performed(&mut self, performed: &Performed<'_>) {
        self.execution.push(self.step, &self.request, performed);
    }

    fn analyse(&mut self, _outcome: Outcome) {}

    fn execution(&self) -> &Execution {
        &self.execution
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.schedule).expect("a schedule consists of serializable data")
    }
}
