//! Preemption bounding (Musuvathi, Qadeer, PLDI 2007) of any strategy.
//!
//! A preemption is a step of another thread while the one that moved last is enabled. An execution
//! that would need more than the bound is cut before that step. Around `exhaustive` every execution
//! within the bound is explored; around a reduction some may be missed.

use crate::execution::{Execution, ThreadId};
use crate::program::{Bound, Divergence, Outcome, Pending, Performed};
use crate::strategy::{Decision, Ending, Strategy};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A strategy whose executions have a bounded number of preemptions.
#[derive(Debug)]
pub struct Bounded<S> {
    strategy: S,
    bound: u32,
    /// preemptions[i] is the number of them up to event i.
    preemptions: Vec<u32>,
}

/// What is saved of a bounded search.
#[derive(Serialize, Deserialize)]
struct Saved<'a> {
    preemptions: Vec<u32>,
    strategy: Cow<'a, [u8]>,
}

impl<S: Strategy> Bounded<S> {
    /// Cuts executions with more than `bound` preemptions.
    pub fn new(strategy: S, bound: u32) -> Bounded<S> {
        Bounded {
            strategy,
            bound,
            preemptions: Vec::new(),
        }
    }

    /// Goes on from what `save` gave; `resume` reads the strategy.
    pub(crate) fn resume(
        saved: &[u8],
        bound: u32,
        resume: impl FnOnce(&[u8]) -> Result<S, postcard::Error>,
    ) -> Result<Bounded<S>, postcard::Error> {
        let Saved {
            preemptions,
            strategy,
        } = postcard::from_bytes(saved)?;
        Ok(Bounded {
            strategy: resume(&strategy)?,
            bound,
            preemptions,
        })
    }

    /// Whether a step of the thread is a preemption.
    fn preempts(&self, thread: ThreadId, pending: &[Pending]) -> bool {
        let last = self.strategy.execution().last_thread();
        last.is_some_and(|last| last != thread && pending[last.index()].enabled().is_some())
    }
}

impl<S: Strategy> Strategy for Bounded<S> {
    fn backtrack(&mut self) -> bool {
        self.strategy.backtrack()
    }

    fn has_restarted(&self) -> bool {
        self.strategy.has_restarted()
    }

    fn extend(&mut self, pending: &[Pending]) -> Result<Decision, Divergence> {
        let decision = self.strategy.extend(pending)?;
        if let Decision::Run(step) = decision {
            self.preemptions.truncate(self.execution().len());
            let before = self.preemptions.last().copied().unwrap_or(0);
            let preemptions = before + u32::from(self.preempts(step.thread, pending));
            if preemptions > self.bound {
                return Ok(Decision::Stop(Ending::Cut(Bound::Preemptions)));
            }
            self.preemptions.push(preemptions);
        }
        Ok(decision)
    }

    fn performed(&mut self, performed: Performed<'_>) {
        self.strategy.performed(performed);
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
        let saved = Saved {
            preemptions: self.preemptions.clone(),
            strategy: Cow::Owned(self.strategy.save()),
        };
        postcard::to_allocvec(&saved).expect("a search is plain data")
    }
}
