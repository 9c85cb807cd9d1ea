//! Estimates how long threads wait in a run that is forced to follow an execution. The estimate
//! uses a simple model of time, in which threads run in parallel. Starting, ending and waking a
//! thread takes long. An event takes almost no time.

use super::{EventId, Execution, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// Units of time that a thread takes to start another thread. The new thread takes the same time
/// again to begin. An event takes one unit (about ten nanoseconds), so each of the two takes about
/// ten microseconds.
const START: u64 = 1000;

/// Units of time from the last event of a thread until a thread that joins it observes its end.
const END: u64 = 500;

/// Units of time for which a waiting thread stays awake. Waking a thread that has waited longer
/// takes the same time.
const WAKE: u64 = 500;

/// The duration of a run, and the time for which its threads wait for each other. Values are
/// compared field by field, the most important field first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Waiting {
    /// Units of time until the last event.
    pub end: u64,
    /// The number of threads that wait because of the enforced order.
    pub threads: usize,
    /// Units of time that these threads wait, in total.
    pub time: u64,
    /// The number of races. The run must keep the order of each.
    pub races: usize,
}

impl Execution {
    /// Estimates the waiting in a run that is forced to follow this execution.
    ///
    /// ```
    /// let nothing = explore::Execution::default().waiting();
    /// assert_eq!((nothing.end, nothing.threads), (0, 0));
    /// ```
    pub fn waiting(&self) -> Waiting {
        let mut run = Run::new(self);
        let mut threads = BTreeSet::new();
        let mut time = 0;
        let mut races = self.races().iter().peekable();
        for (id, event) in self.events() {
            let ready = run.ready(id);
            let mut kept = 0;
            while let Some(race) = races.next_if(|race| race.second == id) {
                kept = kept.max(run.happened[race.first.index()]);
            }
            let start = reached(ready, kept);
            if start > ready {
                threads.insert(event.thread());
                time += start - ready;
            }
            run.happens(id, start + 1);
        }
        Waiting {
            end: run.happened.into_iter().max().unwrap_or(0),
            threads: threads.len(),
            time,
            races: self.races().len(),
        }
    }
}

/// A run that follows an execution, with the time of each event.
struct Run<'e> {
    execution: &'e Execution,
    /// Threads started between an event (`None`: the start) and the next event of its thread.
    started: BTreeMap<Option<EventId>, Vec<ThreadId>>,
    /// The time at which each thread begins.
    begins: BTreeMap<ThreadId, u64>,
    /// The time of each event.
    happened: Vec<u64>,
    /// The time at which the thread of each event can continue.
    resumes: Vec<u64>,
}

impl<'e> Run<'e> {
    fn new(execution: &'e Execution) -> Run<'e> {
        let mut run = Run {
            execution,
            started: BTreeMap::new(),
            begins: BTreeMap::new(),
            happened: Vec::with_capacity(execution.len()),
            resumes: Vec::with_capacity(execution.len()),
        };
        for (id, event) in execution.events() {
            if event.index == 1 && event.thread() != ThreadId::MAIN {
                let parent = execution.edges(id).iter().max().copied();
                run.started.entry(parent).or_default().push(event.thread());
            }
        }
        // Threads are numbered in the order in which they are started.
        run.started.values_mut().for_each(|threads| threads.sort());
        let begins = run.starts(None, 0);
        run.begins.insert(ThreadId::MAIN, begins);
        run
    }

    /// Starts the threads that this event starts, from `time` on. Returns the time afterwards.
    fn starts(&mut self, event: Option<EventId>, mut time: u64) -> u64 {
        for &child in self.started.get(&event).into_iter().flatten() {
            time += START;
            self.begins.insert(child, time + START);
        }
        time
    }

    /// Returns the earliest time at which the program itself allows the event.
    fn ready(&self, event: EventId) -> u64 {
        let free = match self.execution.previous_of(event) {
            Some(previous) => self.resumes[previous.index()],
            None => self.begins[&self.execution.event(event).thread()],
        };
        let edges = self.execution.edges(event).iter();
        let awaited = edges.map(|&edge| self.has_ended(edge)).max();
        reached(free, awaited.unwrap_or(0))
    }

    /// Returns the earliest time at which the target of an edge from the event may run. The
    /// estimate assumes that an edge from the last event of a thread leads to a join, which also
    /// waits for the end of the thread.
    fn has_ended(&self, event: EventId) -> u64 {
        let thread = self.execution.event(event).thread();
        let is_last = self.execution.last_of(thread) == Some(event);
        self.happened[event.index()] + if is_last { END } else { 0 }
    }

    fn happens(&mut self, event: EventId, time: u64) {
        self.happened.push(time);
        let resumes = self.starts(Some(event), time);
        self.resumes.push(resumes);
    }
}

/// Returns the time at which a thread that is ready at `ready` and waits for `awaited` continues.
fn reached(ready: u64, awaited: u64) -> u64 {
    match awaited.saturating_sub(ready) {
        0 => ready,
        1..=WAKE => awaited,
        _ => awaited + WAKE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::Performed;
    use crate::execution::{Access, ObjectId, Op, OpKind, Request, Step};

    const MAIN: u16 = 0;

    /// Builds an execution in which the main thread starts two threads and joins them. In between,
    /// the threads perform their events on a common object in the given order.
    fn execution(order: &[u16]) -> Execution {
        let mut execution = Execution::default();
        let mut perform = |thread, access, edges: &[EventId]| {
            let op = Op {
                kind: OpKind::ReadModifyWrite,
                access,
                object: ObjectId(0),
            };
            let performed = Performed {
                edges,
                ..Performed::of(op)
            };
            let id = EventId::at(execution.len());
            execution.push(Step::of(ThreadId(thread)), &Request::plain(op), &performed);
            id
        };
        let start = perform(MAIN, Access::None, &[]);
        let mut last = [start; 3];
        for &thread in order {
            let is_first = thread != MAIN && last[thread as usize] == start;
            let edges = if is_first { &[start][..] } else { &[] };
            last[thread as usize] = perform(thread, Access::Write, edges);
        }
        perform(MAIN, Access::None, &last[1..]);
        execution
    }

    #[test]
    fn the_thread_that_joins_the_others_goes_last() {
        let [first, second] = [1, 2];
        let best = execution(&[first, second, MAIN]).waiting();
        for worse in [
            [MAIN, first, second],
            [MAIN, second, first],
            [first, MAIN, second],
            [second, first, MAIN],
            [second, MAIN, first],
        ] {
            let waiting = execution(&worse).waiting();
            assert!(best < waiting, "{worse:?}: {waiting:?}");
        }
    }

    #[test]
    fn the_thread_that_should_begin_first_goes_first() {
        let Waiting { threads, time, .. } = execution(&[1, 1, 1, 2, 2]).waiting();
        assert_eq!((threads, time), (0, 0));
        let Waiting { threads, time, .. } = execution(&[2, 2, 1, 1, 1]).waiting();
        assert_eq!((threads, time), (1, START + 2 + WAKE));
    }

    #[test]
    fn a_thread_that_waits_long_has_to_be_woken() {
        let time = |events| {
            let order = [vec![1; events], vec![2]].concat();
            execution(&order).waiting().time
        };
        assert_eq!([1000, 1400, 1600].map(time), [0, 400, 600 + WAKE]);
    }
}
