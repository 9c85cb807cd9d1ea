//! Preemption bounding (Musuvathi, Qadeer, PLDI 2007) of any strategy.
//!
//! A preemption is a step of another thread while the one that moved last is enabled. An execution
//! that would need more than the bound is cut before that step. Around `exhaustive` every execution
//! within the bound is explored; around a reduction some may be missed.

use crate::execution::{Execution, ThreadId};
use crate::probe::Probe;
use crate::program::{Bound, Divergence, Interrupt, Outcome, Pending, Performed};
use crate::strategy::{Decision, Ending, Strategy};

/// A strategy whose executions have a bounded number of preemptions.
#[derive(Debug)]
pub struct Bounded<S> {
    strategy: S,
    bound: u32,
    /// The number of preemptions in the first so many events; none where the execution is a new one.
    counted: Option<(usize, u32)>,
}

impl<S: Strategy> Bounded<S> {
    /// Cuts executions with more than `bound` preemptions.
    pub fn new(strategy: S, bound: u32) -> Bounded<S> {
        Bounded {
            strategy,
            bound,
            counted: None,
        }
    }

    /// The preemptions of the execution so far.
    fn preemptions(&mut self) -> u32 {
        let execution = self.strategy.execution();
        let (from, before) = self.counted.unwrap_or_default();
        let fresh = execution.events_from(from);
        let preemptions = before
            + fresh
                .map(|(_, event)| u32::from(event.preempts))
                .sum::<u32>();
        self.counted = Some((execution.len(), preemptions));
        preemptions
    }
}

/// Whether a step of the thread is a preemption of the one that moved last.
#[inline]
pub(crate) fn preempts(thread: ThreadId, last: Option<ThreadId>, pending: &[Pending]) -> bool {
    last.is_some_and(|last| last != thread && pending[last.index()].enabled().is_some())
}

impl<S: Strategy> Strategy for Bounded<S> {
    fn backtrack(&mut self) -> bool {
        self.counted = None;
        self.strategy.backtrack()
    }

    fn has_restarted(&self) -> bool {
        self.strategy.has_restarted()
    }

    fn returns(&self) -> bool {
        self.strategy.returns()
    }

    fn extend(&mut self, pending: &[Pending]) -> Result<Decision, Divergence> {
        let decision = self.strategy.extend(pending)?;
        if let Decision::Run(step) = decision {
            let last = self.execution().last_thread();
            let preemptions = self.preemptions() + u32::from(preempts(step.thread, last, pending));
            if preemptions > self.bound {
                return Ok(Decision::Stop(Ending::Cut(Bound::Preemptions)));
            }
        }
        Ok(decision)
    }

    fn performed(&mut self, performed: &Performed<'_>) {
        self.strategy.performed(performed);
    }

    fn probe(&mut self, probe: &mut dyn Probe) -> Result<(), Interrupt> {
        self.strategy.probe(probe)
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
