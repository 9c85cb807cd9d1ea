//! The condition on sequentially consistent accesses and fences (RC11: psc is acyclic; Lahav et
//! al., PLDI 2017).
//!
//! The relations of the paper: po is program order, rf reads-from, co coherence order, and hb
//! happens-before. rb relates a read to the writes after the one that it reads from. eco is (rf ∪
//! co ∪ rb)⁺. scb is a subset of po ∪ hb ∪ co ∪ rb. psc is made of these relations (see
//! [`Graph::is_psc`]).

use super::events::{At, Edges, Event, Graph, Part};
use super::memory_model::happens_before;
use crate::execution::ObjectId;

/// A sequentially consistent access or fence.
struct Total<'a> {
    at: At,
    event: &'a Event,
    /// The position in coherence order of the write, or of the write from which the read reads.
    position: usize,
    /// The previous event of its thread at another object, and the sources of its edges.
    before: Edges,
    /// The next event of its thread at another object, and the events to which it has edges.
    after: Edges,
    /// For a fence, the accesses to each object that it orders.
    around: Vec<Around>,
}

impl Total<'_> {
    fn is_fence(&self) -> bool {
        self.event.part == Part::Other
    }
}

/// The accesses to an object that happen before and after a fence, by their positions in coherence
/// order.
#[derive(Clone, Copy, Default)]
struct Around {
    first_after: Option<usize>,
    first_write_after: Option<usize>,
    last_write_before: Option<usize>,
    last_read_before: Option<usize>,
}

impl Around {
    fn add_before(&mut self, part: Part, position: usize) {
        let last = match part {
            Part::Write => &mut self.last_write_before,
            Part::Read | Part::Other => &mut self.last_read_before,
        };
        *last = (*last).max(Some(position));
    }

    fn add_after(&mut self, part: Part, position: usize) {
        let least =
            |first: Option<usize>| Some(first.map_or(position, |first| first.min(position)));
        self.first_after = least(self.first_after);
        if part == Part::Write {
            self.first_write_after = least(self.first_write_after);
        }
    }

    /// Checks whether eco (extended coherence order) relates an access after the fence of `self` to
    /// an access before the fence of `before`.
    fn is_eco(&self, before: &Around) -> bool {
        let last = before.last_write_before.max(before.last_read_before);
        let is_from_before = self
            .first_after
            .zip(last)
            .is_some_and(|(first, last)| first < last);
        let write = self.first_write_after.zip(before.last_read_before);
        is_from_before || write.is_some_and(|(write, read)| write <= read)
    }
}

impl Graph {
    /// Checks whether psc is acyclic, provided that psc was acyclic before the events in `changed`
    /// were added.
    ///
    /// These events are the last ones of their threads, so a new cycle can leave them only by co or
    /// rb. The cycle contains one of them, or a fence that happens before one of them.
    pub(super) fn is_psc_acyclic(&self, changed: &[At]) -> bool {
        let leaves = |&&at: &&At| self.is_before_write(at, self.node(at));
        let mut changed = changed.iter().filter(leaves).peekable();
        if self.totals < 2 || changed.peek().is_none() {
            return true;
        }
        let totals = self.totals();
        !changed.any(|&at| self.is_on_psc_cycle(at, &totals))
    }

    /// Checks whether the event, or a fence that happens before it, is on a cycle of psc.
    fn is_on_psc_cycle(&self, at: At, totals: &[Total<'_>]) -> bool {
        let is_start = |total: &Total| {
            total.at == at || total.is_fence() && happens_before(total.at, at, self.node(at))
        };
        let mut starts = (0..totals.len()).filter(|&start| is_start(&totals[start]));
        starts.any(|start| {
            let mut is_reached = vec![false; totals.len()];
            let mut work = vec![start];
            while let Some(from) = work.pop() {
                for (to, total) in totals.iter().enumerate() {
                    if !is_reached[to] && self.is_psc(&totals[from], total) {
                        is_reached[to] = true;
                        work.push(to);
                    }
                }
            }
            is_reached[start]
        })
    }

    /// Returns the sequentially consistent accesses and fences.
    fn totals(&self) -> Vec<Total<'_>> {
        let edges_to = |(at, event): (At, &'_ Event)| {
            let sources = event.after.clone().into_iter();
            sources.map(move |source| (source, at))
        };
        let edges: Vec<(At, At)> = self.all().flat_map(edges_to).collect();
        let all = self.all().filter(|(_, event)| event.is_total());
        all.map(|(at, event)| self.total(at, event, &edges))
            .collect()
    }

