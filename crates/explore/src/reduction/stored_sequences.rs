//! Context-sensitive DPOR that avoids recomputation (Albert et al., CAV 2017, the optimisation of that
//! name): a sequence is not run to see where it leads. It is stored with the state that it leads to if its
//! steps commute, until the search itself comes by it; [`Storing`](crate::Storing) compares then.
//!
//! Two losses against comparing at once: a sequence puts no thread to sleep before it was executed, and one
//! with which other steps are interleaved is forgotten.

use super::source::{add_if_disjoint, remaining_awake};
use crate::execution::{Execution, Race, Schedule, Step, ThreadId};
use crate::search::{Enabled, Node, Reduction};
use serde::{Deserialize, Serialize};

/// Source sets, and sequences with the states that they may lead to.
#[derive(Default, Debug)]
pub struct StoredSequences;

/// Steps that were explored in another order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StoredSequence {
    /// Those that are left.
    pub(crate) threads: Vec<ThreadId>,
    /// Digest of the state that the other order led to.
    pub(crate) digest: u128,
    /// The other order, from the start.
    pub(crate) original: Schedule,
}

/// What is to be explored from a node.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct StoredPlan {
    /// backtrack(E)
    backtrack: Vec<ThreadId>,
    /// Sequences that may lead where another order led.
    pub(crate) sequences: Vec<StoredSequence>,
    /// Who can be run from here.
    enabled: Vec<ThreadId>,
    /// The current child is left out.
    pub(crate) is_cut: bool,
    /// Some child was not left out.
    has_child: bool,
}

impl StoredPlan {
    /// Length of the shortest sequence that the thread begins.
    fn shortest(&self, thread: ThreadId) -> usize {
        let own = self.sequences.iter().map(|own| &own.threads);
        let own = own.filter(|own| own[0] == thread).map(Vec::len);
        own.min().unwrap_or(usize::MAX)
    }
}

impl Reduction for StoredSequences {
    type Plan = StoredPlan;
    /// I(v): the threads of which one must be in the backtrack set.
    type Reversal = Vec<ThreadId>;

    /// backtrack(E) := {p} for some p that is awake
    fn begin(&self, node: &mut Node<StoredPlan>, enabled: Enabled<'_>) -> Option<Step> {
        node.plan.enabled = enabled.iter().map(|(thread, _)| thread).collect();
        let awake = enabled.iter().map(|(thread, _)| thread);
        let awake = awake.filter(|&thread| !node.is_asleep(thread));
        let thread = awake.min_by_key(|&thread| node.plan.shortest(thread))?;
        node.plan.backtrack.push(thread);
        Some(Step::of(thread))
    }

    /// The next alternative; then the thread falls asleep, and some p ∈ backtrack(E) \ sleep follows. If
    /// all children were left out, any p that is awake.
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

    /// v := notdep(f, E).e, its initials I(v)
    fn reversal(&self, race: Race, execution: &Execution) -> Option<Vec<ThreadId>> {
        super::Source.reversal(race, execution)
    }

    /// if I(v) and backtrack(E') are disjoint then add some q ∈ I(v) to backtrack(E')
    fn insert(&self, node: &mut Node<StoredPlan>, initials: Vec<ThreadId>) {
        add_if_disjoint(&mut node.plan.backtrack, &initials);
    }
}
