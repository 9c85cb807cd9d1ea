//! The memory models: which graphs are consistent. rf is reads-from and co is coherence order. rb
//! relates a read to the writes after the one that it reads from.

use super::clocks::{Clock, knows};
use super::events::{At, Event, Graph, Node, Part, Shape};
use crate::const_text::is_same;
use crate::execution::MemoryOrder;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// A memory model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryModel {
    /// Sequential consistency: all accesses are in one order.
    #[default]
    Sc,
    /// Total store order, the model of x86 (Owens, Sarkar, Sewell, TPHOLs 2009): stores are
    /// buffered.
    Tso,
    /// Release and acquire: every atomic read is an acquire and every atomic write is a release,
    /// even if the ordering is `Relaxed` or `SeqCst`.
    Ra,
    /// The repaired model of C11 (Lahav et al., PLDI 2017). It permits no load buffering.
    Rc11,
    /// `Sc`, until a program accesses shared memory with an ordering weaker than `SeqCst`. Then the
    /// search starts again under `Rc11`. Without weaker orderings, `Rc11` would permit nothing more
    /// than `Sc`. Strategies treat `Auto` as `Sc`.
    Auto,
}

/// A name that is not the name of a memory model.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no memory model {0:?}; the models are {names}", names = MemoryModel::ALL.map(MemoryModel::name).join(", "))]
pub struct UnknownMemoryModel(pub String);

impl FromStr for MemoryModel {
    type Err = UnknownMemoryModel;

    fn from_str(name: &str) -> Result<MemoryModel, UnknownMemoryModel> {
        let mut all = MemoryModel::ALL.into_iter();
        all.find(|memory| memory.name() == name)
            .ok_or_else(|| UnknownMemoryModel(name.to_owned()))
    }
}

impl fmt::Display for MemoryModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            MemoryModel::Sc => "sequential consistency",
            MemoryModel::Tso => "TSO",
            MemoryModel::Ra => "release-acquire",
            MemoryModel::Rc11 => "RC11",
            MemoryModel::Auto => "sequential consistency or RC11",
        })
    }
}

impl MemoryModel {
    /// All models.
    pub const ALL: [MemoryModel; 5] = [
        MemoryModel::Auto,
        MemoryModel::Sc,
        MemoryModel::Tso,
        MemoryModel::Ra,
        MemoryModel::Rc11,
    ];

    /// Returns the name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            MemoryModel::Sc => "sc",
            MemoryModel::Tso => "tso",
            MemoryModel::Ra => "ra",
            MemoryModel::Rc11 => "rc11",
            MemoryModel::Auto => "auto",
        }
    }

    /// Returns the model with this name. In a constant, an unknown name is a compile error.
    ///
    /// # Panics
    ///
    /// Panics if no model has this name.
    #[track_caller]
    pub const fn named(name: &str) -> MemoryModel {
        let mut all = MemoryModel::ALL.as_slice();
        while let [memory, others @ ..] = all {
            if is_same(memory.name().as_bytes(), name.as_bytes()) {
                return *memory;
            }
            all = others;
        }
        panic!("there is no such memory model; the models are auto, sc, tso, ra, rc11")
    }

    /// Checks whether a read may read from a write other than the last one.
    pub const fn is_weak(self) -> bool {
        !matches!(self, MemoryModel::Sc | MemoryModel::Auto)
    }

    /// Returns the ordering that this model gives to an access with this ordering.
    pub(super) fn order(self, order: MemoryOrder) -> MemoryOrder {
        match (self, order) {
            (MemoryModel::Ra, MemoryOrder::Object) => MemoryOrder::Object,
            (MemoryModel::Ra, _) => MemoryOrder::AcqRel,
            _ => order,
        }
    }

    /// Returns the clock that coherence applies to `at`, the next event of its thread, which has
    /// these synchronization edges. The event must not read from a write that is older than a write
    /// that the clock knows, and must not be placed before a write that the clock knows.
    pub(super) fn known(self, graph: &Graph, at: At, after: &[At]) -> Clock {
        match self {
            MemoryModel::Rc11 | MemoryModel::Ra => graph.hb_before(at, after),
            // Coherence with other threads follows from the order of all events.
            MemoryModel::Sc | MemoryModel::Auto | MemoryModel::Tso => Clock::of_thread(at),
        }
    }

    /// Checks whether the graph is consistent, provided that it was consistent before the last
    /// events were added. Of these events, only those in `changed` can close a cycle. Coherence is
    /// checked by [`Graph::floor`].
    pub(super) fn permits(self, graph: &Graph, changed: &[At]) -> bool {
        match self {
            MemoryModel::Ra => true,
            MemoryModel::Rc11 => graph.is_psc_acyclic(changed),
            MemoryModel::Sc | MemoryModel::Auto | MemoryModel::Tso => {
                let is_on_cycle = |&at: &At| graph.is_on_cycle(at, self == MemoryModel::Tso);
                !changed.iter().any(is_on_cycle)
            }
        }
    }
}

