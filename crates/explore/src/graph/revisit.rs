//! Backward revisits: a read that is in the graph reads from the write that was added last.

use super::clocks::knows;
use super::events::{At, Graph, Node, Part};
use crate::execution::EventId;

/// What a backward revisit leaves.
pub(super) struct Restricted {
    /// The graph without the removed events, the read and the step of the write.
    pub(super) graph: Graph,
    /// The new position of each step that stays.
    pub(super) places: Vec<Option<EventId>>,
}

impl Graph {
    /// Returns the reads that may read from the write, which was added last: the reads on which it
    /// does not depend.
    pub(super) fn revisitable(&self, write: At) -> Vec<At> {
        let node = self.node(write);
        let reads = self.object(node.operation.object).reads.iter();
        let is_before = |read: At| knows(&node.clocks.porf, read);
        reads.copied().filter(|&read| !is_before(read)).collect()
    }

    /// Returns the graph in which `read` can read from `write`, or `None` if this graph is reached
    /// in another way. The events of the write's step are the last ones, and the write is not in
    /// coherence order.
    pub(super) fn restricted(&self, read: At, write: At) -> Option<Restricted> {
        let stamp = self.node(read).stamp;
        let prefix = &self.node(write).clocks.porf;
        let is_removed = |at: At, node: &Node| node.stamp > stamp && !knows(prefix, at);
        let mut all = self.all();
        let is_maximal = all.all(|(at, node)| {
            at != read && !is_removed(at, node) || self.is_maximal(at, node, write)
        });
        if !is_maximal {
            return None;
        }
        let first = *self.steps.last().expect("the step of the write is there");
        let mut places = Vec::new();
        let mut steps = Vec::new();
        for &step in &self.steps {
            let stays = step != read && step != first && !is_removed(step, self.node(step));
            places.push(stays.then(|| EventId::at(steps.len())));
            steps.extend(stays.then_some(step));
        }
        let mut graph = self.clone();
        for position in (0..self.steps.len()).rev() {
            if places[position].is_none() {
                let At { thread, index } = self.steps[position];
                while graph.threads[thread.index()].len() > index as usize {
                    graph.pop(thread);
                }
            }
        }
        graph.steps = steps;
        Some(Restricted { graph, places })
    }

    /// Checks whether the event would be added in the same way again if the prefix of `write` were
    /// there already.
    fn is_maximal(&self, at: At, node: &Node, write: At) -> bool {
        let prefix = &self.node(write).clocks.porf;
        let is_previous = |other: At| {
            other != write && (self.node(other).stamp <= node.stamp || knows(prefix, other))
        };
        let object = self.object(node.operation.object);
        let source = match node.part {
            Part::Other => return node.choice == 0,
            Part::Write => {
                let mut reads = object.reads.iter();
                let is_read =
                    reads.any(|&read| self.node(read).rf == Some(at) && is_previous(read));
                if node.choice > 0 || is_read {
                    return false;
                }
                Some(at)
            }
            Part::Read => node.rf,
        };
        if source.is_some_and(|source| !is_previous(source)) {
            return false;
        }
        let position = self.position(node.operation.object, source);
        !object.co[position..]
            .iter()
            .any(|&later| is_previous(later))
    }
}
