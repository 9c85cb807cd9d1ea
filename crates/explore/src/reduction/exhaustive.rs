//! Every interleaving, without reduction. The oracle for the other algorithms.

use crate::execution::{Execution, Race, Step};
use crate::search::{Enabled, Node, Reduction};
use std::convert::Infallible;

/// Every interleaving.
#[derive(Default, Debug)]
pub struct Exhaustive;

impl Reduction for Exhaustive {
    /// The steps left to explore, in reverse order.
    type Plan = Vec<Step>;
    type Reversal = Infallible;

    fn begin(&self, node: &mut Node<Vec<Step>>, enabled: Enabled<'_>) -> Option<Step> {
        node.plan
            .extend(enabled.iter().flat_map(|(thread, request)| {
                (0..request.alternatives).map(move |choice| Step::choosing(thread, choice))
            }));
        node.plan.reverse();
        node.plan.pop()
    }

    fn next(&self, node: &mut Node<Vec<Step>>) -> Option<Step> {
        node.plan.pop()
    }

    fn fix(&self, node: &mut Node<Vec<Step>>) {
        node.plan.clear();
    }

    fn give_away(&self, node: &mut Node<Vec<Step>>) -> Option<Vec<Step>> {
        (!node.plan.is_empty()).then(|| std::mem::take(&mut node.plan))
    }

    fn remaining(&self, node: &Node<Vec<Step>>) -> usize {
        node.plan.len()
    }

    fn reversal(&self, _race: Race, _execution: &Execution) -> Option<Infallible> {
        None
    }

    fn insert(&self, _node: &mut Node<Vec<Step>>, reversal: Infallible) {
        match reversal {}
    }
}