    fn total<'a>(&self, at: At, event: &'a Event, edges: &[(At, At)]) -> Total<'a> {
        let own = &self.threads[at.thread.index()];
        let has_other_object = |&index: &u32| {
            let other = &own[index as usize];
            other.part == Part::Other || other.operation.object != event.operation.object
        };
        let of_thread = |index| At { index, ..at };
        let mut before: Edges = event.after.clone();
        before.extend((0..at.index).rev().find(has_other_object).map(of_thread));
        let edges = edges.iter().filter(|&&(source, _)| source == at);
        let mut after: Edges = edges.map(|&(_, event)| event).collect();
        let mut later = at.index + 1..own.len() as u32;
        after.extend(later.find(has_other_object).map(of_thread));
        let (position, around) = match event.is_total_fence() {
            true => (0, self.around(at)),
            false => (self.position_of(at, event), Vec::new()),
        };
        Total {
            at,
            event,
            position,
            before,
            after,
            around,
        }
    }

    /// Returns the position in coherence order of the write, or of the write from which the read
    /// reads.
    fn position_of(&self, at: At, event: &Event) -> usize {
        let write = match event.part {
            Part::Read => event.rf,
            Part::Write | Part::Other => Some(at),
        };
        self.position(event.operation.object, write)
    }

    /// Returns the accesses to each object before and after a fence.
    fn around(&self, fence: At) -> Vec<Around> {
        let mut around = vec![Around::default(); self.objects.len()];
        for (at, event) in self.all().filter(|(_, event)| event.part != Part::Other) {
            let own = &mut around[event.operation.object.index()];
            if happens_before(at, fence, self.node(fence)) {
                own.add_before(event.part, self.position_of(at, event));
            } else if happens_before(fence, at, event) {
                own.add_after(event.part, self.position_of(at, event));
            }
        }
        around
    }

    /// Checks whether psc relates two events: ([Esc] ∪ [Fsc]; hb?); scb; ([Esc] ∪ hb?; [Fsc]), or
    /// [Fsc]; (hb ∪ hb; eco; hb); [Fsc]. (RC11, section 3)
    ///
    /// For a fence and an access, it is enough to look for scb in three places: at the neighbour of
    /// the access in its thread, at the edges of the access, and at the accesses to its object.
    fn is_psc(&self, first: &Total<'_>, second: &Total<'_>) -> bool {
        let hb = |one: At, other: At| happens_before(one, other, self.node(other));
        let is_or_hb = |one: At, other: At| one == other || hb(one, other);
        let has_between = |object: ObjectId| {
            let mut all = self.at_object(object);
            all.any(|between| hb(first.at, between) && hb(between, second.at))
        };
        match (first.is_fence(), second.is_fence()) {
            (false, false) => self.is_scb(first, second),
            (true, true) => {
                let mut around = first.around.iter().zip(&second.around);
                hb(first.at, second.at) || around.any(|(after, before)| after.is_eco(before))
            }
            (true, false) => {
                let object = second.event.operation.object;
                let previous = second.at.index.checked_sub(1);
                let previous = previous.map(|index| At { index, ..second.at });
                let mut before = second.before.iter().copied().chain(previous);
                let after = first.around[object.index()].first_after;
                before.any(|before| is_or_hb(first.at, before))
                    || has_between(object)
                    || second.event.part == Part::Write
                        && after.is_some_and(|after| after < second.position)
            }
            (false, true) => {
                let object = first.event.operation.object;
                let next = At {
                    index: first.at.index + 1,
                    ..first.at
                };
                let next = (next != self.next_of(next.thread)).then_some(next);
                let mut after = first.after.iter().copied().chain(next);
                let before = second.around[object.index()].last_write_before;
                after.any(|after| is_or_hb(after, second.at))
                    || has_between(object)
                    || before.is_some_and(|before| first.position < before)
            }
        }
    }

    /// Returns the accesses to an object.
    fn at_object(&self, object: ObjectId) -> impl Iterator<Item = At> + '_ {
        let own = self.object(object);
        own.co.iter().chain(&own.reads).copied()
    }

    /// Checks whether scb relates two accesses.
    fn is_scb(&self, first: &Total<'_>, second: &Total<'_>) -> bool {
        let hb = |one: At, other: At| happens_before(one, other, self.node(other));
        let is_same_object = first.event.operation.object == second.event.operation.object;
        let is_before_write = second.event.part == Part::Write && first.position < second.position;
        let is_po = first.at.thread == second.at.thread && first.at.index < second.at.index;
        is_po
            || is_same_object && (is_before_write || hb(first.at, second.at))
            || second.event.after.contains(&first.at)
            || second.before.iter().any(|&before| {
                let mut after = first.after.iter();
                after.any(|&after| after == before || hb(after, before))
            })
    }

    /// Checks whether the event comes before a write in co or rb, other than the write of its own
    /// operation.
    fn is_before_write(&self, at: At, event: &Event) -> bool {
        let write = match event.part {
            Part::Other => return false,
            Part::Read => event.rf,
            Part::Write => Some(at),
        };
        let object = event.operation.object;
        let mut later = self.object(object).co[self.position(object, write)..].iter();
        let own = At {
            index: at.index + 1,
            ..at
        };
        later.any(|&later| event.part == Part::Write || !event.is_rmw || later != own)
    }
}
