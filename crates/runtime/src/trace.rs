//! The trace of an execution, as shown to users.

pub(crate) mod deciding;
pub(crate) mod failure;
pub(crate) mod final_state;
pub(crate) mod recorder;
pub(crate) mod refinement;
pub(crate) mod results;
pub(crate) mod sampling;
pub(crate) mod source;
pub(crate) mod unseen;

use crate::engine::Engine;
use crate::trace::recorder::states::{States, ends_wait};
use crate::trace::recorder::{Recorded, distinct};
use explore::{
    Access, EventId, Execution, ObjectId, OpKind, Outcome, Point, Race, ReadsFrom, ThreadId,
};
use report::{FailureKind, Interleaving, Racing, Row, Unseen};
use std::collections::BTreeMap;

/// A failure as shown to users.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// The kind of bug.
    pub kind: FailureKind,
    /// For example the message of a panic, the waiting threads with the objects they wait for, or
    /// the accesses that race.
    pub message: String,
    /// The place as `file:line:column` (in a native program `file:line`), if known.
    pub location: Option<String>,
    /// The event in which the failure appeared, if it appeared in an event.
    pub event: Option<EventId>,
}

/// A recorded execution.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The outcome of the execution.
    pub outcome: Outcome,
    /// The failure, if the outcome is a bug.
    pub failure: Option<Shown>,
    /// What users see: the events, the accesses that race and the notes as rows, and the races
    /// among the events.
    pub interleaving: Interleaving,
    /// The row of each event.
    pub rows: Vec<usize>,
    /// The races between accesses, those that decide the failure first. Empty if the execution was
    /// found under a weak memory model.
    pub races: Vec<Race>,
    /// The thread of each column.
    pub columns: Vec<ThreadId>,
    /// The events, each of which is an operation.
    pub execution: Execution,
}

/// An event of a search as shown to users.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Described {
    /// The event.
    pub at: Point,
    /// The kind of its operation.
    pub kind: OpKind,
    /// The operation, its object and its values.
    pub text: String,
    /// The place as `file:line:column` (in a native program `file:line`), if known.
    pub location: Option<String>,
}

/// The rows of an execution.
#[derive(Default)]
struct Rows {
    rows: Vec<Row>,
    /// The row of each event.
    events: Vec<usize>,
    /// The rows of the accesses that race, if the failure is a data race.
    touches: Vec<usize>,
}

impl Engine {
    /// Returns the recorded execution.
    pub(crate) fn take_trace(&mut self, execution: &Execution) -> Trace {
        let failure = self.failure();
        let columns = self.columns();
        let Rows {
            mut rows,
            events,
            touches,
        } = self.rows(&columns, failure.as_ref());
        let objects = self.add_states(execution, &mut rows, &events);
        let failed = failure.as_ref().and_then(|shown| shown.event);
        let failed =
            failed.map(|event| deciding::cause(event, execution, self.guests.recorder.failed()));
        let racing = |race: Race| Racing {
            first: events[race.first.index()],
            second: events[race.second.index()],
        };
        // Under a weak memory model, the order of the steps does not determine what reads return,
        // so races are not shown.
        let races = match unseen::is_weak(execution) {
            true => Vec::new(),
            false => deciding::by_weight(execution, failed),
        };
        let unseen = unseen::unseen(execution).into_iter().map(|unseen| Unseen {
            write: events[unseen.write.index()],
            read: events[unseen.read.index()],
            through: unseen.through.map(|(store, load)| Racing {
                first: events[store.index()],
                second: events[load.index()],
            }),
        });
        let unseen = unseen.collect();
        let threads = columns.iter().map(|&thread| self.thread_name(thread));
        let ends = columns.iter().map(|&thread| self.end_of(thread));
        Trace {
            outcome: self.outcome(),
            failure,
            interleaving: Interleaving {
                threads: threads.collect(),
                rows,
                objects,
                races: races.iter().copied().map(racing).collect(),
                unseen,
                conflict: match touches[..] {
                    [first, second] => Some(Racing { first, second }),
                    _ => None,
                },
                ends: ends.collect(),
            },
            rows: events,
            races,
            columns,
            execution: execution.clone(),
        }
    }

    /// Describes the events of `accesses`, an execution whose steps are accesses. The recorded
    /// execution `operations` has the same events, and further events between them. Leaves out
    /// events of `accesses` that `operations` does not contain.
    pub(crate) fn described(&self, accesses: &Execution, operations: &Execution) -> Vec<Described> {
        let mut described = Vec::new();
        let mut next: BTreeMap<ThreadId, u32> = BTreeMap::new();
        for ((_, event), recorded) in operations.events().zip(&self.guests.recorder.events) {
            let thread = event.thread();
            let index = next.entry(thread).or_insert(1);
            let at = Point {
                thread,
                index: *index,
            };
            let op = accesses
                .event_at(at)
                .map(|event_id| accesses.event(event_id).op);
            if op.is_some_and(|op| op.kind == event.op.kind && op.object == event.op.object) {
                *index += 1;
                described.push(Described {
                    at,
                    kind: event.op.kind,
                    text: recorded.text.clone(),
                    location: self.spot_in_trace(recorded.location),
                });
            }
        }
        described
    }

