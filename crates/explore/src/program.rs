//! The interface of a program that can be run repeatedly.

use crate::execution::{
    Event, EventId, Execution, Op, Performed, ReadsFrom, Request, Step, ThreadId, ValueId,
};
use crate::fingerprint::Fingerprint;
use crate::footprint::Footprint;
use serde::{Deserialize, Serialize};

/// A program that can be run repeatedly, one visible operation at a time.
///
/// Contract: after `reset` and the same steps, `pending` is the same. An enabled operation stays
/// enabled, and its object stays the same. Only a write of that object changes the operation's
/// access and its number of alternatives. A waiting operation that becomes enabled stays enabled.
pub trait Program {
    /// Returns to the start. Every thread that exists from the start is at its first operation.
    fn reset(&mut self);

    /// Returns the next operation of each thread, indexed by [`ThreadId`]. The list never shrinks.
    fn pending(&self) -> &[Pending];

    /// Performs the pending operation of an enabled thread, then runs the thread to its next
    /// operation.
    fn step(&mut self, step: Step) -> Result<Performed<'_>, Interrupt>;

    /// Restarts and performs these events again, each of which must have the same effect as before.
    /// A program that can perform known steps faster overrides this. `returns` says that more
    /// executions will begin with these events. The program may save its state after these events
    /// to return faster.
    fn repeat(&mut self, execution: &Execution, _returns: bool) -> Result<(), Interrupt> {
        self.reset();
        for (id, event) in execution.events() {
            let Performed {
                op, before, after, ..
            } = self.step(event.step)?;
            event.must_be(id, op, (before, after))?;
        }
        Ok(())
    }

    /// Returns how the execution ended. The result is meaningful when no thread is enabled. Before
    /// that, it only shows whether the execution has failed.
    fn outcome(&self) -> Outcome;

    /// Returns the full state, or `None` if it is unknown. Equal states have equal futures.
    fn fingerprint(&self) -> Option<Fingerprint> {
        None
    }

    /// Returns the twin that was started right before this thread, if there is one. Twins are
    /// threads that can be exchanged: they run the same code with the same arguments, and no thread
    /// tells them apart ([`Symmetric`](crate::Symmetric)).
    fn twin(&self, _thread: ThreadId) -> Option<ThreadId> {
        None
    }

    /// Returns what the next step of an enabled thread depends on and can change, or `None` if this
    /// is unknown.
    fn footprint(&self, _thread: ThreadId) -> Option<Footprint> {
        None
    }
}

/// The next operation of a thread, or the reason why there is none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pending {
    /// The thread has not started in this execution.
    NotStarted,
    /// The thread can perform this operation.
    Enabled(Request),
    /// The thread is suspended at a wait that is not granted yet.
    Waiting(Request),
    /// The thread is stopped permanently before its next operation.
    Halted(Halt),
    /// The thread has stopped because it exposed a bug.
    Failed,
    /// The thread has run to its end.
    Finished,
}

impl Pending {
    /// Returns the request if the thread can perform it.
    pub fn enabled(&self) -> Option<&Request> {
        match self {
            Pending::Enabled(request) => Some(request),
            Pending::NotStarted
            | Pending::Waiting(_)
            | Pending::Halted(_)
            | Pending::Failed
            | Pending::Finished => None,
        }
    }
}

/// The reason why a thread is stopped permanently.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Halt {
    /// The thread's assumption does not hold.
    Assume,
    /// The thread repeats a spin loop without progress (await rule).
    Await,
    /// The thread reached a bound per thread.
    Bound(Bound),
}

/// A bound on the exploration: it stops a thread or excludes executions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Bound {
    /// Too many preemptions in one execution.
    Preemptions,
    /// Too many operations of one thread.
    Events,
    /// Too many expired timed operations of one thread.
    Timeouts,
    /// Too many rounds of one thread in a loop.
    Unroll,
    /// The program ruled out alternatives to some steps ([`Performed::is_fixed`]).
    Exploration,
    /// Too many plain accesses by one thread. Only accesses that are not events count.
    Accesses,
}

