//! Context-sensitive DPOR based on Source-DPOR (Albert, Arenas, García de la Banda, Gómez-Zamalloa,
//! Stuckey, CAV 2017): steps that are dependent in general may be independent in the current state.
//!
//! Sleep sets contain sequences of steps. A sequence is asleep if another order of its steps was
//! explored and leads to the same state. Then everything after the sequence was explored, too. This
//! module applies sequences to a search; [`Comparing`](crate::Comparing) finds them by comparing
//! states.
//!
//! In addition, an ordinary sleeper stays asleep after a dependent step if both orders lead to the
//! same state (context-sensitive propagation). The thread with the shortest sequence is preferred
//! (section 4 of the paper). Sequences and propagation exclude operations with alternatives.

use super::source::{add_if_disjoint, remaining_awake};
use crate::execution::{Execution, Race, Step, ThreadId};
use crate::search::{Enabled, Node, Reduction, Sleeper};
use serde::{Deserialize, Serialize};

/// Source sets, and sleep sets of sequences.
#[derive(Default, Debug)]
pub struct ContextSensitive;

/// Consecutive steps, each with the operation that it performs.
pub type SleepSequence = Vec<Sleeper>;

/// The branches to explore from a node, and the sequences that need not be explored.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct SequencePlan {
    /// backtrack(E)
    backtrack: Vec<ThreadId>,
    /// sleep(E), except sequences of length 1, which are ordinary sleepers.
    sequences: Vec<SleepSequence>,
    /// Sleepers that stay asleep although the node's current step depends on them.
    kept: Vec<Sleeper>,
}

impl SequencePlan {
    /// Checks whether `steps` begin with a sequence that is asleep.
    fn covers(&self, steps: &[Step]) -> bool {
        self.sequences.iter().any(|sequence| {
            sequence.len() <= steps.len()
                && sequence
                    .iter()
                    .zip(steps)
                    .all(|(sleeper, step)| sleeper.thread == step.thread)
        })
    }

    /// Returns the length of the shortest sequence that begins with the thread, or the greatest
    /// number if there is none.
    fn shortest(&self, thread: ThreadId) -> usize {
        let beginning = self
            .sequences
            .iter()
            .filter(|sequence| sequence[0].thread == thread);
        beginning.map(Vec::len).min().unwrap_or(usize::MAX)
    }

    /// Keeps these sleepers asleep.
    pub(crate) fn keep(&mut self, sleepers: Vec<Sleeper>) {
        self.kept = sleepers;
    }
}

impl Node<SequencePlan> {
    /// Checks whether the steps begin with a sequence that is asleep.
    pub(crate) fn is_covered(&self, steps: &[Step]) -> bool {
        self.is_asleep(steps[0].thread) || self.plan.covers(steps)
    }

    /// sleep(E) := sleep(E) ∪ {sequence}
    pub(crate) fn add_sequence(&mut self, sequence: SleepSequence) {
        self.plan.sequences.push(sequence);
    }

    /// Adds sequences of length 1 and kept sleepers to the sleep set, and removes longer sequences
    /// that begin with a sleeping thread.
    fn fall_asleep(&mut self) {
        let Node { sleep, plan, .. } = self;
        let single = plan
            .sequences
            .extract_if(.., |sequence| sequence.len() == 1);
        let ends = single.map(|sequence| sequence[0]);
        for sleeper in ends.chain(std::mem::take(&mut plan.kept)) {
            if !sleep.iter().any(|other| other.thread == sleeper.thread) {
                sleep.push(sleeper);
            }
        }
        let is_asleep = |thread| sleep.iter().any(|sleeper| sleeper.thread == thread);
        plan.sequences
            .retain(|sequence| !is_asleep(sequence[0].thread));
    }

    /// {s ∈ sleep : next(t) is independent of all of s} ∪ {s : t.s ∈ sleep}, where t is the thread
    /// of the node's step.
    fn sequences_of_child(&self) -> Vec<SleepSequence> {
        let Node { step, request, .. } = self;
        let remainder = |sequence: &SleepSequence| {
            if sequence[0].thread == step.thread {
                return (request.alternatives == 1).then(|| sequence[1..].to_vec());
            }
            let is_independent = sequence.iter().all(|sleeper| {
                sleeper.thread != step.thread && !sleeper.op.conflicts_with(request.op)
            });
            is_independent.then(|| sequence.clone())
        };
        self.plan.sequences.iter().filter_map(remainder).collect()
    }
}

impl Reduction for ContextSensitive {
    type Plan = SequencePlan;
    /// I(v): the threads of which at least one must be in the backtrack set.
    type Reversal = Vec<ThreadId>;

    /// backtrack(E) := {p} for the awake p with the shortest sequence. Returns `None` if all
    /// threads are asleep.
    fn begin(&self, node: &mut Node<SequencePlan>, enabled: Enabled<'_>) -> Option<Step> {
        node.fall_asleep();
        let (thread, _) = enabled
            .iter()
            .filter(|&(thread, _)| !node.is_asleep(thread))
            .min_by_key(|&(thread, _)| node.plan.shortest(thread))?;
        node.plan.backtrack.push(thread);
        Some(Step::of(thread))
    }

    /// Returns the next alternative, or retires the thread and returns a p ∈ backtrack(E) \ sleep.
    fn next(&self, node: &mut Node<SequencePlan>) -> Option<Step> {
        node.plan.kept.clear();
        if let Some(alternative) = node.next_alternative() {
            return Some(alternative);
        }
        node.retire();
        node.fall_asleep();
        let awake = node.plan.backtrack.iter().copied();
        awake
            .filter(|&thread| !node.is_asleep(thread))
            .min_by_key(|&thread| node.plan.shortest(thread))
            .map(Step::of)
    }

    fn remaining(&self, node: &Node<SequencePlan>) -> usize {
        remaining_awake(&node.plan.backtrack, node)
    }

    fn descend(&self, node: &mut Node<SequencePlan>) -> SequencePlan {
        SequencePlan {
            backtrack: Vec::new(),
            sequences: node.sequences_of_child(),
            kept: std::mem::take(&mut node.plan.kept),
        }
    }

    /// Returns the initials I(v) of v := notdep(f, E).e, as Source-DPOR does.
    fn reversal(&self, race: Race, execution: &Execution) -> Option<Vec<ThreadId>> {
        super::Source.reversal(race, execution)
    }

    /// Adds some q ∈ I(v) to backtrack(E') if the two sets are disjoint.
    fn insert(&self, node: &mut Node<SequencePlan>, initials: Vec<ThreadId>) {
        add_if_disjoint(&mut node.plan.backtrack, &initials);
    }
}
