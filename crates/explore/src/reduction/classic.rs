//! Classic DPOR with persistent sets and sleep sets (Flanagan, Godefroid, POPL 2005, with the
//! candidates of Abdulla et al., POPL 2014, section 4).
//!
//! Deviation: all races of an event are reversed, not only the race with the last dependent
//! transition. With sleep sets and commuting reads, reversing only that race would lose traces.

use super::initials::initials;
use super::source::{add_if_disjoint, begin_with_one, next_awake, remaining};
use crate::execution::{Execution, Race, Step, ThreadId};
use crate::search::{Enabled, Node, Reduction};

/// Persistent sets.
#[derive(Default, Debug)]
pub struct Classic;

impl Reduction for Classic {
    /// backtrack(E): the threads to explore from the node.
    type Plan = Vec<ThreadId>;
    /// The threads of which at least one must be in the backtrack set.
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

    /// Returns {q ∈ I(v) : the first event of q in v is e or happens before e}, for v := notdep(f,
    /// E).e. Returns `None` unless e is the first alternative of its operation.
    fn reversal(&self, race: Race, execution: &Execution) -> Option<Vec<ThreadId>> {
        let is_first_alternative = execution.event(race.second).step.choice == 0;
        is_first_alternative.then(|| {
            initials(race, execution)
                .filter(|&(_, event)| execution.happens_before(event, race.second))
                .map(|(thread, _)| thread)
                .collect()
        })
    }

    fn insert(&self, node: &mut Node<Vec<ThreadId>>, candidates: Vec<ThreadId>) {
        add_if_disjoint(&mut node.plan, &candidates);
    }
}
