//! Preemption bounding (Musuvathi, Qadeer, PLDI 2007) of any strategy.
//!
//! A preemption is a step of another thread while the one that moved last is enabled. An execution
//! that would need more than the bound is cut before that step. Around `exhaustive` every execution
//! within the bound is explored; around a reduction some may be missed.

use crate::execution::{Execution, ThreadId};
use crate::program::{Bound, Divergence, Outcome, Pending, Performed};
use crate::strategy::{Decision, Ending, Strategy};

/// A strategy whose executions have a bounded number of preemptions.
#[derive(Debug)]
pub struct Bounded<S> {
    strategy: S,
    bound: u32,
    preemptions: u32,
    last: Option<ThreadId>,
}

impl<S: Strategy> Bounded<S> {
    /// Cuts executions with more than `bound` preemptions.
    pub fn new(strategy: S, bound: u32) -> Bounded<S> {
        Bounded {
            strategy,
            bound,
            preemptions: 0,
            last: None,
        }
    }

    fn is_preempted_by(&self, thread: ThreadId, pending: &[Pending]) -> bool {
        self.last.is_some_and(|last| {
            last != thread
                && pending
                    .get(last.index())
                    .is_some_and(|p| p.enabled().is_some())
        })
    }
}

impl<S: Strategy> Strategy for Bounded<S> {
    fn backtrack(&mut self) -> bool {
        self.preemptions = 0;
        self.last = None;
        self.strategy.backtrack()
    }

    fn has_restarted(&self) -> bool {
        self.strategy.has_restarted()
    }

    fn extend(&mut self, pending: &[Pending]) -> Result<Decision, Divergence> {
        let decision = self.strategy.extend(pending)?;
        if let Decision::Run(step) = decision {
            self.preemptions += u32::from(self.is_preempted_by(step.thread, pending));
            self.last = Some(step.thread);
            if self.preemptions > self.bound {
                return Ok(Decision::Stop(Ending::Cut(Bound::Preemptions)));
            }
        }
        Ok(decision)
    }

    fn performed(&mut self, performed: Performed<'_>) -> Result<(), Divergence> {
        self.strategy.performed(performed)
    }

    fn analyse(&mut self, outcome: Outcome) {
        self.strategy.analyse(outcome);
    }

    fn execution(&self) -> &Execution {
        self.strategy.execution()
    }

    fn estimate(&self) -> Option<f64> {
        self.strategy.estimate()
    }

    fn save(&self) -> Vec<u8> {
        self.strategy.save()
    }
}
