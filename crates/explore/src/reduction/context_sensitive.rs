//! Context-sensitive DPOR on Source-DPOR (Albert, Arenas, García de la Banda, Gómez-Zamalloa, Stuckey,
//! CAV 2017): what is dependent in general may be independent in the state at hand.
//!
//! Sleep sets hold sequences: what follows one of them was explored, since it leads to a state that
//! another order of the same steps has led to. Here is what the sequences do to a search;
//! [`Comparing`](crate::Comparing) finds them by comparing states.
//!
//! Besides: an ordinary sleeper stays asleep when a dependent step is performed if both orders lead to
//! the same state (context-sensitive propagation). Of several threads the one with the shortest
//! sequence comes first (section 4 of the paper). An operation with alternatives is in no sequence and
//! is not propagated.

use super::source::{add_if_disjoint, remaining_awake};
use crate::execution::{EventId, Execution, Race, Step, ThreadId};
use crate::search::{Enabled, Node, Reduction, Sleeper};
use serde::{Deserialize, Serialize};

/// Source sets, and sleep sets of sequences.
#[derive(Default, Debug)]
pub struct ContextSensitive;

/// Steps in a row, each with the operation that it performs.
pub type SleepSequence = Vec<Sleeper>;

/// What is to be explored from a node, and which sequences need not be.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct SequencePlan {
    /// backtrack(E)
    backtrack: Vec<ThreadId>,
    /// sleep(E), but for those of length 1, which are ordinary sleepers.
    sequences: Vec<SleepSequence>,
    /// Sleepers that stay asleep though the node's current step is dependent with them.
    kept: Vec<Sleeper>,
    /// Sleepers that are the ends of sequences.
    ends: Vec<ThreadId>,
}

impl SequencePlan {
    /// Whether a sequence that is asleep is how `steps` begin.
    fn covers(&self, steps: &[Step]) -> bool {
        self.sequences.iter().any(|sequence| {
            sequence.len() <= steps.len()
                && sequence
                    .iter()
                    .zip(steps)
                    .all(|(sleeper, step)| sleeper.thread == step.thread)
        })
    }

    /// Length of the shortest sequence that the thread begins.
    fn shortest(&self, thread: ThreadId) -> usize {
        let own = self.sequences.iter().filter(|own| own[0].thread == thread);
        own.map(Vec::len).min().unwrap_or(usize::MAX)
    }

    /// These sleepers stay asleep.
    pub(crate) fn keep(&mut self, sleepers: Vec<Sleeper>) {
        self.kept = sleepers;
    }
}

impl Node<SequencePlan> {
    /// Whether these steps begin as a sequence that is asleep.
    pub(crate) fn is_covered(&self, steps: &[Step]) -> bool {
        self.is_asleep(steps[0].thread) || self.plan.covers(steps)
    }

    /// The sleepers that are the ends of sequences.
    pub(crate) fn ends(&self) -> impl Iterator<Item = Sleeper> + '_ {
        let is_end = |sleeper: &&Sleeper| self.plan.ends.contains(&sleeper.thread);
        self.sleep.iter().filter(is_end).copied()
    }

    /// sleep(E) := sleep(E) ∪ {sequence}
    pub(crate) fn add_sequence(&mut self, sequence: SleepSequence) {
        self.plan.sequences.push(sequence);
    }

    /// Sequences of length 1 are sleepers; longer ones of a sleeping thread say nothing more.
    fn fall_asleep(&mut self) {
        let Node { sleep, plan, .. } = self;
        plan.ends
            .retain(|&end| sleep.iter().any(|sleeper| sleeper.thread == end));
        let single = plan.sequences.extract_if(.., |own| own.len() == 1);
        let ends: Vec<Sleeper> = single.map(|own| own[0]).collect();
        plan.ends.extend(ends.iter().map(|end| end.thread));
        for sleeper in ends.into_iter().chain(std::mem::take(&mut plan.kept)) {
            if !sleep.iter().any(|other| other.thread == sleeper.thread) {
                sleep.push(sleeper);
            }
        }
        let is_asleep = |thread| sleep.iter().any(|sleeper| sleeper.thread == thread);
        plan.sequences.retain(|own| !is_asleep(own[0].thread));
    }

    /// {s ∈ sleep : next(t) is independent of all of s} ∪ {s : t.s ∈ sleep}
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
    /// I(v): the threads of which one must be in the backtrack set.
    type Reversal = Vec<ThreadId>;

    /// backtrack(E) := {p} for some p that is awake
    fn begin(&self, node: &mut Node<SequencePlan>, enabled: Enabled<'_>) -> Option<Step> {
        node.fall_asleep();
        let (thread, _) = enabled
            .iter()
            .filter(|&(thread, _)| !node.is_asleep(thread))
            .min_by_key(|&(thread, _)| node.plan.shortest(thread))?;
        node.plan.backtrack.push(thread);
        Some(Step::of(thread))
    }

    /// The next alternative; then the thread falls asleep, and some p ∈ backtrack(E) \ sleep follows.
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
            ends: node.plan.ends.clone(),
        }
    }

    /// v := notdep(f, E).e, its initials I(v)
    fn reversal(&self, race: Race, execution: &Execution) -> Option<Vec<ThreadId>> {
        super::Source.reversal(race, execution)
    }

    /// if I(v) and backtrack(E') are disjoint then add some q ∈ I(v) to backtrack(E')
    fn insert(&self, node: &mut Node<SequencePlan>, initials: Vec<ThreadId>) {
        add_if_disjoint(&mut node.plan.backtrack, &initials);
    }
}

/// v.u for the race (f, e): notdep(f, E).e, then f and what happens after f, E up to e. None where an
/// event had alternatives.
pub(crate) fn turned_round(race: Race, execution: &Execution) -> Option<Vec<Step>> {
    let (first, second) = (race.first.index(), race.second.index());
    let is_dependent = |&event: &EventId| execution.happens_before(race.first, event);
    let before = execution.notdep(race.first, second);
    let after = (first..second).map(EventId::at).filter(is_dependent);
    let events = before.chain([race.second]).chain(after);
    events
        .map(|event| {
            let event = execution.event(event);
            (event.alternatives == 1).then_some(event.step)
        })
        .collect()
}
