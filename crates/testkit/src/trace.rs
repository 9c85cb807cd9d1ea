//! The canonical key of a trace. Two executions have the same key if and only if they have the same
//! events and the same order of dependent events. The computation is deliberately naive and uses no
//! clocks.

use explore::{Access, EventId, Execution, Op, Step, ThreadId, ValueId};
use std::collections::BTreeMap;

/// An event that was performed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub(crate) step: Step,
    /// Number among the events of its thread, from 1.
    pub(crate) index: u32,
    pub(crate) alternatives: u32,
    pub(crate) op: Op,
    pub(crate) before: ValueId,
    pub(crate) after: ValueId,
    pub(crate) edges: Vec<EventId>,
}

/// The identity of a trace.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key(Vec<u64>);

/// Returns the events of an execution. `original` maps each thread to its number in the program.
pub(crate) fn records(execution: &Execution, original: &[usize]) -> Vec<Record> {
    let record = |(id, event): (EventId, &explore::Event)| Record {
        step: Step {
            thread: ThreadId::from_index(original[event.thread().index()]),
            ..event.step
        },
        index: event.index,
        alternatives: event.alternatives,
        op: event.op,
        before: event.before,
        after: event.after,
        edges: execution.edges(id).to_vec(),
    };
    execution.events().map(record).collect()
}

impl Key {
    /// Returns the key of an execution of any program.
    pub fn of_execution(execution: &Execution) -> Key {
        let threads = execution.events().map(|(_, event)| event.thread().index());
        let original: Vec<usize> = (0..=threads.max().unwrap_or(0)).collect();
        Key::of(&records(execution, &original))
    }

    /// Computes the key: the events of each thread with all their attributes, then for each object
    /// its accesses in order, with reads between two writes sorted.
    pub(crate) fn of(records: &[Record]) -> Key {
        let mut threads: BTreeMap<ThreadId, Vec<u64>> = BTreeMap::new();
        for record in records {
            let events = threads.entry(record.step.thread).or_default();
            events.extend(known_of(record, records));
        }
        let mut key = Vec::new();
        for (thread, events) in threads {
            key.extend([u64::from(thread.0), events.len() as u64]);
            key.extend(events);
        }
        key.extend(orders(records));
        Key(key)
    }
}

/// Returns all attributes of an event except for its thread.
fn known_of(record: &Record, records: &[Record]) -> Vec<u64> {
    let mut known = vec![
        record.op.kind as u64,
        record.op.access as u64,
        u64::from(record.op.object.0),
        u64::from(record.step.choice),
        u64::from(record.alternatives),
        record.before.0,
        record.after.0,
    ];
    let edges = record.edges.iter();
    let mut edges: Vec<u64> = edges.map(|edge| name(&records[edge.index()])).collect();
    edges.sort_unstable();
    known.push(edges.len() as u64);
    known.extend(edges);
    known
}

/// Returns the accesses of each object in order, with reads between two writes sorted.
pub(crate) fn orders<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<u64> {
    let mut objects: BTreeMap<u32, Vec<(u64, Vec<u64>)>> = BTreeMap::new();
    for record in records {
        let runs = objects.entry(record.op.object.0).or_default();
        match (record.op.access, runs.last_mut()) {
            (Access::None, _) => {}
            (Access::Read, Some((0, reads))) => reads.push(name(record)),
            (Access::Read, _) => runs.push((0, vec![name(record)])),
            (Access::Write, _) => runs.push((1, vec![name(record)])),
        }
    }
    let mut orders = Vec::new();
    for (object, runs) in objects {
        orders.extend([u64::from(object), runs.len() as u64]);
        for (is_write, mut events) in runs {
            events.sort_unstable();
            orders.extend([is_write, events.len() as u64]);
            orders.extend(events);
        }
    }
    orders
}

/// Returns the event's thread and its number there.
fn name(record: &Record) -> u64 {
    u64::from(record.step.thread.0) << 32 | u64::from(record.index)
}