impl Graph {
    /// Checks whether the event is on a cycle of program order (or what TSO keeps of it),
    /// synchronization edges, rf, co and rb.
    fn is_on_cycle(&self, event: At, is_tso: bool) -> bool {
        let mut seen = BTreeSet::new();
        let mut work = Vec::new();
        self.predecessors(event, is_tso, &mut work);
        while let Some(at) = work.pop() {
            if at == event {
                return true;
            }
            if seen.insert(at) {
                self.predecessors(at, is_tso, &mut work);
            }
        }
        false
    }

    fn predecessors(&self, at: At, is_tso: bool, found: &mut Vec<At>) {
        let node = self.node(at);
        match is_tso {
            true => self.kept_before(at, node, found),
            false => {
                found.extend(node.after.iter());
                let index = at.index.checked_sub(1);
                found.extend(index.map(|index| At { index, ..at }));
            }
        }
        let object = node.operation.object;
        match node.part {
            // A thread may read its own store before the store leaves the buffer.
            Part::Read => {
                let is_external = |write: &At| !is_tso || write.thread != at.thread;
                found.extend(node.rf.filter(is_external));
            }
            Part::Write => {
                let co = &self.object(object).co;
                let Some(position) = co.iter().rposition(|&own| own == at) else {
                    return;
                };
                let previous = self.write_at(object, position);
                found.extend(previous);
                let reads = self.object(object).reads.iter();
                found.extend(reads.filter(|&&read| self.node(read).rf == previous && read != at));
            }
            Part::Other => {}
        }
    }

    /// Adds the earlier events of the thread that TSO keeps before this event. Also adds the
    /// sources of the synchronization edges to this event and to the earlier events, back to the
    /// last barrier.
    fn kept_before(&self, at: At, node: &Node, found: &mut Vec<At>) {
        self.sources_of(node, found);
        if is_no_instruction(node) {
            return;
        }
        let own = &self.threads[at.thread.index()];
        let may_be_early = node.part == Part::Read && !is_locked(node);
        for index in (0..at.index).rev() {
            let earlier = &own[index as usize];
            let is_barrier = is_barrier(earlier);
            let may_be_late = earlier.part == Part::Write
                && !is_locked(earlier)
                && earlier.order != MemoryOrder::SeqCst;
            if is_barrier || !(is_no_instruction(earlier) || may_be_early && may_be_late) {
                found.push(At { index, ..at });
            }
            if is_barrier {
                return;
            }
            self.sources_of(earlier, found);
        }
    }

    /// Adds the sources of the synchronization edges to an event. No store is delayed across a
    /// synchronization edge. So the earlier events of the source's thread are also added, back to
    /// the last barrier.
    fn sources_of(&self, node: &Node, found: &mut Vec<At>) {
        for &source in &node.after {
            for index in (0..=source.index).rev() {
                let at = At { index, ..source };
                found.push(at);
                if is_barrier(self.node(at)) {
                    break;
                }
            }
        }
    }
}

/// Checks whether the access locks the bus: a read-modify-write, even one that fails.
fn is_locked(node: &Node) -> bool {
    node.operation.shape == Shape::ReadModifyWrite
}

/// Checks whether the event is a choice, or a fence for which x86 needs no instruction.
fn is_no_instruction(node: &Node) -> bool {
    match node.operation.shape {
        Shape::Choice => true,
        Shape::Fence => node.order != MemoryOrder::SeqCst,
        Shape::Load | Shape::Store | Shape::ReadModifyWrite | Shape::Other => false,
    }
}

/// Checks whether no store is delayed across the event.
fn is_barrier(node: &Node) -> bool {
    match node.operation.shape {
        Shape::Fence => node.order == MemoryOrder::SeqCst,
        Shape::ReadModifyWrite | Shape::Other => true,
        Shape::Load | Shape::Store | Shape::Choice => false,
    }
}

/// Checks whether `first` happens before `second`, which is `event`.
pub(super) fn happens_before(first: At, second: At, event: &Event) -> bool {
    first != second && knows(&event.clocks.hb, first)
}
