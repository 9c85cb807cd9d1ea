//! Admissible prefixes as scheduling constraints (Metzler, Saissi, Bokor, Suri: safe execution by
//! enforcement of scheduling constraints).
//!
//! E_k denotes the first k events of an execution. A run whose trace begins with the trace of E_k
//! keeps two kinds of orders. Races within E_k keep their order. Later events wait for the events
//! of E_k that they may conflict with, so that E_k is a prefix of the run. These conflicts are
//! known once every execution with prefix E_k has been explored.

use super::{Access, Event, EventId, Execution, ObjectId, Op, Step, ThreadId};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// An event of any execution, identified by its thread and its number in the thread, from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Point {
    /// The thread of the event.
    pub thread: ThreadId,
    /// The number of the event.
    pub index: u32,
}

/// An order that a run must keep: `then` waits for `first`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Constraint {
    /// The event that happens first.
    pub first: Point,
    /// The event that happens later, in another thread.
    pub then: Point,
}

/// The accesses of all recorded executions, by point. Each point also has the events that program
/// order and synchronization edges put before it in all of these executions.
#[derive(Clone, Default, Debug)]
pub struct Accesses {
    of: BTreeMap<Point, Recorded>,
    /// The steps of the last recorded execution, each with its clock by program order and
    /// synchronization edges alone.
    ordered: Vec<(Step, Vec<u32>)>,
}

/// What is known about a point.
#[derive(Clone, Default, Debug)]
struct Recorded {
    /// The accessed objects, and whether each is written.
    objects: BTreeMap<ObjectId, bool>,
    /// For each thread, the number of its events that program order and synchronization edges put
    /// before this event in every execution.
    ordered: Vec<u32>,
}

impl Accesses {
    /// Records the accesses of an execution.
    pub fn record(&mut self, execution: &Execution) {
        let both = self.ordered.iter().zip(execution.events());
        let is_same = |((step, _), (_, event)): &(&(Step, _), (_, &Event))| *step == event.step;
        let common = both.take_while(is_same).count();
        self.ordered.truncate(common);
        for (id, event) in execution.events_from(common) {
            let ordered = self.order(execution, id);
            if event.op.is_access() {
                let is_write = event.op.access == Access::Write;
                match self.of.entry(event.point()) {
                    Entry::Vacant(vacant) => {
                        vacant.insert(Recorded {
                            objects: BTreeMap::from([(event.op.object, is_write)]),
                            ordered: ordered.clone(),
                        });
                    }
                    Entry::Occupied(mut recorded) => {
                        let recorded = recorded.get_mut();
                        *recorded.objects.entry(event.op.object).or_default() |= is_write;
                        take_minimum(&mut recorded.ordered, &ordered);
                    }
                }
            }
            self.ordered.push((event.step, ordered));
        }
    }

    /// Returns the clock of an event by program order and synchronization edges alone.
    fn order(&self, execution: &Execution, id: EventId) -> Vec<u32> {
        let event = execution.event(id).point();
        let mut clock = vec![0; event.thread.index() + 1];
        let before = execution.edges(id).iter().copied();
        for before in before.chain(execution.previous_of(id)) {
            let (_, other) = &self.ordered[before.index()];
            clock.resize(clock.len().max(other.len()), 0);
            for (entry, other) in clock.iter_mut().zip(other) {
                *entry = (*entry).max(*other);
            }
        }
        clock[event.thread.index()] = event.index;
        clock
    }
}

/// Takes the minimum of each entry. A missing entry counts as 0.
fn take_minimum(clock: &mut Vec<u32>, other: &[u32]) {
    clock.truncate(other.len());
    for (entry, other) in clock.iter_mut().zip(other) {
        *entry = (*entry).min(*other);
    }
}

impl Execution {
    /// Returns the constraints of the prefix with the given number of events. `accesses` must have
    /// recorded all executions with this prefix. Omits constraints that program order,
    /// synchronization edges and other constraints imply.
    pub fn constraints(&self, length: usize, accesses: &Accesses) -> BTreeSet<Constraint> {
        let prefix = Prefix {
            execution: self,
            length,
        };
        let mut constraints: BTreeSet<Constraint> = prefix.inner().collect();
        prefix.outer(accesses, &mut constraints);
        constraints
    }
}

/// The first events of an execution.
struct Prefix<'e> {
    execution: &'e Execution,
    length: usize,
}

