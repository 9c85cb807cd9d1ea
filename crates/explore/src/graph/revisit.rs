//! Backward revisits: a read that is already in the graph is changed to read from a new write,
//! which is about to be added.
//!
//! The *prefix* of a write consists of the events on which the write depends. A path of program
//! order, reads-from and synchronization edges leads from each of these events to the write (its
//! clock `porf`).

use super::clocks::{Clock, known_of, knows};
use super::events::{At, Event, Graph, Node, Part};
use crate::execution::{ObjectId, Renumbering, ThreadId};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// What was removed from a graph.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Cut {
    /// The events in the order of their removal, each with its position in the order of the reads
    /// or writes of its object.
    events: Vec<(ThreadId, Event, Option<usize>)>,
    /// The position of the first step that was removed.
    pub(super) first: usize,
    /// The steps from `first` on, as they were before the cut.
    steps: Vec<At>,
}

impl Cut {
    /// Checks whether writes were removed.
    pub(super) fn has_writes(&self) -> bool {
        let mut events = self.events.iter();
        events.any(|(_, event, _)| event.part == Part::Write)
    }
}

/// The error for a cut that does not fit the graph.
#[derive(Debug)]
pub(super) struct ForeignCut;

impl Graph {
    /// Returns the reads of the object that can be changed to read from a new write with this
    /// prefix: the write does not depend on the read, and all events that are removed are maximal.
    /// If they are not, the search reaches the resulting graph in another way.
    pub(super) fn revisitable(&self, object: ObjectId, prefix: &Clock) -> SmallVec<[At; 4]> {
        let reads = self.object(object).reads.iter().copied();
        reads
            .filter(|&read| !knows(prefix, read) && self.may_revisit(read, prefix))
            .collect()
    }

    /// Returns the new positions of the steps in the graph in which `read` reads from a new write
    /// with this prefix.
    pub(super) fn positions_after(&self, read: At, prefix: &Clock) -> Renumbering {
        let stamp = self.node(read).stamp;
        Renumbering::new(self.steps.len(), |step| {
            let step = self.steps[step];
            self.node(step).stamp < stamp || knows(prefix, step)
        })
    }

    /// Checks whether all events that are removed if `read` reads from a new write with this prefix
    /// are maximal.
    fn may_revisit(&self, read: At, prefix: &Clock) -> bool {
        let stamp = self.node(read).stamp;
        (0..self.threads.len()).all(|thread| {
            let thread = ThreadId::from_index(thread);
            let stays = known_of(prefix, thread) as usize;
            let own = self.threads[thread.index()].iter().enumerate();
            // The stamps of a thread's events increase.
            own.skip(stays)
                .rev()
                .take_while(|(_, event)| event.stamp >= stamp)
                .all(|(index, event)| {
                    let index = index as u32;
                    self.is_maximal(At { thread, index }, event, prefix)
                })
        })
    }

    /// Removes the steps that do not stay.
    pub(super) fn cut(&mut self, new_positions: &Renumbering) -> Cut {
        let first = new_positions.first();
        let steps = self.steps.split_off(first);
        let mut events = Vec::with_capacity(2 * steps.len());
        for (&At { thread, index }, stays) in steps.iter().zip(new_positions.stays()).rev() {
            while !stays && self.threads[thread.index()].len() > index as usize {
                let (event, position) = self.pop(thread);
                events.push((thread, event, position));
            }
        }
        let stay = steps.iter().zip(new_positions.stays());
        let stay = stay.filter_map(|(&step, stays)| stays.then_some(step));
        self.steps.extend(stay);
        Cut {
            events,
            first,
            steps,
        }
    }

    /// Undoes the cut.
    pub(super) fn restore(&mut self, cut: Cut) {
        self.try_restore(cut).expect("the cut is from this graph");
    }

    /// Like [`restore`](Graph::restore), but fails if the cut is not from this graph.
    pub(super) fn try_restore(&mut self, cut: Cut) -> Result<(), ForeignCut> {
        for (thread, event, position) in cut.events.into_iter().rev() {
            self.put_back(thread, event, position).ok_or(ForeignCut)?;
        }
        self.steps.truncate(cut.first);
        self.steps.extend(cut.steps);
        Ok(())
    }

    /// Checks whether the event is maximal (as in TruSt). Only events of the prefix and events that
    /// were added before this event count. A read must read from the last write in coherence order.
    /// A write must be last in coherence order, and no read may read from it. A choice must be the
    /// first alternative.
    fn is_maximal(&self, at: At, node: &Node, prefix: &Clock) -> bool {
        let is_previous = |other: At| self.node(other).stamp <= node.stamp || knows(prefix, other);
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
