//! Admissible prefixes as scheduling constraints (Metzler, Saissi, Bokor, Suri: safe execution by enforcement of
//! scheduling constraints).
//!
//! A run whose trace begins with the trace of the prefix E_k keeps two kinds of orders. Races within E_k stay as they are. And what
//! comes after E_k waits for the events of E_k with which it may conflict: otherwise E_k would be no prefix. What may come
//! after E_k is known once every execution that begins with E_k was explored.

use super::{Access, Event, EventId, Execution, ObjectId, Op, Step, ThreadId};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// An event of any execution: its thread, and its number among the events of the thread, from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Point {
    /// Whose event.
    pub thread: ThreadId,
    /// Which one.
    pub index: u32,
}

/// An order that a run keeps: `then` waits for `first`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Constraint {
    /// What happens first.
    pub first: Point,
    /// What happens later, in another thread.
    pub then: Point,
}

/// What the events of many executions access, by their points, and what comes before them in each of these executions
/// because the program sees to it.
#[derive(Clone, Default, Debug)]
pub struct Accesses {
    of: BTreeMap<Point, Noted>,
    /// The steps of the last execution, and the clocks of its events without what conflicts order.
    ordered: Vec<(Step, Vec<u32>)>,
}

#[derive(Clone, Default, Debug)]
struct Noted {
    /// Whether the object is written.
    objects: BTreeMap<ObjectId, bool>,
    /// How many events of each thread come before in every execution, by the order of threads and after edges alone.
    ordered: Vec<u32>,
}

impl Accesses {
    /// Takes note of an execution.
    pub fn note(&mut self, execution: &Execution) {
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
                        vacant.insert(Noted {
                            objects: BTreeMap::from([(event.op.object, is_write)]),
                            ordered: ordered.clone(),
                        });
                    }
                    Entry::Occupied(mut noted) => {
                        let noted = noted.get_mut();
                        *noted.objects.entry(event.op.object).or_default() |= is_write;
                        meet(&mut noted.ordered, &ordered);
                    }
                }
            }
            self.ordered.push((event.step, ordered));
        }
    }

    /// The clock of an event whose past is known.
    fn order(&self, execution: &Execution, id: EventId) -> Vec<u32> {
        let event = execution.event(id).point();
        let mut clock = vec![0; event.thread.index() + 1];
        let before = execution.edges(id).iter().copied();
        for before in before.chain(execution.previous_of(id)) {
            let (_, other) = &self.ordered[before.index()];
            clock.resize(clock.len().max(other.len()), 0);
            for (own, other) in clock.iter_mut().zip(other) {
                *own = (*own).max(*other);
            }
        }
        clock[event.thread.index()] = event.index;
        clock
    }
}

/// The least of each entry; none is 0.
fn meet(clock: &mut Vec<u32>, other: &[u32]) {
    clock.truncate(other.len());
    for (own, other) in clock.iter_mut().zip(other) {
        *own = (*own).min(*other);
    }
}

impl Execution {
    /// The constraints of the prefix with this many events, of which `accesses` has noted every execution that begins
    /// with it. Orders that follow from others, or that the program sees to by itself (after edges), are left out.
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
    /// Races between events of the prefix, in transitive reduction.
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

    /// What happens before the event and generates what does: the thread's previous event, after edges, races.
    fn direct(&self, event: EventId) -> impl Iterator<Item = EventId> {
        let execution = self.execution;
        let races = execution.races().iter();
        let races = races.filter(move |race| race.second == event);
        let previous = execution.previous_of(event);
        let edges = execution.edges(event).iter().copied();
        races.map(|race| race.first).chain(edges).chain(previous)
    }

    /// Each point after the prefix waits for the events of the prefix that conflict with what it may do, unless an
    /// earlier point of the thread, or the thread's last event of the prefix, knows them already.
    fn outer(&self, accesses: &Accesses, constraints: &mut BTreeSet<Constraint>) {
        let mut waited: BTreeMap<ThreadId, Vec<u32>> = BTreeMap::new();
        for (point, noted) in &accesses.of {
            if self.has(*point) {
                continue;
            }
            let none = || vec![0; self.execution.clocks.width()];
            let waited = waited.entry(point.thread).or_insert_with(none);
            // An earlier point may be another operation in the executions that have this one: what comes before that one
            // need not come before this one.
            let mut known = waited.clone();
            self.learn(&mut known, &noted.ordered);
            let mut conflicting = self.conflicting(&noted.objects);
            conflicting.retain(|&event| {
                let own = self.execution.event(event).point();
                own.thread != point.thread && known.get(own.thread.index()) < Some(&own.index)
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

    /// Who knows so many events of each thread knows what happens before them, as far as they are in the prefix.
    fn learn(&self, known: &mut [u32], ordered: &[u32]) {
        for (thread, &index) in ordered.iter().enumerate() {
            let own = self.execution.positions.get(thread);
            let own = own.map_or(&[][..], Vec::as_slice);
            let inside = own.partition_point(|event| event.index() < self.length);
            if let Some(last) = inside.min(index as usize).checked_sub(1) {
                super::clock::join_into(known, self.execution.clock(own[last]));
            }
        }
    }

    /// The events of the prefix that conflict with an access of the objects, but for those that happen before another
    /// one of them because of the object.
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
        let own = events.filter(|(_, event)| event.op.is_access() && event.op.object == object);
        own.map(|(id, event)| (id, event.op)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OpKind, Performed, Request};

    /// Events as (thread, object, whether it is written).
    fn execution(events: &[(u16, u32, bool)]) -> Execution {
        with_edges(events, &[])
    }

    /// The same where the last event comes after others anyway.
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
            .map(|own| [pair(own.first), pair(own.then)])
            .collect()
    }

    #[test]
    fn a_whole_execution_has_its_races_as_constraints() {
        // Two lost updates that were not: each thread reads and writes.
        let execution = execution(&[(1, 0, false), (1, 0, true), (2, 0, false), (2, 0, true)]);
        let mut accesses = Accesses::default();
        accesses.note(&execution);
        let constraints = execution.constraints(4, &accesses);
        assert_eq!(shown(constraints), [[(1, 2), (2, 1)]]);
    }

    #[test]
    fn what_comes_after_the_prefix_waits_for_what_it_conflicts_with() {
        let execution = execution(&[(1, 0, false), (1, 0, true), (2, 0, false), (2, 0, true)]);
        let mut accesses = Accesses::default();
        accesses.note(&execution);
        assert_eq!(
            shown(execution.constraints(2, &accesses)),
            [[(1, 2), (2, 1)]]
        );
        // Of the read alone the other thread's write has to come later.
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
        accesses.note(&execution);
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
        // Main reads what two threads write when it has joined them.
        let events = [(1, 0, true), (2, 0, true), (0, 0, false)];
        let other = [(2, 0, true), (1, 0, true), (0, 0, false)];
        let joined = [EventId(0), EventId(1)];
        let execution = with_edges(&events, &joined);
        let mut accesses = Accesses::default();
        accesses.note(&execution);
        accesses.note(&with_edges(&other, &joined));
        for length in [3, 1] {
            let constraints = execution.constraints(length, &accesses);
            assert_eq!(shown(constraints), [[(1, 1), (2, 1)]], "{length}");
        }
        // It joins the first one in some executions only.
        accesses.note(&with_edges(&events, &joined[1..]));
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
        accesses.note(&first);
        accesses.note(&other);
        assert_eq!(
            shown(first.constraints(1, &accesses)),
            [[(1, 1), (2, 1)], [(1, 1), (3, 1)]]
        );
    }
}
