//! The condition on sequentially consistent accesses and fences (RC11: psc is acyclic).

use super::events::{At, Edges, Event, Graph, Part};
use super::memory_model::happens_before;
use crate::execution::ObjectId;

/// A relation between the events of a graph, as a matrix of bits.
#[derive(Clone)]
struct Relation {
    rows: Vec<Vec<u64>>,
}

impl Relation {
    fn new(size: usize) -> Relation {
        let words = size.div_ceil(64);
        Relation {
            rows: vec![vec![0; words]; size],
        }
    }

    /// Returns the pairs for which the condition holds.
    fn of(size: usize, holds: impl Fn(usize, usize) -> bool) -> Relation {
        let mut relation = Relation::new(size);
        for from in 0..size {
            for to in 0..size {
                if holds(from, to) {
                    relation.add(from, to);
                }
            }
        }
        relation
    }

    fn add(&mut self, from: usize, to: usize) {
        self.rows[from][to / 64] |= 1 << (to % 64);
    }

    fn has(&self, from: usize, to: usize) -> bool {
        self.rows[from][to / 64] >> (to % 64) & 1 == 1
    }

    fn or(mut self, other: &Relation) -> Relation {
        for (own, other) in self.rows.iter_mut().zip(&other.rows) {
            for (own, other) in own.iter_mut().zip(other) {
                *own |= other;
            }
        }
        self
    }

    /// Returns the composition `self; other`.
    fn then(&self, other: &Relation) -> Relation {
        let size = self.rows.len();
        let mut result = Relation::new(size);
        for from in 0..size {
            for middle in 0..size {
                if self.has(from, middle) {
                    let (row, other) = (&mut result.rows[from], &other.rows[middle]);
                    row.iter_mut()
                        .zip(other)
                        .for_each(|(own, other)| *own |= other);
                }
            }
        }
        result
    }

    /// Returns the identity on the events for which the condition holds.
    fn identity(size: usize, holds: impl Fn(usize) -> bool) -> Relation {
        Relation::of(size, |from, to| from == to && holds(from))
    }

    fn closure(mut self) -> Relation {
        let size = self.rows.len();
        for middle in 0..size {
            let through = self.rows[middle].clone();
            for from in 0..size {
                if self.has(from, middle) {
                    let row = self.rows[from].iter_mut();
                    row.zip(&through).for_each(|(own, other)| *own |= other);
                }
            }
        }
        self
    }

    fn is_acyclic(&self) -> bool {
        let size = self.rows.len();
        let closure = self.clone().closure();
        (0..size).all(|event| !closure.has(event, event))
    }
}

/// A sequentially consistent access or fence.
struct Total<'a> {
    at: At,
    event: &'a Event,
    /// The position in coherence order of the write, or of the write from which the read reads.
    place: usize,
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

/// The accesses to an object before and after a fence in hb, by their positions in coherence order.
#[derive(Clone, Copy, Default)]
struct Around {
    first_after: Option<usize>,
    first_write_after: Option<usize>,
    last_write_before: Option<usize>,
    last_read_before: Option<usize>,
}

impl Around {
    fn add_before(&mut self, part: Part, place: usize) {
        let last = match part {
            Part::Write => &mut self.last_write_before,
            Part::Read | Part::Other => &mut self.last_read_before,
        };
        *last = (*last).max(Some(place));
    }

    fn add_after(&mut self, part: Part, place: usize) {
        let least = |first: Option<usize>| Some(first.map_or(place, |first| first.min(place)));
        self.first_after = least(self.first_after);
        if part == Part::Write {
            self.first_write_after = least(self.first_write_after);
        }
    }

    /// Checks whether eco relates an access after one fence to an access before another fence.
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
    /// Checks whether psc is acyclic, provided that psc was acyclic before the events in `changed` were
    /// added.
    ///
    /// These events are the last ones of their threads, so a cycle leaves them by co or rb. It contains
    /// one of them, or a fence that happens before one of them.
    pub(super) fn is_psc_acyclic(&self, changed: &[At]) -> bool {
        let leaves = |&&at: &&At| self.is_before_write(at, self.node(at));
        let is_acyclic = self.totals < 2 || {
            let mut changed = changed.iter().filter(leaves).peekable();
            changed.peek().is_none() || {
                let totals = self.totals();
                !changed.any(|&at| self.is_on_psc_cycle(at, &totals))
            }
        };
        debug_assert_eq!(is_acyclic, self.has_acyclic_psc(), "cycles of psc");
        is_acyclic
    }

