//! What it costs to keep a run to an execution: a model of time in which threads run side by side, and it takes long to start
//! one, to end one and to wake one, against which an event takes no time.

use super::{EventId, Execution, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// Units of time that it takes a thread to start another one, and that one to begin after that: those of some ten
/// microseconds, where an event takes one unit, of some ten nanoseconds.
const START: u64 = 1000;

/// Units of time from the last event of a thread to its end, as who joins it sees it.
const END: u64 = 500;

/// Units of time for which who waits stays awake, and that it takes to wake who waits for longer.
const WAKE: u64 = 500;

/// How long a run takes, and how much of that its threads wait for each other; most important first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Waiting {
    /// Units of time until the last event has happened.
    pub end: u64,
    /// Threads that wait where not every run has them wait.
    pub threads: usize,
    /// Units of time that they wait, all together.
    pub time: u64,
    /// Races, the orders that are kept.
    pub races: usize,
}

impl Execution {
    /// The waiting of threads that run side by side and are kept to this execution.
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

/// When what happened in an execution happens in a run.
struct Run<'e> {
    execution: &'e Execution,
    /// The threads that are started after an event, before the next one of its thread; after none: at first.
    started: BTreeMap<Option<EventId>, Vec<ThreadId>>,
    begins: BTreeMap<ThreadId, u64>,
    /// Indexed by event.
    happened: Vec<u64>,
    /// Indexed by event: when its thread goes on.
    goes_on: Vec<u64>,
}

impl<'e> Run<'e> {
    fn new(execution: &'e Execution) -> Run<'e> {
        let mut run = Run {
            execution,
            started: BTreeMap::new(),
            begins: BTreeMap::new(),
            happened: Vec::with_capacity(execution.len()),
            goes_on: Vec::with_capacity(execution.len()),
        };
        for (id, event) in execution.events() {
            if event.index == 1 && event.thread() != ThreadId::MAIN {
                let parent = execution.edges(id).iter().max().copied();
                run.started.entry(parent).or_default().push(event.thread());
            }
        }
        // They are numbered in the order in which they are started.
        run.started.values_mut().for_each(|threads| threads.sort());
        let begins = run.starts(None, 0);
        run.begins.insert(ThreadId::MAIN, begins);
        run
    }

    /// Starts what is started after this event, from a time on; gives when that is done.
    fn starts(&mut self, event: Option<EventId>, mut time: u64) -> u64 {
        for &child in self.started.get(&event).into_iter().flatten() {
            time += START;
            self.begins.insert(child, time + START);
        }
        time
    }

    /// When the event can happen as far as the program goes.
    fn ready(&self, event: EventId) -> u64 {
        let free = match self.execution.previous_of(event) {
            Some(previous) => self.goes_on[previous.index()],
            None => self.begins[&self.execution.event(event).thread()],
        };
        let edges = self.execution.edges(event).iter();
        let awaited = edges.map(|&edge| self.has_ended(edge)).max();
        reached(free, awaited.unwrap_or(0))
    }

    /// When who comes after the event by the program's own order can go on; if it is the last one of a thread, that is joined.
    fn has_ended(&self, event: EventId) -> u64 {
        let thread = self.execution.event(event).thread();
        let is_last = self.execution.last_of(thread) == Some(event);
        self.happened[event.index()] + if is_last { END } else { 0 }
    }

    fn happens(&mut self, event: EventId, time: u64) {
        self.happened.push(time);
        let goes_on = self.starts(Some(event), time);
        self.goes_on.push(goes_on);
    }
}

/// When a thread goes on that is ready at one time and waits for another.
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
    use crate::execution::{Access, ObjectId, Op, OpKind, Request, Step};
    use crate::program::Performed;

    const MAIN: u16 = 0;

    /// An execution in which the main thread starts two others and joins them; in between each performs its events on
    /// a common object in this order.
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
    fn who_has_to_join_the_others_best_goes_last() {
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
    fn who_begins_first_best_goes_first() {
        let Waiting { threads, time, .. } = execution(&[1, 1, 1, 2, 2]).waiting();
        assert_eq!((threads, time), (0, 0));
        let Waiting { threads, time, .. } = execution(&[2, 2, 1, 1, 1]).waiting();
        assert_eq!((threads, time), (1, START + 2 + WAKE));
    }

    #[test]
    fn who_waits_for_long_has_to_be_woken() {
        let time = |events| {
            let order = [vec![1; events], vec![2]].concat();
            execution(&order).waiting().time
        };
        assert_eq!([1000, 1400, 1600].map(time), [0, 400, 600 + WAKE]);
    }
}
