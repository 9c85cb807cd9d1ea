//! Vector clocks of the events of a graph. They are computed once, when an event is added.

use super::events::{At, Graph, Node, Part, Shape};
use super::frame::Written;
use crate::execution::{MemoryOrder, ObjectId, ThreadId};
use serde::{Deserialize, Serialize};

/// A vector clock: for each thread, how many of its first events the clock contains (*knows*).
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub(super) struct Clock {
    /// The numbers of the first threads. They are in an array, because most programs have no other
    /// threads, and an array is copied fast.
    first: [u32; FIRST],
    /// The numbers of the other threads. A missing number stands for 0.
    #[expect(clippy::box_collection, reason = "a pointer keeps clocks small")]
    others: Option<Box<Vec<u32>>>,
}

const FIRST: usize = 8;

impl Clock {
    /// Returns a clock that knows the events of one thread before this event.
    pub(super) fn of_thread(at: At) -> Clock {
        let mut clock = Clock::default();
        *clock.of_mut(at.thread) = at.index;
        clock
    }

    /// Checks whether the clock knows no event.
    fn is_empty(&self) -> bool {
        self.first == [0; FIRST] && self.others.is_none()
    }

    fn of_mut(&mut self, thread: ThreadId) -> &mut u32 {
        let Some(other) = thread.index().checked_sub(FIRST) else {
            return &mut self.first[thread.index()];
        };
        let others = self.others.get_or_insert_default();
        if others.len() <= other {
            others.resize(other + 1, 0);
        }
        &mut others[other]
    }
}

/// The clocks of an event.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub(super) struct Clocks {
    /// The events that happen before the event (hb), and the event itself.
    pub(super) hb: Clock,
    /// The events before the event in (po ∪ rf ∪ synchronization edges)⁺, and the event itself.
    pub(super) porf: Clock,
    /// Absent until the thread has released something or has read from a release sequence.
    releases: Option<Box<Releases>>,
}

/// The clocks for synchronization by release and acquire.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
struct Releases {
    /// The events that happen before an acquire fence at this point because of earlier reads.
    acquirable: Clock,
    /// The events that happen before the last release fence of the thread, and this fence itself.
    fence: Clock,
    /// The events that this write itself releases.
    released: Clock,
    /// The events that happen before an acquire that reads from this write.
    message: Clock,
}

impl Clocks {
    fn acquirable(&self) -> Option<&Clock> {
        Some(&self.releases.as_deref()?.acquirable)
    }

    fn message(&self) -> Option<&Clock> {
        Some(&self.releases.as_deref()?.message)
    }
}

/// Adds all events that `other` knows to `clock`.
pub(super) fn join(clock: &mut Clock, other: &Clock) {
    for (own, &other) in clock.first.iter_mut().zip(&other.first) {
        *own = (*own).max(other);
    }
    if let Some(others) = &other.others {
        let own = clock.others.get_or_insert_default();
        if own.len() < others.len() {
            own.resize(others.len(), 0);
        }
        for (own, &other) in own.iter_mut().zip(others.iter()) {
            *own = (*own).max(other);
        }
    }
}

/// Checks whether the clock knows the event.
pub(super) fn knows(clock: &Clock, at: At) -> bool {
    known_of(clock, at.thread) > at.index
}

/// Returns the number of events of the thread that the clock knows.
pub(super) fn known_of(clock: &Clock, thread: ThreadId) -> u32 {
    let known = match thread.index().checked_sub(FIRST) {
        Some(other) => clock.others.as_ref().and_then(|others| others.get(other)),
        None => clock.first.get(thread.index()),
    };
    known.copied().unwrap_or(0)
}

impl Graph {
    /// Returns the clocks of an event that is added.
    pub(super) fn clocks_of(&self, at: At, node: &Node) -> Clocks {
        let mut clocks = self.clocks_before(at, &node.after);
        if let (Part::Read, Some(source)) = (node.part, node.rf) {
            let write = self.node(source);
            join(&mut clocks.porf, &write.clocks.porf);
            if let Some(message) = write.clocks.message() {
                if node.order != MemoryOrder::Object {
                    join(
                        &mut clocks.releases.get_or_insert_default().acquirable,
                        message,
                    );
                }
                if node.order.acquires() {
                    join(&mut clocks.hb, message);
                }
            }
        }
        let is_fence = node.operation.shape == Shape::Fence;
        if is_fence
            && node.order.acquires()
            && let Some(acquirable) = clocks.acquirable().cloned()
        {
            join(&mut clocks.hb, &acquirable);
        }
        *clocks.hb.of_mut(at.thread) = at.index + 1;
        *clocks.porf.of_mut(at.thread) = at.index + 1;
        if is_fence && node.order.releases() {
            clocks.releases.get_or_insert_default().fence = clocks.hb.clone();
        }
        if node.part == Part::Write && node.order != MemoryOrder::Object {
            self.release(at, node, &mut clocks);
        }
        clocks
    }

    /// Returns the clocks of the previous event of the thread.
    fn previous(&self, at: At) -> Option<&Clocks> {
        let own = self.threads.get(at.thread.index())?;
        Some(&own[at.index.checked_sub(1)? as usize].clocks)
    }

