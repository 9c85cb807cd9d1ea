//! Sleep sets alone (Godefroid, LNCS 1032, 1996): every enabled thread that is awake is explored.
//!
//! Every trace is completed once, but many executions turn out to be redundant and are blocked.

use crate::execution::{Execution, Race, Step, ThreadId};
use crate::search::{Enabled, Node, Reduction};
use std::convert::Infallible;

/// Sleep sets alone.
#[derive(Default, Debug)]
pub struct Sleep;

impl Reduction for Sleep {
    /// The threads that are awake and enabled at the node.
    type Plan = Vec<ThreadId>;
    type Reversal = Infallible;

    fn begin(&self, node: &mut Node<Vec<ThreadId>>, enabled: Enabled<'_>) -> Option<Step> {
        let awake = enabled
            .iter()
            .map(|(thread, _)| thread)
            .filter(|&t| !node.is_asleep(t));
        node.plan = awake.collect();
        node.plan.first().copied().map(Step::of)
    }

    fn next(&self, node: &mut Node<Vec<ThreadId>>) -> Option<Step> {
        super::source::next_awake(node)
    }

    fn fix(&self, node: &mut Node<Vec<ThreadId>>) {
        let first = node.step.thread;
        node.plan.retain(|&thread| thread == first);
    }

    fn remaining(&self, node: &Node<Vec<ThreadId>>) -> usize {
        super::source::remaining(node)
    }

    fn reversal(&self, _race: Race, _execution: &Execution) -> Option<Infallible> {
        None
    }

    fn insert(&self, _node: &mut Node<Vec<ThreadId>>, reversal: Infallible) {
        match reversal {}
    }
}
