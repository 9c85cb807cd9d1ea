//! Source-DPOR (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014, Algorithm 1).
//!
//! Deviation: races are analysed after the execution, not after each step. The result is the same,
//! because the plan of a node is read only when the search returns to the node.

use super::initials::initials;
use crate::execution::{Execution, Race, Step, ThreadId};
use crate::search::{Enabled, Node, Reduction};

/// Source sets.
#[derive(Default, Debug)]
pub struct Source;

impl Reduction for Source {
    /// backtrack(E): the threads to explore from the node.
    type Plan = Vec<ThreadId>;
    /// I(v): the threads of which at least one must be in the backtrack set.
    type Reversal = Vec<ThreadId>;

    fn begin(&self, node: &mut Node<Vec<ThreadId>>, enabled: Enabled<'_>) -> Option<Step> {
        begin_with_one(node, enabled)
    }

    fn next(&self, node: &mut Node<Vec<ThreadId>>) -> Option<Step> {
        next_awake(node)
    }

    fn remaining(&self, node: &Node<Vec<ThreadId>>) -> usize {
        remaining(node)
    }

    /// Returns the initials I(v) of v := notdep(f, E).e. Returns `None` unless e is the first
    /// alternative of its operation, because all alternatives have the same races.
    fn reversal(&self, race: Race, execution: &Execution) -> Option<Vec<ThreadId>> {
        let is_first_alternative = execution.event(race.second).step.choice == 0;
        is_first_alternative.then(|| {
            initials(race, execution)
                .map(|(thread, _)| thread)
                .collect()
        })
    }

    /// Adds some q ∈ I(v) to backtrack(E') if the two sets are disjoint.
    fn insert(&self, node: &mut Node<Vec<ThreadId>>, initials: Vec<ThreadId>) {
        add_if_disjoint(&mut node.plan, &initials);
    }
}

/// backtrack(E) := {p} for the first awake p. Returns `None` if all threads are asleep.
pub(super) fn begin_with_one(node: &mut Node<Vec<ThreadId>>, enabled: Enabled<'_>) -> Option<Step> {
    let (thread, _) = enabled
        .iter()
        .find(|&(thread, _)| !node.is_asleep(thread))?;
    node.plan.push(thread);
    Some(Step::of(thread))
}

/// Returns the next alternative, or retires the thread and returns some p ∈ backtrack(E) \ sleep.
pub(super) fn next_awake(node: &mut Node<Vec<ThreadId>>) -> Option<Step> {
    if let Some(alternative) = node.next_alternative() {
        return Some(alternative);
    }
    node.retire();
    node.plan
        .iter()
        .copied()
        .find(|&thread| !node.is_asleep(thread))
        .map(Step::of)
}

/// Returns the number of awake threads in backtrack(E), not counting the current one.
pub(super) fn remaining(node: &Node<Vec<ThreadId>>) -> usize {
    remaining_awake(&node.plan, node)
}

/// Returns the number of awake threads in a backtrack set, not counting the current one.
pub(super) fn remaining_awake<Plan>(backtrack: &[ThreadId], node: &Node<Plan>) -> usize {
    let awake = backtrack.iter().filter(|&&thread| !node.is_asleep(thread));
    awake.count().saturating_sub(1)
}

/// Adds a candidate unless one is already present. Of several candidates, the last in v is added,
/// usually the thread of the race's second event. If the first were added, Source-DPOR would
/// explore up to four times as much on expmem and twice as much on lastzero.
pub(super) fn add_if_disjoint(backtrack: &mut Vec<ThreadId>, candidates: &[ThreadId]) {
    if !candidates.iter().any(|thread| backtrack.contains(thread)) {
        let last = candidates.last().expect("a reversed race has an initial");
        backtrack.push(*last);
    }
}