    /// Returns the events that happen before an event with these synchronization edges.
    pub(super) fn hb_before(&self, at: At, after: &[At]) -> Clock {
        let previous = self.previous(at);
        let mut hb = previous.map_or_else(Clock::default, |clocks| clocks.hb.clone());
        for &edge in after {
            join(&mut hb, &self.node(edge).clocks.hb);
        }
        hb
    }

    /// Returns the prefix of a write that is not in the graph yet (see
    /// [`revisit`](super::revisit)).
    pub(super) fn prefix(&self, write: &Written) -> Clock {
        let previous = self.previous(self.next_of(write.thread));
        let mut prefix = previous.map_or_else(Clock::default, |clocks| clocks.porf.clone());
        for &edge in write.after.iter().chain(&write.rf) {
            join(&mut prefix, &self.node(edge).clocks.porf);
        }
        prefix
    }

    /// Returns the clocks of the thread right before an event with these synchronization edges.
    fn clocks_before(&self, at: At, after: &[At]) -> Clocks {
        let mut clocks = match self.previous(at) {
            Some(previous) => Clocks {
                hb: previous.hb.clone(),
                porf: previous.porf.clone(),
                releases: previous.releases.as_ref().map(|previous| {
                    Box::new(Releases {
                        acquirable: previous.acquirable.clone(),
                        fence: previous.fence.clone(),
                        ..Releases::default()
                    })
                }),
            },
            None => Clocks::default(),
        };
        for &edge in after {
            let other = &self.node(edge).clocks;
            join(&mut clocks.hb, &other.hb);
            join(&mut clocks.porf, &other.porf);
        }
        clocks
    }

    /// Computes the events that happen before an acquire that reads from this write, with the
    /// release sequences of C++20, or of C11 if the write `continues` the sequence of its thread.
    fn release(&self, at: At, node: &Node, clocks: &mut Clocks) {
        let fence = clocks.releases.as_ref().map(|releases| &releases.fence);
        let mut released = match node.order.releases() {
            true => clocks.hb.clone(),
            false => fence.cloned().unwrap_or_default(),
        };
        let own = self.threads.get(at.thread.index());
        let earlier = own.map_or(&[][..], |own| &own[..at.index as usize]);
        // Without `releases`, the thread has released nothing.
        if node.operation.continues && clocks.releases.is_some() {
            for other in earlier {
                if other.part == Part::Write
                    && other.operation.object == node.operation.object
                    && let Some(releases) = &other.clocks.releases
                {
                    join(&mut released, &releases.released);
                }
            }
        }
        let mut message = released.clone();
        if let (true, Some(read)) = (node.is_rmw, earlier.last())
            && let Some(source) = read.rf
            && let Some(other) = self.node(source).clocks.message()
        {
            join(&mut message, other);
        }
        if !message.is_empty() {
            let releases = clocks.releases.get_or_insert_default();
            (releases.released, releases.message) = (released, message);
        }
    }

    /// Returns the first position in coherence order that an access may read from or be placed
    /// after. It is the position of the newest write that the access's clock knows, or from which a
    /// known read reads.
    pub(super) fn floor(&self, object: ObjectId, clock: &Clock) -> usize {
        let own = self.object(object);
        let written = own.co.iter().rposition(|&write| knows(clock, write));
        let mut floor = written.map_or(0, |position| position + 1);
        for &read in own.reads.iter().filter(|&&read| knows(clock, read)) {
            let source = self.node(read).rf;
            let mut newer = own.co[floor..].iter();
            floor += newer
                .rposition(|&write| Some(write) == source)
                .map_or(0, |position| position + 1);
        }
        floor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a clock that knows these numbers of events.
    fn clock(numbers: &[u32]) -> Clock {
        let mut clock = Clock::default();
        for (thread, &number) in numbers
            .iter()
            .enumerate()
            .filter(|&(_, &number)| number > 0)
        {
            *clock.of_mut(ThreadId::from_index(thread)) = number;
        }
        clock
    }

    #[test]
    fn a_join_takes_the_greater_number_of_each_thread() {
        let one = [3, 0, 1, 0, 0, 0, 2, 5, 0, 4, 0];
        let two = [1, 2, 0, 0, 0, 0, 2, 6, 7, 1, 0, 0, 9];
        for (one, two) in [
            (&one[..], &two[..]),
            (&two, &one),
            (&one[..7], &two),
            (&one, &two[..8]),
        ] {
            let mut joined = clock(one);
            join(&mut joined, &clock(two));
            for thread in 0..14 {
                let numbers = [one, two].map(|numbers| numbers.get(thread).copied().unwrap_or(0));
                let thread = ThreadId::from_index(thread);
                assert_eq!(known_of(&joined, thread), numbers[0].max(numbers[1]));
                let first = At { thread, index: 0 };
                assert_eq!(knows(&joined, first), numbers != [0, 0]);
            }
        }
        assert!(clock(&[]).is_empty() && !clock(&one).is_empty());
        assert!(
            !Clock::of_thread(At {
                thread: ThreadId::from_index(9),
                index: 1
            })
            .is_empty()
        );
    }
}
