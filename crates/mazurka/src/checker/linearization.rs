//! Equivalent executions with few context switches, which are easier to read: each thread runs as
//! long as possible.

use explore::{EventId, Execution, ObjectId, ReadsFrom, Schedule, Step};
use std::collections::HashMap;

/// Returns an equivalent schedule with few context switches, in which the past of the event `first`
/// comes first. (Greedy: always chooses the thread that can run longest.)
pub(crate) fn with_few_switches(execution: &Execution, first: Option<EventId>) -> Schedule {
    let mut order = Order::new(execution);
    if let Some(first) = first.filter(|first| first.index() < execution.len()) {
        order.run(execution.clock(first));
    }
    let everything: Vec<u32> = order
        .events
        .iter()
        .map(|events| events.len() as u32)
        .collect();
    order.run(&everything);
    order.schedule
}

/// Returns the events, with their steps, in an equivalent order that is reversed as far as
/// possible. Under a weak memory model, `coherence` returns the writes of an object in coherence
/// order.
pub(crate) fn reversed(
    execution: &Execution,
    coherence: impl FnMut(ObjectId) -> Vec<EventId>,
) -> Vec<(EventId, Step)> {
    let mut order = Order::new(execution);
    let mut reversed = Vec::with_capacity(execution.len());
    while let Some(event) = order.last_ready() {
        order.done[execution.event(event).thread().index()] += 1;
        reversed.push((event, execution.event(event).step));
    }
    if execution.is_weak() {
        renumber(&mut reversed, execution, coherence);
    }
    reversed
}

/// Changes the sources of the steps to fit the new order, for an execution under a weak memory
/// model.
fn renumber(
    order: &mut [(EventId, Step)],
    execution: &Execution,
    mut coherence: impl FnMut(ObjectId) -> Vec<EventId>,
) {
    let mut places = vec![EventId(0); execution.len()];
    for (place, &(event, _)) in order.iter().enumerate() {
        places[event.index()] = EventId(place as u32);
    }
    // For each object, the number of each write in coherence order, and the largest number so far.
    let mut writes: HashMap<ObjectId, (HashMap<EventId, usize>, usize)> = HashMap::new();
    for (event, step) in order {
        let object = execution.event(*event).op.object;
        let (numbers, newest) = writes.entry(object).or_insert_with(|| {
            let writes = coherence(object).into_iter();
            (writes.zip(1..).collect(), 0)
        });
        let number = numbers.get(event).copied().unwrap_or(0);
        if [ReadsFrom::NEWEST, ReadsFrom::OVERWRITTEN].contains(&step.reads_from) {
            step.reads_from = match number > *newest {
                true => ReadsFrom::NEWEST,
                false => ReadsFrom::OVERWRITTEN,
            };
        } else if let Some(write) = step.reads_from.event() {
            step.reads_from = ReadsFrom::from(places[write.index()]);
        }
        *newest = number.max(*newest);
    }
}

/// Returns the number of context switches.
pub(crate) fn switches(schedule: &Schedule) -> usize {
    schedule
        .windows(2)
        .filter(|pair| pair[0].thread != pair[1].thread)
        .count()
}

/// An equivalent order of the events of an execution, in the making.
struct Order<'e> {
    execution: &'e Execution,
    /// The events of each thread, in order.
    events: Vec<Vec<EventId>>,
    /// The number of events of each thread that are in the schedule.
    done: Vec<u32>,
    schedule: Schedule,
    /// Under a weak memory model, the clock of each event: for each thread, the number of events on
    /// which the event depends by program order, reads-from and synchronization edges.
    clocks: Vec<Vec<u32>>,
}

