//! The memory models as axioms over relations, as they are published: RC11 (Lahav et al., PLDI
//! 2017), TSO and sequential consistency.

use super::relation::Relation;
use explore::{MemoryModel, MemoryOrder};

/// An event of a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Event {
    pub(super) thread: usize,
    pub(super) kind: Kind,
    pub(super) variable: Option<usize>,
    pub(super) order: MemoryOrder,
    /// Whether the event is a part of a read-modify-write that has a read and a write.
    pub(super) is_rmw: bool,
    /// Whether the event is a part of an operation that locks the bus, even if it fails.
    pub(super) is_locked: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Read,
    Write,
    Fence,
    Choice,
}

/// A candidate: events thread by thread in program order, with the reads-from relation (rf) and the
/// coherence order (co).
pub(super) struct Candidate<'a> {
    pub(super) events: &'a [Event],
    /// For each event, the write that it reads from.
    pub(super) sources: &'a [Option<usize>],
    /// For each event that is a write, its position in coherence order, from 1.
    pub(super) positions: &'a [usize],
}

/// Checks whether the candidate is consistent. The caller must check atomicity ([`is_atomic`]).
pub(super) fn holds(candidate: &Candidate<'_>, memory: MemoryModel, is_c11: bool) -> bool {
    let events = candidate.events;
    let size = events.len();
    let is_read = |event: usize| events[event].kind == Kind::Read;
    let is_write = |event: usize| events[event].kind == Kind::Write;
    let same = |a: usize, b: usize| {
        events[a].variable.is_some() && events[a].variable == events[b].variable
    };
    let po = Relation::of(size, |a, b| a < b && events[a].thread == events[b].thread);
    let rf = Relation::of(size, |a, b| is_read(b) && candidate.sources[b] == Some(a));
    let co = Relation::of(size, |a, b| {
        is_write(a) && is_write(b) && same(a, b) && candidate.positions[a] < candidate.positions[b]
    });
    let position_read =
        |read: usize| candidate.sources[read].map_or(0, |write| candidate.positions[write]);
    let rb = Relation::of(size, |a, b| {
        is_read(a) && is_write(b) && same(a, b) && position_read(a) < candidate.positions[b]
    });
    let within = Relation::of(size, same);
    let communication = rf.or(&co).or(&rb);
    match memory {
        MemoryModel::Sc | MemoryModel::Auto => po.or(&communication).is_acyclic(),
        MemoryModel::Tso => {
            let is_plain_write = |event: usize| {
                is_write(event)
                    && !events[event].is_locked
                    && events[event].order != MemoryOrder::SeqCst
            };
            let is_plain_read = |event: usize| is_read(event) && !events[event].is_locked;
            let is_barrier = |event: usize| {
                events[event].is_locked
                    || events[event].kind == Kind::Fence
                        && events[event].order == MemoryOrder::SeqCst
            };
            let fenced = po.then(&Relation::on(size, is_barrier)).then(&po);
            let delayed = Relation::of(size, |a, b| is_plain_write(a) && is_plain_read(b));
            // On x86, a choice and a fence weaker than `SeqCst` compile to no instruction.
            let is_there = |event: usize| {
                !matches!(events[event].kind, Kind::Choice | Kind::Fence) || is_barrier(event)
            };
            let kept = Relation::of(size, |a, b| {
                po.has(a, b)
                    && is_there(a)
                    && is_there(b)
                    && (!delayed.has(a, b) || fenced.has(a, b))
            });
            let external = Relation::of(size, |a, b| {
                rf.has(a, b) && events[a].thread != events[b].thread
            });
            po.and(&within).or(&communication).is_acyclic()
                && kept.or(&external).or(&co).or(&rb).is_acyclic()
        }
        MemoryModel::Ra | MemoryModel::Rc11 => {
            let order = |event: usize| match (memory, events[event].kind) {
                (MemoryModel::Ra, Kind::Fence) => MemoryOrder::Relaxed,
                (MemoryModel::Ra, _) => MemoryOrder::AcqRel,
                _ => events[event].order,
            };
            let on = |holds: &dyn Fn(usize) -> bool| Relation::on(size, holds);
            let fences = on(&|event| events[event].kind == Kind::Fence);
            let releases = on(&|event| order(event).releases() && !is_read(event));
            let acquires = on(&|event| order(event).acquires() && !is_write(event));
            let rmw = Relation::of(size, |a, b| {
                is_read(a) && is_write(b) && events[a].is_rmw && b == a + 1 && events[b].is_rmw
            });
            let writes = on(&is_write);
            let chain = rf.then(&rmw).star();
            let rs = match is_c11 {
                true => writes
                    .then(&po.and(&within).or_same())
                    .then(&writes)
                    .then(&chain),
                false => writes.then(&chain),
            };
            let sw = releases
                .then(&fences.then(&po).or_same())
                .then(&rs)
                .then(&rf)
                .then(&on(&is_read))
                .then(&po.then(&fences).or_same())
                .then(&acquires);
            let hb = po.or(&sw).plus();
            let eco = communication.plus();
            if !hb.then(&eco.or_same()).is_irreflexive() || !po.or(&rf).is_acyclic() {
                return false;
            }
            if memory == MemoryModel::Ra {
                return true;
            }
            let total = on(&|event| {
                order(event) == MemoryOrder::SeqCst && events[event].kind != Kind::Choice
            });
            let total_fences = total.and(&fences);
            let other = Relation::of(size, |a, b| po.has(a, b) && !same(a, b));
            let scb = po
                .or(&other.then(&hb).then(&other))
                .or(&hb.and(&within))
                .or(&co)
                .or(&rb);
            let base = total
                .or(&total_fences.then(&hb.or_same()))
                .then(&scb)
                .then(&total.or(&hb.or_same().then(&total_fences)));
            let between = total_fences
                .then(&hb.or(&hb.then(&eco).then(&hb)))
                .then(&total_fences);
            base.or(&between).is_acyclic()
        }
    }
}

/// Checks atomicity: the write of a read-modify-write immediately follows, in coherence order, the
/// write that it reads from.
pub(super) fn is_atomic(candidate: &Candidate<'_>) -> bool {
    let mut parts = candidate.events.iter().enumerate();
    parts.all(|(index, event)| {
        let is_write = event.kind == Kind::Write && event.is_rmw;
        !is_write || {
            let source = candidate.sources[index - 1];
            let before = source.map_or(0, |write| candidate.positions[write]);
            candidate.positions[index] == before + 1
        }
    })
}
