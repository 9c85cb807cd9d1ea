//! The first seam: a program that can be run again and again.

use crate::execution::{EventId, Execution, Op, Request, Step, ThreadId, Token};
use crate::fingerprint::Fingerprint;
use crate::footprint::Footprint;
use crate::replay;
use serde::{Deserialize, Serialize};

/// A program that can be run again and again, one visible operation at a time.
///
/// Contract: after `reset` and the same steps, `pending` is the same. An enabled operation stays
/// enabled, and its object stays the same; its access and its number of alternatives change only by
/// a write of its object. A waiting operation that becomes enabled stays so.
pub trait Program {
    /// Back to the start; every thread that exists from the start is at its first operation.
    fn reset(&mut self);

    /// What each thread would do next, indexed by [`ThreadId`]. May grow, never shrinks.
    fn pending(&self) -> &[Pending];

    /// Performs the pending operation of an enabled thread and runs on to its next one.
    fn step(&mut self, step: Step) -> Result<Performed<'_>, Interrupt>;

    /// Begins anew with these events, each of which must do what it did before. A program that is faster
    /// when it knows the next steps does it otherwise than by `step`. `returns`: more executions will
    /// begin with these events, so that it pays to keep what leads here quickly.
    fn repeat(&mut self, execution: &Execution, _returns: bool) -> Result<(), Interrupt> {
        self.reset();
        replay::repeat(self, execution)
    }

    /// How the execution ended. Asked when no thread is enabled; in the middle it tells whether it has
    /// failed.
    fn outcome(&self) -> Outcome;

    /// The full state; none where the program cannot tell it. Two equal states have equal futures.
    fn fingerprint(&self) -> Option<Fingerprint> {
        None
    }

    /// What the next step of an enabled thread depends on; none where the program cannot tell it.
    fn footprint(&self, _thread: ThreadId) -> Option<Footprint> {
        None
    }
}

/// What a thread would do next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pending {
    /// Not started in this execution.
    Unborn,
    /// Can perform the operation.
    Enabled(Request),
    /// At a wait that is not granted yet.
    Waiting(Request),
    /// Stopped for good before its next operation.
    Halted(Halt),
    /// Stopped by a bug that it showed.
    Failed,
    /// Ran to its end.
    Finished,
}

impl Pending {
    /// The request, if the thread can perform it.
    pub fn enabled(&self) -> Option<&Request> {
        match self {
            Pending::Enabled(request) => Some(request),
            Pending::Unborn
            | Pending::Waiting(_)
            | Pending::Halted(_)
            | Pending::Failed
            | Pending::Finished => None,
        }
    }
}

/// Why a thread was stopped for good.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Halt {
    /// Its assumption does not hold.
    Assume,
    /// It went round a loop in vain (await rule).
    Await,
    /// It reached a bound that holds for each thread.
    Bound(Bound),
}

/// What cut an execution or halted a thread.
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
    /// The program asked that nothing else is tried in the place of some steps ([`Performed::is_fixed`]).
    Exploration,
    /// Too many plain accesses of one thread that are no operations.
    Accesses,
}

/// An operation as it was performed.
#[derive(Clone, Copy, Debug)]
pub struct Performed<'a> {
    /// The operation with the access it had.
    pub op: Op,
    /// The value of the object before; equal tokens, equal values.
    pub before: Token,
    /// The value of the object after.
    pub after: Token,
    /// Events that happen before this one in every schedule (spawn → first event, unlock → the wait
    /// that it grants), beside the thread's own previous event.
    pub edges: &'a [EventId],
    /// What is known since this step of the edges of later events: the next event of the thread has an
    /// edge from the event. Complete for each thread that announces an access.
    pub next_edges: &'a [(ThreadId, EventId)],
    /// Whether the thread that moved before could have gone on. Filled in by [`explore`](crate::explore()).
    pub preempts: bool,
    /// Whether nothing else is to be tried in its place: it comes first in no race, and has no alternatives.
    pub is_fixed: bool,
}

impl Performed<'_> {
    /// An operation that leaves its object as it is, of threads whose events nothing but accesses orders.
    pub const fn of(op: Op) -> Performed<'static> {
        Performed {
            op,
            before: Token(0),
            after: Token(0),
            edges: &[],
            next_edges: &[],
            preempts: false,
            is_fixed: false,
        }
    }
}

/// How an execution ended. For a maximal one the first that applies, in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Outcome {
    /// A thread showed a bug.
    Failed,
    /// A thread stopped at an assumption or a bound, or an await-halted thread could go on.
    Halted,
    /// Await-halted threads remain, and all of them would read the same for ever.
    Stuck,
    /// A thread is at a wait that nobody grants.
    Deadlock,
    /// All threads ran to their end.
    Completed,
    /// Redundant: every enabled thread is asleep. Never with an optimal algorithm.
    Blocked,
}

impl Outcome {
    /// Whether the execution ran until no thread was enabled.
    pub fn is_maximal(self) -> bool {
        self != Outcome::Blocked
    }

    /// Whether the execution shows a bug of the program.
    pub fn is_bug(self) -> bool {
        matches!(self, Outcome::Failed | Outcome::Stuck | Outcome::Deadlock)
    }

    /// The outcome of a maximal execution (DESIGN: the first that applies). `goes_on` tells of an
    /// await-halted thread whether its reads would give another value by now.
    pub fn of(pending: &[Pending], mut goes_on: impl FnMut(ThreadId) -> bool) -> Outcome {
        let mut outcome = Outcome::Completed;
        for (index, thread) in pending.iter().enumerate() {
            let own = match thread {
                Pending::Failed => Outcome::Failed,
                Pending::Halted(Halt::Assume | Halt::Bound(_)) => Outcome::Halted,
                Pending::Halted(Halt::Await) if goes_on(ThreadId::from_index(index)) => {
                    Outcome::Halted
                }
                Pending::Halted(Halt::Await) => Outcome::Stuck,
                Pending::Waiting(_) => Outcome::Deadlock,
                Pending::Unborn | Pending::Finished | Pending::Enabled(_) => Outcome::Completed,
            };
            outcome = outcome.min(own);
        }
        outcome
    }
}

/// Why an exploration could not go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Interrupt {
    /// The program did something else than before after the same steps.
    #[error("{0}")]
    Diverged(#[from] Divergence),
    /// What was taken for independent is not: the program has made its objects coarser, and the
    /// exploration must start again with a fresh strategy.
    #[error("the objects have become coarser; the exploration starts again")]
    Coarsened,
    /// The strategy compares states, and the program has none to compare.
    #[error("the program does not tell its state, and the algorithm compares states")]
    Incomparable,
    /// Whoever runs the program wants no more of it. The execution at hand is not over and must not be
    /// counted; the strategy is of no use any more, but what it saved before the execution is.
    #[error("the exploration was stopped in the middle of an execution")]
    Stopped,
}

/// The program is not deterministic: after the same steps it did something else.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the program is not deterministic: at step {at} {thread} was expected to perform {expected:?}, but {found}"
)]
pub struct Divergence {
    /// Position of the step.
    pub at: usize,
    /// The thread of the step.
    pub thread: ThreadId,
    /// What it did before.
    pub expected: Option<Op>,
    /// What it does this time.
    pub found: Found,
}

/// What a thread that diverged does instead.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Found {
    /// Another operation.
    #[error("performed {0:?}")]
    Op(Op),
    /// The same operation on another value.
    #[error("performed it on another value")]
    Value,
    /// Nothing: it is not enabled.
    #[error("is not enabled")]
    NotEnabled,
}
