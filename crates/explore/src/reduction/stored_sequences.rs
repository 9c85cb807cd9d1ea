//! Context-sensitive DPOR that avoids recomputation (Albert et al., CAV 2017, the optimisation of
//! that name). A sequence is not run to find its final state. Instead, the sequence is stored with
//! the state to which it leads if its steps commute. When the search completes it,
//! [`Storing`](crate::Storing) compares the states.
//!
//! Two disadvantages compared with immediate comparison: a sequence puts no thread to sleep before
//! it was executed, and a sequence that is interleaved with other steps is dropped.

use super::source::{add_if_disjoint, remaining_awake};
use crate::execution::{Execution, Race, Schedule, Step, ThreadId};
use crate::search::{Enabled, Node, Reduction};
use serde::{Deserialize, Serialize};

/// Source sets, and sequences with the states to which they may lead.
#[derive(Default, Debug)]
pub struct StoredSequences;

/// Steps that were explored in another order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StoredSequence {
    /// The threads of the remaining steps.
    pub(crate) threads: Vec<ThreadId>,
    /// The digest of the state to which the other order led.
    pub(crate) digest: u128,
    /// The other order, from the start.
    pub(crate) original: Schedule,
}

/// The branches to explore from a node.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct StoredPlan {
    /// backtrack(E)
    backtrack: Vec<ThreadId>,
    /// Sequences that may lead to the same state as another order.
    pub(crate) sequences: Vec<StoredSequence>,
    /// The threads that are enabled here.
    enabled: Vec<ThreadId>,
    /// Whether the current child is skipped.
    pub(crate) is_cut: bool,
    /// Whether some child was not skipped.
    has_child: bool,
}

impl StoredPlan {
    /// Returns the length of the shortest sequence that begins with the thread.
    fn shortest(&self, thread: ThreadId) -> usize {
        let own = self.sequences.iter().map(|own| &own.threads);
        let own = own.filter(|own| own[0] == thread).map(Vec::len);
        own.min().unwrap_or(usize::MAX)
    }
}

impl Reduction for StoredSequences {
    type Plan = StoredPlan;
    /// I(v): the threads of which at least one must be in the backtrack set.
    type Reversal = Vec<ThreadId>;

    /// backtrack(E) := {p} for some awake p
    fn begin(&self, node: &mut Node<StoredPlan>, enabled: Enabled<'_>) -> Option<Step> {
        node.plan.enabled = enabled.iter().map(|(thread, _)| thread).collect();
        let awake = enabled.iter().map(|(thread, _)| thread);
        let awake = awake.filter(|&thread| !node.is_asleep(thread));
        let thread = awake.min_by_key(|&thread| node.plan.shortest(thread))?;
        node.plan.backtrack.push(thread);
        Some(Step::of(thread))
    }

    /// Returns the next alternative, or retires the thread and returns some p ∈ backtrack(E) \
    /// sleep. If all children were skipped, p may be any awake thread.
    fn next(&self, node: &mut Node<StoredPlan>) -> Option<Step> {
        let is_cut = std::mem::take(&mut node.plan.is_cut);
        node.plan.has_child |= !is_cut;
        if let Some(alternative) = node.next_alternative() {
            return Some(alternative);
        }
        node.retire();
        let awake = |thread: &&ThreadId| !node.is_asleep(**thread);
        let backtrack = node.plan.backtrack.iter().filter(awake);
        let planned = backtrack.min_by_key(|&&thread| node.plan.shortest(thread));
        let mut others = node.plan.enabled.iter().filter(|_| !node.plan.has_child);
        let thread = *planned.or_else(|| others.find(awake))?;
        node.plan.backtrack.push(thread);
        Some(Step::of(thread))
    }

    fn remaining(&self, node: &Node<StoredPlan>) -> usize {
        remaining_awake(&node.plan.backtrack, node)
    }

    /// {s : t.s is stored}
    fn descend(&self, node: &mut Node<StoredPlan>) -> StoredPlan {
        let Node { step, request, .. } = node;
        let longer = node
            .plan
            .sequences
            .iter()
            .filter(|own| own.threads.len() > 1);
        let own = longer.filter(|own| own.threads[0] == step.thread && request.alternatives == 1);
        let sequences = own.map(|own| StoredSequence {
            threads: own.threads[1..].to_vec(),
            ..own.clone()
        });
        StoredPlan {
            sequences: sequences.collect(),
            ..StoredPlan::default()
        }
    }

    /// v := notdep(f, E).e, with its initials I(v)
    fn reversal(&self, race: Race, execution: &Execution) -> Option<Vec<ThreadId>> {
        super::Source.reversal(race, execution)
    }

    /// Adds some q ∈ I(v) to backtrack(E') if the two sets are disjoint.
    fn insert(&self, node: &mut Node<StoredPlan>, initials: Vec<ThreadId>) {
        add_if_disjoint(&mut node.plan.backtrack, &initials);
    }
}