/// How an execution ended. A maximal execution has the first outcome in this order that applies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Outcome {
    /// A thread exposed a bug.
    Failed,
    /// A thread stopped at an assumption or a bound, or a thread that was stopped in a spin loop
    /// would now read a different value.
    Halted,
    /// Threads remain in spin loops, and none of them would ever read a different value.
    Stuck,
    /// A thread is at a wait that no other thread grants.
    Deadlock,
    /// All threads ran to their end.
    Completed,
    /// Every enabled thread is asleep: all continuations are equivalent to executions that were
    /// explored. Never happens with an optimal algorithm.
    Blocked,
}

impl Outcome {
    /// Checks whether the execution ran until no thread was enabled.
    pub fn is_maximal(self) -> bool {
        self != Outcome::Blocked
    }

    /// Checks whether the execution exposed a bug of the program.
    pub fn is_bug(self) -> bool {
        matches!(self, Outcome::Failed | Outcome::Stuck | Outcome::Deadlock)
    }

    /// Returns the outcome of a maximal execution: the first one in declaration order that applies.
    /// `could_continue` returns whether a thread that the await rule stopped would now read a
    /// different value.
    pub fn of(pending: &[Pending], mut could_continue: impl FnMut(ThreadId) -> bool) -> Outcome {
        let mut outcome = Outcome::Completed;
        for (index, thread) in pending.iter().enumerate() {
            let outcome_of_thread = match thread {
                Pending::Failed => Outcome::Failed,
                Pending::Halted(Halt::Assume | Halt::Bound(_)) => Outcome::Halted,
                Pending::Halted(Halt::Await) if could_continue(ThreadId::from_index(index)) => {
                    Outcome::Halted
                }
                Pending::Halted(Halt::Await) => Outcome::Stuck,
                Pending::Waiting(_) => Outcome::Deadlock,
                Pending::NotStarted | Pending::Finished | Pending::Enabled(_) => Outcome::Completed,
            };
            outcome = outcome.min(outcome_of_thread);
        }
        outcome
    }
}

/// Why an exploration could not continue.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Interrupt {
    /// After the same steps, the program behaved differently.
    #[error("{0}")]
    Diverged(#[from] Divergence),
    /// Operations that were treated as independent turned out to be dependent. The program has made
    /// its objects coarser: it treats these operations as dependent from now on. The exploration
    /// must start again with a new strategy.
    #[error("the objects have become coarser; the exploration starts again")]
    Coarsened,
    /// The strategy compares states, and the program does not report its state.
    #[error("the program does not report its state, but the algorithm compares states")]
    Incomparable,
    /// The caller aborted the exploration. The current execution is incomplete and must not be
    /// counted. The strategy can no longer be used, but a state saved before this execution can.
    #[error("the exploration was stopped in the middle of an execution")]
    Stopped,
}

/// The program is not deterministic: after the same steps it behaved differently.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the program is not deterministic: at step {at}, {thread} was expected to perform {expected:?}, but {found}"
)]
pub struct Divergence {
    /// The position of the step in the execution, from 0.
    pub at: usize,
    /// The thread of the step.
    pub thread: ThreadId,
    /// The operation that the thread performed in the earlier run. `None` if the thread is not
    /// enabled in this run.
    pub expected: Option<Op>,
    /// The behaviour in this run.
    pub found: Found,
}

/// The behaviour of a thread that diverged.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Found {
    /// The thread performed another operation.
    #[error("performed {0:?}")]
    Op(Op),
    /// The thread performed the same operation on another value.
    #[error("performed it on another value")]
    Value,
    /// The thread is not enabled.
    #[error("is not enabled")]
    NotEnabled,
}

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

impl Event {
    /// Compares the repetition of this event (at `id`) with the event. Returns an error if the
    /// operation or the values before and after differ. Under a weak memory model, the value before
    /// a store may differ.
    #[inline(always)]
    pub fn must_be(
        &self,
        id: EventId,
        op: Op,
        values: (ValueId, ValueId),
    ) -> Result<(), Divergence> {
        match self.op == op && (self.before, self.after) == values {
            true => Ok(()),
            false => self.may_be(id, op, values),
        }
    }

    #[cold]
    fn may_be(&self, id: EventId, op: Op, values: (ValueId, ValueId)) -> Result<(), Divergence> {
        // Under a weak memory model, the value that a store overwrites depends on the order of
        // execution.
        let overwrites =
            [ReadsFrom::NEWEST, ReadsFrom::OVERWRITTEN].contains(&self.step.reads_from);
        let found = if self.op != op {
            Found::Op(op)
        } else if self.after != values.1 || !overwrites {
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