    /// Returns the threads in the order of their first events, followed by threads without events.
    fn columns(&self) -> Vec<ThreadId> {
        let mut columns: Vec<ThreadId> = Vec::new();
        let events = self.guests.recorder.events.iter().map(|event| event.thread);
        for thread in events.chain(self.started().iter().copied()) {
            if !columns.contains(&thread) {
                columns.push(thread);
            }
        }
        columns
    }

    /// Returns rows for the events, the accesses to plain memory that race, and the notes, in the
    /// order in which they happened.
    fn rows(&self, columns: &[ThreadId], failure: Option<&Shown>) -> Rows {
        let recorder = &self.guests.recorder;
        let is_race = failure.is_some_and(|shown| shown.kind == FailureKind::DataRace);
        let race = recorder.race.filter(|_| is_race);
        let races = race.iter().flatten().map(|&touch| (touch, true));
        let notes = recorder.notes.iter().map(|&note| (note, false));
        let mut touches: Vec<(u32, bool)> = races.chain(notes).collect();
        touches.sort_unstable();
        let touches = touches.into_iter();
        let mut touches = touches
            .map(|(touch, races)| (&recorder.touches[touch as usize], races))
            .peekable();
        let mut rows = Rows::default();
        for position in 0..=recorder.events.len() {
            while let Some(((_, touch), races)) =
                touches.next_if(|((before, _), _)| *before == position)
            {
                if races {
                    rows.touches.push(rows.rows.len());
                }
                rows.rows.push(self.row(columns, touch));
            }
            if let Some(event) = recorder.events.get(position) {
                rows.events.push(rows.rows.len());
                rows.rows.push(self.row(columns, event));
            }
        }
        for (event, &row) in recorder.events.iter().zip(&rows.events) {
            let arrival = event.sent_in.map(|arrival| rows.events[arrival.index()]);
            rows.rows[row].sent_in = arrival;
        }
        // A panic that the program caught is not a failure. So rows are marked as failed only if
        // the execution has a failure that is an event.
        let is_an_event = failure.is_some_and(|shown| !shows_at_the_end(shown.kind));
        for row in &mut rows.rows {
            row.failed &= is_an_event;
        }
        rows
    }

    /// Completes the rows of events for users who step through them: adds the states of objects,
    /// the events that come before, and the sources of reads. Returns the names of the objects.
    fn add_states(&self, execution: &Execution, rows: &mut [Row], events: &[usize]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        // Several objects may have the same name, for example locals of threads.
        let mut numbers: BTreeMap<(ObjectId, String), usize> = BTreeMap::new();
        let mut states = States::default();
        // The last row of each thread.
        let mut last: BTreeMap<ThreadId, usize> = BTreeMap::new();
        // The row of the last write, by object.
        let mut written: BTreeMap<usize, usize> = BTreeMap::new();
        for (((id, event), recorded), &number) in execution
            .events()
            .zip(&self.guests.recorder.events)
            .zip(events)
        {
            let edges = execution.edges(id).iter();
            rows[number].after = edges.map(|edge| events[edge.index()]).collect();
            let before = last.insert(event.thread(), number);
            if let Some(before) = before.filter(|_| ends_wait(event.op.kind)) {
                rows[before].waits = true;
            }
            let stock = recorded.stock.as_ref();
            let object = stock.map_or(event.op.object, |(whole, _)| *whole);
            let name = match &recorded.variable {
                Some((name, _)) => name.clone(),
                None => self.guests.recorder.object_name(object, event.op.kind),
            };
            let key = (self.guests.recorder.first_part(object), name);
            let state = match &recorded.variable {
                Some((_, value)) => Some(value.clone()),
                None => {
                    let what = (event.op.kind, event.thread());
                    let name_of = |thread| self.thread_name(thread);
                    let stock = stock.map(|(_, stock)| stock.as_str());
                    let texts = (recorded.text.as_str(), stock);
                    states.after(&key, what, texts, name_of)
                }
            };
            let Some(state) = state else {
                continue;
            };
            let object = *numbers.entry(key).or_insert_with_key(|(_, name)| {
                names.push(distinct(names.iter(), name.clone()));
                names.len() - 1
            });
            if recorded.variable.is_some() {
                if event.op.kind != OpKind::Store {
                    rows[number].reads = match event.step.reads_from {
                        ReadsFrom::LAST => written.get(&object).copied(),
                        source => source.event().map(|write| events[write.index()]),
                    };
                }
                if event.op.access == Access::Write {
                    written.insert(object, number);
                }
            }
            rows[number].object = Some(object);
            rows[number].state = Some(state);
        }
        names
    }

    fn row(&self, threads: &[ThreadId], recorded: &Recorded) -> Row {
        let mut columns = threads.iter();
        let column = columns.position(|&thread| thread == recorded.thread);
        Row {
            thread: column.expect("every thread of the execution has a column"),
            text: recorded.text.clone(),
            location: self.spot_in_trace(recorded.location),
            failed: recorded.failed,
            sent_to: recorded
                .sent_to
                .and_then(|to| threads.iter().position(|&thread| thread == to)),
            ..Row::default()
        }
    }
}

/// Checks whether a failure of this kind is a state at the end of the execution, and not an event.
fn shows_at_the_end(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::Deadlock
            | FailureKind::Stuck
            | FailureKind::Leak
            | FailureKind::UnhandledMessage
    )
}
