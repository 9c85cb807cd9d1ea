//! Optimal-DPOR (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014, Algorithm 2).
//!
//! Deviations: races are analysed after the execution, including races that earlier executions had,
//! too. A conditional operation has the access that it has right before the race's first event. The
//! alternatives of an operation are branches of the wakeup tree.

use super::initials::is_weak_initial;
use super::wakeup_tree::{Planned, WakeupTree};
use crate::execution::{EventId, Execution, Op, Race, Step};
use crate::search::{Enabled, Node, Reduction};

/// Source sets and wakeup trees.
#[derive(Default, Debug)]
pub struct Optimal;

impl Reduction for Optimal {
    /// wut(E): the wakeup tree of the node. Its first branch is being explored.
    type Plan = WakeupTree;
    /// v
    type Reversal = Vec<Planned>;

    fn begin(&self, node: &mut Node<WakeupTree>, enabled: Enabled<'_>) -> Option<Step> {
        if node.plan.is_empty() {
            let (thread, request) = enabled
                .iter()
                .find(|&(thread, _)| !node.is_asleep(thread))?;
            node.plan.insert(vec![Planned {
                thread,
                choice: None,
                op: request.op,
            }]);
        }
        node.plan.first_step()
    }

    fn branch(&self, node: &mut Node<WakeupTree>) {
        node.plan.branch_first(node.request.alternatives);
    }

    /// Removes the branch of p from wut(E). Then sleep(E) := sleep(E) ∪ {p}, unless the next branch
    /// is another alternative of p.
    fn next(&self, node: &mut Node<WakeupTree>) -> Option<Step> {
        node.plan.remove_first();
        let next = node.plan.first_step();
        if next.is_none_or(|step| step.thread != node.step.thread) {
            node.retire();
        }
        next
    }

    fn remaining(&self, node: &Node<WakeupTree>) -> usize {
        node.plan.len().saturating_sub(1)
    }

    /// subtree(wut(E), p)
    fn descend(&self, node: &mut Node<WakeupTree>) -> WakeupTree {
        node.plan.take_first_subtree()
    }

    /// Analyses all races of each execution, including those of earlier executions. The reversal v
    /// of an old race contains the new events of this execution, including choices, so it may
    /// require a branch that no earlier v required. If only new races were analysed, 12 traces of
    /// sigma(7) would be missed.
    fn unseen(&self, _execution: &Execution, _fresh: usize) -> usize {
        0
    }

    /// v := notdep(f, E).e' for the race (f, e). Here, e' is e with the access that it has before
    /// f, and with no alternative chosen yet.
    fn reversal(&self, race: Race, execution: &Execution) -> Option<Vec<Planned>> {
        let planned = |event: EventId| {
            let event = execution.event(event);
            let choice = (event.alternatives > 1).then_some(event.step.choice);
            Planned {
                thread: event.thread(),
                choice,
                op: event.op,
            }
        };
        let second = execution.event(race.second);
        let op = Op {
            access: execution.reversed_access(race),
            ..second.op
        };
        let reversed = Planned {
            thread: second.thread(),
            choice: None,
            op,
        };
        let notdep = execution.notdep(race.first, execution.len()).map(planned);
        Some(notdep.chain([reversed]).collect())
    }

    /// wut(E') := insert(v, wut(E')) if sleep(E') and WI(v) are disjoint
    fn insert(&self, node: &mut Node<WakeupTree>, v: Vec<Planned>) {
        if !node
            .sleep
            .iter()
            .any(|&sleeper| is_weak_initial(sleeper, &v))
        {
            node.plan.insert(v);
        }
    }
}
