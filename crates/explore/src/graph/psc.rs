//! The condition on sequentially consistent accesses and fences (RC11: psc is acyclic).

use super::events::{At, Edges, Event, Graph, Part};
use super::memory_model::happens_before;

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

/// A sequentially consistent access.
struct Total<'a> {
    at: At,
    event: &'a Event,
    /// Its position in coherence order, or that of the write that it reads from.
    place: usize,
    /// The previous event of its thread at another object, and the sources of its edges.
    before: Edges,
    /// The next event of its thread at another object, and the events to which it has edges.
    after: Edges,
}

impl Graph {
    /// Checks whether psc is acyclic, provided that psc was acyclic before the events in `changed` were
    /// added.
    ///
    /// These events are the last ones of their threads, so a cycle leaves them by co or rb. Without
    /// fences, psc relates sequentially consistent accesses only.
    pub(super) fn is_psc_acyclic(&self, changed: &[At]) -> bool {
        let may_be_on_cycle = |&&at: &&At| {
            let event = self.node(at);
            (event.is_total() || self.fences > 0) && self.is_before_write(at, event)
        };
        let mut changed = changed.iter().filter(may_be_on_cycle);
        let is_acyclic = match self.fences {
            _ if self.totals < 2 => true,
            0 => !changed.any(|&at| self.is_on_cycle_of_accesses(at)),
            _ => changed.next().is_none() || self.has_acyclic_psc(),
        };
        debug_assert_eq!(is_acyclic, self.has_acyclic_psc(), "cycles of psc");
        is_acyclic
    }

    /// Checks whether the access is on a cycle of scb between sequentially consistent accesses.
    fn is_on_cycle_of_accesses(&self, access: At) -> bool {
        let edges_to = |(at, event): (At, &'_ Event)| {
            let sources = event.after.clone().into_iter();
            sources.map(move |source| (source, at))
        };
        let edges: Vec<(At, At)> = self.all().flat_map(edges_to).collect();
        let all = self.all().filter(|(_, event)| event.is_total());
        let accesses: Vec<Total> = all
            .map(|(at, event)| self.total(at, event, &edges))
            .collect();
        let start = accesses.iter().position(|own| own.at == access);
        let start = start.expect("the access is sequentially consistent");
        let mut is_reached = vec![false; accesses.len()];
        let mut work = vec![start];
        while let Some(from) = work.pop() {
            for (to, access) in accesses.iter().enumerate() {
                if !is_reached[to] && self.is_scb(&accesses[from], access) {
                    is_reached[to] = true;
                    work.push(to);
                }
            }
        }
        is_reached[start]
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
        let write = match event.part {
            Part::Read => event.rf,
            Part::Write | Part::Other => Some(at),
        };
        Total {
            at,
            event,
            place: self.position(event.operation.object, write),
            before,
            after,
        }
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