impl<'e> Order<'e> {
    fn new(execution: &'e Execution) -> Order<'e> {
        let mut events: Vec<Vec<EventId>> = Vec::new();
        for (id, event) in execution.events() {
            let thread = event.thread().index();
            if events.len() <= thread {
                events.resize(thread + 1, Vec::new());
            }
            events[thread].push(id);
        }
        let threads = events.len();
        let done = vec![0; threads];
        Order {
            execution,
            events,
            done,
            schedule: Schedule::new(),
            clocks: match execution.is_weak() {
                true => dependency_clocks(execution, threads),
                false => Vec::new(),
            },
        }
    }

    /// Performs the missing events of each thread up to its number in `until`, which must be closed
    /// under happens-before.
    fn run(&mut self, until: &[u32]) {
        while let Some((thread, length)) = self.longest_run(until) {
            let start = self.done[thread] as usize;
            for &event in &self.events[thread][start..start + length] {
                self.schedule.push(self.execution.event(event).step);
            }
            self.done[thread] += length as u32;
        }
    }

    /// Among the next events of all threads, returns the one that comes last in the execution and
    /// is ready.
    fn last_ready(&self) -> Option<EventId> {
        let next = self.events.iter().zip(&self.done).enumerate();
        next.filter_map(|(thread, (events, &done))| {
            let event = *events.get(done as usize)?;
            self.is_ready(event, thread).then_some(event)
        })
        .max()
    }

    /// Returns the thread that can run longest, and its number of events. Prefers threads that can
    /// run to their end, because they need no later switch.
    fn longest_run(&self, until: &[u32]) -> Option<(usize, usize)> {
        (0..self.events.len())
            .map(|thread| (thread, self.run_of(thread, until)))
            .filter(|&(_, length)| length > 0)
            .max_by_key(|&(thread, length)| {
                let is_end = self.done[thread] + length as u32 == end_of(thread, until);
                (is_end, length, std::cmp::Reverse(thread))
            })
    }

    /// Returns the number of events that the thread can perform in a row.
    fn run_of(&self, thread: usize, until: &[u32]) -> usize {
        let start = self.done[thread] as usize;
        let events = self.events[thread]
            .get(start..end_of(thread, until) as usize)
            .unwrap_or(&[]);
        events
            .iter()
            .take_while(|&&event| self.is_ready(event, thread))
            .count()
    }

    fn clock(&self, event: EventId) -> &[u32] {
        match self.execution.is_weak() {
            true => &self.clocks[event.index()],
            false => self.execution.clock(event),
        }
    }

    /// Checks whether all events of other threads that happen before the event are done.
    fn is_ready(&self, event: EventId, own_thread: usize) -> bool {
        self.clock(event)
            .iter()
            .zip(&self.done)
            .enumerate()
            .all(|(thread, (&needed, &done))| thread == own_thread || needed <= done)
    }
}

/// Returns the clock of each event under a weak memory model (see [`Order::clocks`]).
fn dependency_clocks(execution: &Execution, threads: usize) -> Vec<Vec<u32>> {
    let mut clocks: Vec<Vec<u32>> = Vec::with_capacity(execution.len());
    let mut last = vec![None; threads];
    for (id, event) in execution.events() {
        let mut clock = vec![0; threads];
        let previous = last[event.thread().index()].replace(id);
        let source = event.step.reads_from.event();
        let edges = execution.edges(id).iter().copied();
        for before in edges.chain(previous).chain(source) {
            let known = clock.iter_mut().zip(&clocks[before.index()]);
            known.for_each(|(own, &other)| *own = other.max(*own));
        }
        clock[event.thread().index()] = event.index;
        clocks.push(clock);
    }
    clocks
}

/// Returns the number of events of the thread that are wanted.
fn end_of(thread: usize, until: &[u32]) -> u32 {
    until.get(thread).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use explore::{Access, ObjectId, Op, OpKind, Performed, Request, Step, ThreadId};

    /// Creates an execution of writes, given as (thread, object).
    fn execution(events: &[(u16, u32)]) -> Execution {
        let mut execution = Execution::default();
        for &(thread, object) in events {
            let op = Op {
                kind: OpKind::Store,
                access: Access::Write,
                object: ObjectId(object),
            };
            let performed = Performed::of(op);
            execution.push(Step::of(ThreadId(thread)), &Request::plain(op), &performed);
        }
        execution
    }

    fn threads(schedule: &Schedule) -> Vec<u16> {
        schedule.iter().map(|step| step.thread.0).collect()
    }

    #[test]
    fn independent_events_are_grouped_by_thread() {
        let execution = execution(&[(0, 0), (1, 1), (0, 0), (1, 1), (0, 0)]);
        let schedule = with_few_switches(&execution, None);
        assert_eq!(threads(&schedule), [0, 0, 0, 1, 1]);
        assert_eq!(switches(&schedule), 1);
    }

    #[test]
    fn events_are_reversed_except_for_their_dependencies() {
        let execution = execution(&[(0, 0), (0, 1), (1, 2), (2, 1), (1, 3)]);
        let reversed = reversed(&execution, |_| Vec::new());
        let order: Vec<u32> = reversed.iter().map(|(event, _)| event.0).collect();
        assert_eq!(order, [2, 4, 0, 1, 3]);
    }

    #[test]
    fn dependent_events_keep_their_order() {
        let execution = execution(&[(0, 0), (1, 0), (0, 0), (1, 1)]);
        assert_eq!(threads(&with_few_switches(&execution, None)), [0, 1, 1, 0]);
    }

    #[test]
    fn the_past_of_the_failed_event_comes_first() {
        let execution = execution(&[(0, 0), (0, 0), (0, 0), (1, 1), (2, 2), (1, 2)]);
        let schedule = with_few_switches(&execution, Some(EventId(5)));
        assert_eq!(threads(&schedule), [2, 1, 1, 0, 0, 0]);
    }
}
