//! The canonical key of a trace: two executions have the same key iff they have the same events with
//! the same order of dependent ones. Naive on purpose: no clocks.

use explore::{Access, EventId, Execution, Op, Step, ThreadId, Token};
use std::collections::BTreeMap;

/// An event as it happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub(crate) step: Step,
    /// Number among the events of its thread, from 1.
    pub(crate) index: u32,
    pub(crate) alternatives: u32,
    pub(crate) op: Op,
    pub(crate) before: Token,
    pub(crate) after: Token,
    pub(crate) edges: Vec<EventId>,
}

/// The name of a trace.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key(Vec<u64>);

/// The events of an execution; `original` gives each thread its number in the program.
pub(crate) fn records(execution: &Execution, original: &[usize]) -> Vec<Record> {
    let record = |(id, event): (EventId, &explore::Event)| Record {
        step: Step {
            thread: ThreadId::from_index(original[event.thread().index()]),
            choice: event.step.choice,
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
    /// The key of an execution, whatever program it is of.
    pub fn of_execution(execution: &Execution) -> Key {
        let threads = execution.events().map(|(_, event)| event.thread().index());
        let original: Vec<usize> = (0..=threads.max().unwrap_or(0)).collect();
        Key::of(&records(execution, &original))
    }

    /// The events of each thread with all that is known of them, then for each object its accesses in
    /// order, where reads with no write between them are sorted.
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

/// All that is known of an event but its thread.
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

/// For each object its accesses in order, where reads with no write between them are sorted.
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

/// The event's thread and its number there.
fn name(record: &Record) -> u64 {
    u64::from(record.step.thread.0) << 32 | u64::from(record.index)
}