    /// Checks whether the event, or a fence that happens before it, is on a cycle of psc.
    fn is_on_psc_cycle(&self, at: At, totals: &[Total<'_>]) -> bool {
        let is_start = |total: &Total| {
            total.at == at || total.is_fence() && happens_before(total.at, at, self.node(at))
        };
        let starts = (0..totals.len()).filter(|&start| is_start(&totals[start]));
        starts.into_iter().any(|start| {
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
        let is_fence = event.is_total_fence();
        Total {
            at,
            event,
            place: if is_fence {
                0
            } else {
                self.place_of(at, event)
            },
            before,
            after,
            around: if is_fence {
                self.around(at)
            } else {
                Vec::new()
            },
        }
    }

    /// Returns the position in coherence order of the write, or of the write from which the read reads.
    fn place_of(&self, at: At, event: &Event) -> usize {
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
                own.add_before(event.part, self.place_of(at, event));
            } else if happens_before(fence, at, event) {
                own.add_after(event.part, self.place_of(at, event));
            }
        }
        around
    }

    /// Checks whether psc relates two events.
    fn is_psc(&self, first: &Total<'_>, second: &Total<'_>) -> bool {
        let hb = |one: At, other: At| happens_before(one, other, self.node(other));
        let is_or_hb = |one: At, other: At| one == other || hb(one, other);
        match (first.is_fence(), second.is_fence()) {
            (false, false) => self.is_scb(first, second),
            (true, true) => {
                let mut around = first.around.iter().zip(&second.around);
                hb(first.at, second.at) || around.any(|(after, before)| after.is_eco(before))
            }
            (true, false) => {
                let previous = second.at.index.checked_sub(1);
                let previous = previous.map(|index| At { index, ..second.at });
                let mut before = second.before.iter().copied().chain(previous);
                let object = second.event.operation.object;
                before.any(|before| is_or_hb(first.at, before))
                    || self
                        .at_object(object)
                        .any(|between| hb(first.at, between) && hb(between, second.at))
                    || second.event.part == Part::Write
                        && first.around[object.index()]
                            .first_after
                            .is_some_and(|first| first < second.place)
            }
            (false, true) => {
                let next = At {
                    index: first.at.index + 1,
                    ..first.at
                };
                let is_there = (next.index as usize) < self.threads[next.thread.index()].len();
                let mut after = first.after.iter().copied().chain(is_there.then_some(next));
                let object = first.event.operation.object;
                after.any(|after| is_or_hb(after, second.at))
                    || self
                        .at_object(object)
                        .any(|between| hb(first.at, between) && hb(between, second.at))
                    || second.around[object.index()]
                        .last_write_before
                        .is_some_and(|last| first.place < last)
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
        let is_before_write = second.event.part == Part::Write && first.place < second.place;
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

    /// Checks by the definition of psc whether it is acyclic. This is slow.
    fn has_acyclic_psc(&self) -> bool {
        let events: Vec<(At, &Event)> = self.all().collect();
        let size = events.len();
        let object = |event: usize| {
            let node = events[event].1;
            (node.part != Part::Other).then_some(node.operation.object)
        };
        let same_object = |a: usize, b: usize| object(a).is_some() && object(a) == object(b);
        let is_before = |a: usize, b: usize| {
            events[a].0.thread == events[b].0.thread && events[a].0.index < events[b].0.index
        };
        let po = Relation::of(size, is_before);
        let hb = Relation::of(size, |a, b| {
            happens_before(events[a].0, events[b].0, events[b].1)
        });
        let edge = |a: usize, b: usize| events[b].1.after.contains(&events[a].0);
        let place = |event: usize| {
            let (at, node) = events[event];
            let write = match node.part {
                Part::Read => node.rf,
                _ => Some(at),
            };
            let co = &self.object(node.operation.object).co;
            match write {
                None => Some(0),
                Some(write) => co
                    .iter()
                    .position(|&own| own == write)
                    .map(|place| place + 1),
            }
        };
        let places: Vec<Option<usize>> = (0..size)
            .map(|event| object(event).and_then(|_| place(event)))
            .collect();
        let part = |event: usize| events[event].1.part;
        let later = |a: usize, b: usize| {
            same_object(a, b)
                && part(b) == Part::Write
                && a != b
                && places[a].zip(places[b]).is_some_and(|(a, b)| a < b)
        };
        let co = Relation::of(size, |a, b| part(a) == Part::Write && later(a, b));
        let rb = Relation::of(size, |a, b| part(a) == Part::Read && later(a, b));
        let rf = Relation::of(size, |a, b| {
            part(b) == Part::Read && events[b].1.rf == Some(events[a].0)
        });
        let skip = Relation::of(size, |a, b| {
            is_before(a, b) && !same_object(a, b) || edge(a, b)
        });
        let all = Relation::identity(size, |_| true);
        let hb_or_same = hb.clone().or(&all);
        let within = Relation::of(size, |a, b| {
            same_object(a, b) && happens_before(events[a].0, events[b].0, events[b].1)
        });
        let scb = skip
            .then(&hb_or_same)
            .then(&skip)
            .or(&po)
            .or(&skip)
            .or(&within)
            .or(&co)
            .or(&rb);
        let totals = Relation::identity(size, |event| events[event].1.is_total());
        let fences = Relation::identity(size, |event| events[event].1.is_total_fence());
        let from = fences.then(&hb_or_same).or(&totals);
        let to = hb_or_same.then(&fences).or(&totals);
        let base = from.then(&scb).then(&to);
        let eco = rf.or(&co).or(&rb).closure();
        let around = hb.then(&eco).then(&hb).or(&hb);
        let fence = fences.then(&around).then(&fences);
        base.or(&fence).is_acyclic()
    }
}
