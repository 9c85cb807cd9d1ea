//! Executions with a bounded number of preemptions (Musuvathi, Qadeer, PLDI 2007), reduced as in
//! bounded partial-order reduction (Coons, Musuvathi, McKinley, OOPSLA 2013, section 4).
//!
//! A preemption is a step of another thread while the thread that ran last is enabled and has not
//! yielded. An execution continues without a preemption unless a race requires one, so that no
//! execution is begun only to be cut. Moving the second event of a race right before the first
//! event may need a preemption. The first event belongs to a run: consecutive events of one thread.
//! Moving the second event to the start of that run, or to the last yield in it, needs one
//! preemption less. So the race is reversed at all of these places.
//!
//! There are no sleep sets, because they might exclude the only order within the bound. So a trace
//! may be executed several times. Deviation: if the second event's thread is not enabled, the
//! enabled threads with an event that happens before the second event are tried. If there are none,
//! all enabled threads are tried.

use crate::execution::{EventId, Execution, Race, Step, ThreadId};
use crate::search::{Enabled, Node, Reduction};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::convert::Infallible;

/// Executions with at most `bound` preemptions.
#[derive(Default, Debug)]
pub struct FewPreemptions {
    bound: u32,
    /// Whether every execution within the bound is run, not only those that races require.
    is_exhaustive: bool,
    /// Whether the bound has excluded a step.
    leaves_out: Cell<bool>,
}

/// The plan of a node.
#[derive(Default, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The preemptions before the node.
    preemptions: u32,
    /// The thread that ran last, if it is enabled and has not yielded: other threads preempt it.
    running: Option<ThreadId>,
    /// The enabled threads, in order of preference.
    enabled: Vec<ThreadId>,
    /// backtrack(E), in the order of exploration.
    backtrack: Vec<ThreadId>,
    /// The index of the current thread in `backtrack`.
    done: usize,
}

impl Plan {
    /// Returns the number of preemptions after a step of the thread from here.
    fn preemptions_with(&self, thread: ThreadId) -> u32 {
        self.preemptions + u32::from(self.running.is_some_and(|running| running != thread))
    }

    fn add(&mut self, thread: ThreadId) {
        if !self.backtrack.contains(&thread) {
            self.backtrack.push(thread);
        }
    }
}

impl FewPreemptions {
    /// Allows at most `bound` preemptions. `is_exhaustive` says whether every execution within the
    /// bound is run.
    pub fn new(bound: u32, is_exhaustive: bool) -> FewPreemptions {
        FewPreemptions {
            bound,
            is_exhaustive,
            leaves_out: Cell::new(false),
        }
    }

    /// Plans threads to run before the event at `position`, so that the event `second` can come
    /// first: the thread of `second`, if it is enabled, or other threads as the header of this file
    /// describes.
    fn backtrack(&self, execution: &Execution, position: usize, second: EventId, plan: &mut Plan) {
        let thread = execution.event(second).thread();
        if plan.enabled.contains(&thread) {
            return plan.add(thread);
        }
        let leads_there = |other: ThreadId| {
            let next = execution.first_from(other, position);
            next.is_some_and(|next| next < second && execution.happens_before(next, second))
        };
        let enabled = plan.enabled.clone();
        let leading = enabled.iter().filter(|&&other| leads_there(other));
        let mut chosen: Vec<ThreadId> = leading.copied().collect();
        if chosen.is_empty() {
            chosen = enabled;
        }
        chosen.into_iter().for_each(|other| plan.add(other));
    }
}

impl Reduction for FewPreemptions {
    type Plan = Plan;
    type Reversal = Infallible;

    fn begin(&self, node: &mut Node<Plan>, enabled: Enabled<'_>) -> Option<Step> {
        let plan = &mut node.plan;
        plan.running = enabled.running();
        plan.enabled
            .extend(enabled.iter().map(|(thread, _)| thread));
        match self.is_exhaustive {
            true => plan.backtrack.extend(&plan.enabled),
            false => plan.backtrack.extend(plan.enabled.first()),
        }
        plan.backtrack.first().map(|&thread| Step::of(thread))
    }

    fn next(&self, node: &mut Node<Plan>) -> Option<Step> {
        if let Some(alternative) = node.next_alternative() {
            return Some(alternative);
        }
        let plan = &mut node.plan;
        loop {
            plan.done += 1;
            let &thread = plan.backtrack.get(plan.done)?;
            if plan.preemptions_with(thread) <= self.bound {
                return Some(Step::of(thread));
            }
            self.leaves_out.set(true);
        }
    }

    fn fix(&self, node: &mut Node<Plan>) {
        if self.is_exhaustive {
            node.plan.backtrack.truncate(1);
        }
    }

    fn remaining(&self, node: &Node<Plan>) -> usize {
        let plan = &node.plan;
        let rest = plan.backtrack.iter().skip(plan.done + 1);
        rest.filter(|&&thread| plan.preemptions_with(thread) <= self.bound)
            .count()
    }

    fn descend(&self, node: &mut Node<Plan>) -> Plan {
        Plan {
            preemptions: node.plan.preemptions_with(node.step.thread),
            ..Plan::default()
        }
    }

    /// For each new event, considers the sources of its synchronization edges and the last
    /// conflicting event of each other thread, even if events between the two order them. A
    /// reversal that also moves the events between may exceed the bound.
    fn plan_reversals(&self, execution: &Execution, unseen: usize, path: &mut [Node<Plan>]) {
        if self.is_exhaustive {
            return;
        }
        let mut seen = Vec::new();
        for (second, event) in execution.events_from(unseen) {
            if event.step.choice > 0 {
                continue;
            }
            for edge in execution.edges(second) {
                let position = edge.index();
                let [start, yields] = execution.starts_of_run(position);
                for position in [position, start, yields] {
                    let plan = &mut path[position].plan;
                    if plan.enabled.contains(&event.thread()) {
                        plan.add(event.thread());
                    }
                }
            }
            seen.clear();
            for first in execution.earlier_accesses(second) {
                let earlier = execution.event(first);
                let thread = earlier.thread();
                if thread == event.thread()
                    || seen.contains(&thread)
                    || !earlier.op.conflicts_with(event.op)
                {
                    continue;
                }
                seen.push(thread);
                if earlier.is_fixed || execution.is_before_program(first, second) {
                    continue;
                }
                let position = first.index();
                let [start, yields] = execution.starts_of_run(position);
                for position in [position, start, yields] {
                    self.backtrack(execution, position, second, &mut path[position].plan);
                }
            }
        }
    }

    fn reversal(&self, _race: Race, _execution: &Execution) -> Option<Infallible> {
        None
    }

    fn insert(&self, _node: &mut Node<Plan>, reversal: Infallible) {
        match reversal {}
    }

    fn leaves_out(&self) -> bool {
        self.leaves_out.get()
    }
}