impl Prefix<'_> {
    /// Returns the races between events of the prefix, without those that other orders imply.
    fn inner(&self) -> impl Iterator<Item = Constraint> {
        let execution = self.execution;
        let races = execution.races().iter();
        let races = races.take_while(|race| race.second.index() < self.length);
        races
            .filter(|race| {
                let mut before = self.direct(race.second);
                !before
                    .any(|other| other != race.first && execution.happens_before(race.first, other))
            })
            .map(|race| Constraint {
                first: execution.event(race.first).point(),
                then: execution.event(race.second).point(),
            })
    }

    /// Returns the direct predecessors of an event: the thread's previous event, edges and races.
    fn direct(&self, event: EventId) -> impl Iterator<Item = EventId> {
        let execution = self.execution;
        let races = execution.races().iter();
        let races = races.filter(move |race| race.second == event);
        let previous = execution.previous_of(event);
        let edges = execution.edges(event).iter().copied();
        races.map(|race| race.first).chain(edges).chain(previous)
    }

    /// Makes each point after the prefix wait for the prefix events that conflict with it, unless
    /// the order is implied. It is implied in two cases: an earlier point of the thread waits for
    /// the event, or program order and synchronization edges put it before the point in all
    /// recorded executions.
    fn outer(&self, accesses: &Accesses, constraints: &mut BTreeSet<Constraint>) {
        let mut waited: BTreeMap<ThreadId, Vec<u32>> = BTreeMap::new();
        for (point, recorded) in &accesses.of {
            if self.has(*point) {
                continue;
            }
            let none = || vec![0; self.execution.clocks.width()];
            let waited = waited.entry(point.thread).or_insert_with(none);
            // The order that is known for this point does not hold for later points of the thread.
            // In executions that contain a later point, this point may be a different operation.
            let mut known = waited.clone();
            self.learn(&mut known, &recorded.ordered);
            let mut conflicting = self.conflicting(&recorded.objects);
            conflicting.retain(|&event| {
                let conflict = self.execution.event(event).point();
                conflict.thread != point.thread
                    && known.get(conflict.thread.index()) < Some(&conflict.index)
            });
            for &event in &conflicting {
                let is_implied = conflicting
                    .iter()
                    .any(|&other| other != event && self.execution.happens_before(event, other));
                if !is_implied {
                    constraints.insert(Constraint {
                        first: self.execution.event(event).point(),
                        then: *point,
                    });
                }
            }
            for event in conflicting {
                super::clock::join_into(waited, self.execution.clock(event));
            }
        }
    }

    fn has(&self, point: Point) -> bool {
        let event = self.execution.event_at(point);
        event.is_some_and(|event| event.index() < self.length)
    }

    /// For each thread t, joins to `known` the clock of the last event in the prefix among the
    /// first `ordered[t]` events of t.
    fn learn(&self, known: &mut [u32], ordered: &[u32]) {
        for (thread, &index) in ordered.iter().enumerate() {
            let events = self.execution.positions.get(thread);
            let events = events.map_or(&[][..], Vec::as_slice);
            let inside = events.partition_point(|event| event.index() < self.length);
            if let Some(last) = inside.min(index as usize).checked_sub(1) {
                super::clock::join_into(known, self.execution.clock(events[last]));
            }
        }
    }

    /// Returns the events of the prefix that conflict with an access to the objects. Omits events
    /// before the last write of an object, because they happen before that write.
    fn conflicting(&self, objects: &BTreeMap<ObjectId, bool>) -> Vec<EventId> {
        let mut conflicting = Vec::new();
        for (&object, &writes) in objects {
            let mut accesses = self.accesses_of(object);
            let is_write = |op: Op| op.access == Access::Write;
            while let Some((event, op)) = accesses.pop() {
                if writes || is_write(op) {
                    conflicting.push(event);
                }
                if is_write(op) {
                    break;
                }
            }
        }
        conflicting
    }

    fn accesses_of(&self, object: ObjectId) -> Vec<(EventId, Op)> {
        let events = self.execution.events().take(self.length);
        let accesses =
            events.filter(|(_, event)| event.op.is_access() && event.op.object == object);
        accesses.map(|(id, event)| (id, event.op)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OpKind, Performed, Request};

    /// Builds an execution from events (thread, object, whether it is written).
    fn execution(events: &[(u16, u32, bool)]) -> Execution {
        with_edges(events, &[])
    }

    /// Builds an execution whose last event has the given synchronization edges.
    fn with_edges(events: &[(u16, u32, bool)], edges: &[EventId]) -> Execution {
        let mut execution = Execution::default();
        for (position, &(thread, object, writes)) in events.iter().enumerate() {
            let is_last = position + 1 == events.len();
            let op = Op {
                kind: OpKind::Store,
                access: if writes { Access::Write } else { Access::Read },
                object: ObjectId(object),
            };
            let performed = Performed {
                edges: if is_last { edges } else { &[] },
                ..Performed::of(op)
            };
            execution.push(Step::of(ThreadId(thread)), &Request::plain(op), &performed);
        }
        execution
    }

    fn shown(constraints: BTreeSet<Constraint>) -> Vec<[(u16, u32); 2]> {
        let pair = |point: Point| (point.thread.0, point.index);
        let constraints = constraints.into_iter();
        constraints
            .map(|race| [pair(race.first), pair(race.then)])
            .collect()
    }

    #[test]
    fn a_whole_execution_has_its_races_as_constraints() {
        // Each thread reads and then writes, with no lost update.
        let execution = execution(&[(1, 0, false), (1, 0, true), (2, 0, false), (2, 0, true)]);
        let mut accesses = Accesses::default();
        accesses.record(&execution);
        let constraints = execution.constraints(4, &accesses);
        assert_eq!(shown(constraints), [[(1, 2), (2, 1)]]);
    }

    #[test]
    fn what_comes_after_the_prefix_waits_for_what_it_conflicts_with() {
        let execution = execution(&[(1, 0, false), (1, 0, true), (2, 0, false), (2, 0, true)]);
        let mut accesses = Accesses::default();
        accesses.record(&execution);
        assert_eq!(
            shown(execution.constraints(2, &accesses)),
            [[(1, 2), (2, 1)]]
        );
        // A prefix of only the first read: the write of the other thread must come later.
        assert_eq!(
            shown(execution.constraints(1, &accesses)),
            [[(1, 1), (2, 2)]]
        );
        assert!(execution.constraints(0, &accesses).is_empty());
    }

    #[test]
    fn orders_that_follow_from_others_are_left_out() {
        // T1 writes x, T2 reads x and writes y, T3 reads y and then x.
        let execution = execution(&[
            (1, 0, true),
            (2, 0, false),
            (2, 1, true),
            (3, 1, false),
            (3, 0, false),
        ]);
        let mut accesses = Accesses::default();
        accesses.record(&execution);
        let both = [[(1, 1), (2, 1)], [(2, 2), (3, 1)]];
        for length in 3..=5 {
            assert_eq!(
                shown(execution.constraints(length, &accesses)),
                both,
                "{length}"
            );
        }
        assert_eq!(
            shown(execution.constraints(1, &accesses)),
            [[(1, 1), (2, 1)], [(1, 1), (3, 2)]]
        );
    }

    #[test]
    fn what_the_program_orders_in_every_execution_is_no_constraint() {
        // Two threads write a variable. The main thread joins them and then reads the variable.
        let events = [(1, 0, true), (2, 0, true), (0, 0, false)];
        let other = [(2, 0, true), (1, 0, true), (0, 0, false)];
        let joined = [EventId(0), EventId(1)];
        let execution = with_edges(&events, &joined);
        let mut accesses = Accesses::default();
        accesses.record(&execution);
        accesses.record(&with_edges(&other, &joined));
        for length in [3, 1] {
            let constraints = execution.constraints(length, &accesses);
            assert_eq!(shown(constraints), [[(1, 1), (2, 1)]], "{length}");
        }
        // The main thread joins the first thread in some executions only.
        accesses.record(&with_edges(&events, &joined[1..]));
        assert_eq!(
            shown(execution.constraints(1, &accesses)),
            [[(1, 1), (0, 1)], [(1, 1), (2, 1)]]
        );
    }

    #[test]
    fn accesses_that_only_another_execution_has_count() {
        let first = execution(&[(1, 0, true), (2, 0, true)]);
        let other = execution(&[(1, 0, true), (2, 0, true), (3, 0, false)]);
        let mut accesses = Accesses::default();
        accesses.record(&first);
        accesses.record(&other);
        assert_eq!(
            shown(first.constraints(1, &accesses)),
            [[(1, 1), (2, 1)], [(1, 1), (3, 1)]]
        );
    }
}
