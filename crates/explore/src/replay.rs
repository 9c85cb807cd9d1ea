//! Replay of earlier executions, with detection of divergence.

use crate::execution::{
    Access, Event, EventId, Execution, ObjectId, Op, OpKind, Request, Schedule, Step, ThreadId,
    Token,
};
use crate::program::{Divergence, Found, Interrupt, Outcome, Pending, Performed, Program};
use crate::search::Enabled;
use crate::strategy::{Decision, Ending, Strategy};

/// The placeholder request of a node whose thread's request is not known yet.
pub(crate) const NO_REQUEST: Request = Request {
    op: Op {
        kind: OpKind::Choose,
        access: Access::None,
        object: ObjectId::NONE,
    },
    expects: None,
    alternatives: 1,
    yields: false,
};

/// Returns the request that the thread of a planned step announces. The thread must be enabled.
pub(crate) fn planned(at: usize, step: Step, pending: &[Pending]) -> Result<&Request, Divergence> {
    pending
        .get(step.thread.index())
        .and_then(Pending::enabled)
        .ok_or(Divergence {
            at,
            thread: step.thread,
            expected: None,
            found: Found::NotEnabled,
        })
}

/// Performs the events of an execution again and checks that each does the same as before.
pub(crate) fn repeat<P>(program: &mut P, execution: &Execution) -> Result<(), Interrupt>
where
    P: Program + ?Sized,
{
    for (id, event) in execution.events() {
        let Performed {
            op, before, after, ..
        } = program.step(event.step)?;
        event.must_be(id, op, (before, after))?;
    }
    Ok(())
}

impl Event {
    /// Returns an error if this event, the one at `id`, was repeated by another operation or with
    /// other values before and after.
    pub fn must_be(&self, id: EventId, op: Op, values: (Token, Token)) -> Result<(), Divergence> {
        let found = if self.op != op {
            Found::Op(op)
        } else if (self.before, self.after) != values {
            Found::Value
        } else {
            return Ok(());
        };
        Err(Divergence {
            at: id.index(),
            thread: self.thread(),
            expected: Some(self.op),
            found,
        })
    }
}

/// Runs one schedule. After its end, runs the thread that ran last while it is enabled, otherwise
/// the first enabled thread, until none is left.
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
            request: NO_REQUEST,
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
        postcard::to_allocvec(&self.schedule).expect("a schedule consists of serialisable data")
    }
}
