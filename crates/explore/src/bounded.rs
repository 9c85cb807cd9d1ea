//! A bound on preemptions (Musuvathi, Qadeer, PLDI 2007) for strategies that choose at random.
//!
//! A preemption is a step of another thread while the thread that ran last is enabled and has not
//! yielded. Once the bound is reached and a step of another thread would be a preemption, the
//! strategy sees only the thread that ran last as enabled.

use crate::execution::Performed;
use crate::execution::{Execution, ThreadId};
use crate::program::{Divergence, Outcome, Pending};
use crate::strategy::{Decision, Strategy};

/// A strategy whose executions have a bounded number of preemptions.
#[derive(Debug)]
pub struct Bounded<S> {
    strategy: S,
    bound: u32,
    /// The preemptions in the current execution.
    preemptions: u32,
    /// The pending operations that the strategy sees once the bound is reached.
    pending: Vec<Pending>,
}

impl<S: Strategy> Bounded<S> {
    /// Returns a strategy whose executions have at most `bound` preemptions.
    pub fn new(strategy: S, bound: u32) -> Bounded<S> {
        Bounded {
            strategy,
            bound,
            preemptions: 0,
            pending: Vec::new(),
        }
    }
}

/// Checks whether a step of the thread preempts the thread that ran last.
#[inline]
pub(crate) fn preempts(thread: ThreadId, last: Option<ThreadId>, pending: &[Pending]) -> bool {
    last.is_some_and(|last| last != thread && can_continue(last, pending))
}

/// Checks whether the thread that ran last is enabled and has not yielded.
fn can_continue(last: ThreadId, pending: &[Pending]) -> bool {
    let request = pending[last.index()].enabled();
    request.is_some_and(|request| !request.yields)
}

impl<S: Strategy> Strategy for Bounded<S> {
    fn backtrack(&mut self) -> bool {
        self.preemptions = 0;
        self.strategy.backtrack()
    }

    fn extend(&mut self, pending: &[Pending]) -> Result<Decision, Divergence> {
        let last = self.execution().last_thread();
        let running = last.filter(|&last| can_continue(last, pending));
        match running {
            Some(running) if self.preemptions == self.bound => {
                self.pending.clear();
                self.pending.resize(pending.len(), Pending::NotStarted);
                self.pending[running.index()] = pending[running.index()];
                self.strategy.extend(&self.pending)
            }
            Some(_) | None => self.strategy.extend(pending),
        }
    }

    fn performed(&mut self, performed: &Performed<'_>) {
        self.preemptions += u32::from(performed.preempts);
        self.strategy.performed(performed);
    }

    fn analyse(&mut self, outcome: Outcome) {
        self.strategy.analyse(outcome);
    }

    fn skip(&mut self, executions: u64) {
        self.strategy.skip(executions);
    }

    fn execution(&self) -> &Execution {
        self.strategy.execution()
    }

    fn save(&self) -> Vec<u8> {
        self.strategy.save()
    }
}
