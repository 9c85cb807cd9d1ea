//! The order of accesses according to the model. Any two conflicting events order their threads,
//! whatever their memory orderings are.
//!
//! This is stronger than happens-before: threads that communicate only by objects of the model are
//! always ordered.

use explore::{Access, EventId, ObjectId, Op, ThreadId};
use rustc_hash::FxHashMap;

/// The vector clocks of an execution. A thread's own entry is the number of its period. Each event
/// of the thread ends a period, and so does each start of a child.
#[derive(Default)]
pub(super) struct Order {
    /// Indexed by thread.
    threads: Vec<Clock>,
    /// The clock that each event passes to events ordered after it.
    events: Vec<Clock>,
    objects: FxHashMap<ObjectId, Accesses>,
}

/// A clock with an entry per thread. Entries beyond the end are 0.
#[derive(Clone, Default)]
struct Clock(Vec<u32>);

/// The joined clocks of the writes of an object, and of all accesses.
#[derive(Default)]
struct Accesses {
    written: Clock,
    accessed: Clock,
}

impl Clock {
    fn at(&self, thread: ThreadId) -> u32 {
        self.0.get(thread.index()).copied().unwrap_or(0)
    }

    fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (entry, &other) in self.0.iter_mut().zip(&other.0) {
            *entry = (*entry).max(other);
        }
    }

    fn tick(&mut self, thread: ThreadId) {
        if self.0.len() <= thread.index() {
            self.0.resize(thread.index() + 1, 0);
        }
        self.0[thread.index()] += 1;
    }
}

impl Order {
    pub(super) fn clear(&mut self) {
        self.threads.clear();
        self.events.clear();
        self.objects.clear();
    }

    fn thread(&mut self, thread: ThreadId) -> &mut Clock {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, Clock::default);
        }
        &mut self.threads[thread.index()]
    }

    /// Starts a thread, which is ordered after everything that its parent has done.
    pub(super) fn started(&mut self, thread: ThreadId, parent: Option<ThreadId>) {
        let mut clock = Clock::default();
        if let Some(parent) = parent {
            clock.clone_from(self.thread(parent));
            self.thread(parent).tick(parent);
        }
        clock.tick(thread);
        *self.thread(thread) = clock;
    }

    /// Orders `joiner` after everything that `thread` has done.
    pub(super) fn joined(&mut self, joiner: ThreadId, thread: ThreadId) {
        let ended = self.thread(thread).clone();
        self.thread(joiner).join(&ended);
    }

    /// Adds the next event, which belongs to the thread and is ordered after the events `after`.
    pub(super) fn event(&mut self, thread: ThreadId, op: Op, after: &[EventId]) {
        self.take_up(thread, after);
        let Order {
            threads,
            events,
            objects,
        } = self;
        let running = &mut threads[thread.index()];
        match op.access {
            Access::None => {}
            Access::Read => {
                let accesses = objects.entry(op.object).or_default();
                running.join(&accesses.written);
                accesses.accessed.join(running);
            }
            Access::Write => {
                let accesses = objects.entry(op.object).or_default();
                running.join(&accesses.accessed);
                accesses.accessed.clone_from(running);
                accesses.written.clone_from(running);
            }
        }
        events.push(running.clone());
        running.tick(thread);
    }

    /// Returns the number of events so far.
    pub(super) fn events(&self) -> usize {
        self.events.len()
    }

    /// Orders the thread's next actions after these events.
    pub(super) fn take_up(&mut self, thread: ThreadId, after: &[EventId]) {
        self.thread(thread);
        let Order {
            threads, events, ..
        } = self;
        for event in after {
            if let Some(clock) = events.get(event.index()) {
                threads[thread.index()].join(clock);
            }
        }
    }

    /// Orders the thread after the actions of `of` up to the end of this period.
    pub(super) fn learn(&mut self, thread: ThreadId, of: ThreadId, period: u32) {
        let clock = self.thread(thread);
        if thread != of {
            if clock.0.len() <= of.index() {
                clock.0.resize(of.index() + 1, 0);
            }
            let entry = &mut clock.0[of.index()];
            *entry = (*entry).max(period);
        }
    }

    /// Returns the number of the thread's current period.
    pub(super) fn period(&self, thread: ThreadId) -> u32 {
        self.known(thread, thread)
    }

    /// Returns the last period of `of` whose actions are ordered before the next action of the
    /// thread.
    pub(super) fn known(&self, thread: ThreadId, of: ThreadId) -> u32 {
        let clock = self.threads.get(thread.index());
        clock.map_or(0, |clock| clock.at(of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use explore::OpKind;

    const FIRST: ThreadId = ThreadId(1);
    const SECOND: ThreadId = ThreadId(2);

    fn on(object: u32, access: Access) -> Op {
        Op {
            object: ObjectId(object),
            access,
            kind: OpKind::Load,
        }
    }

    /// Returns the order with two threads that the main thread has started.
    fn two() -> Order {
        let mut order = Order::default();
        order.started(ThreadId::MAIN, None);
        order.started(FIRST, Some(ThreadId::MAIN));
        order.started(SECOND, Some(ThreadId::MAIN));
        order
    }

    /// Returns whether, after `rest`, the second thread is ordered after the present action of the
    /// first thread.
    fn knows(order: &mut Order, rest: impl FnOnce(&mut Order)) -> bool {
        let period = order.period(FIRST);
        rest(order);
        order.known(SECOND, FIRST) >= period
    }

    #[test]
    fn conflicts_order_and_other_accesses_do_not() {
        use Access::{None, Read, Write};
        let ordered = |[first, second]: [(u32, Access); 2]| {
            knows(&mut two(), |order| {
                order.event(FIRST, on(first.0, first.1), &[]);
                order.event(SECOND, on(second.0, second.1), &[]);
            })
        };
        for accesses in [[Write, Write], [Write, Read], [Read, Write]] {
            assert!(ordered(accesses.map(|access| (7, access))));
        }
        for accesses in [[Read, Read], [None, Write], [Write, None]] {
            assert!(!ordered(accesses.map(|access| (7, access))));
        }
        assert!(!ordered([(7, Write), (8, Write)]));
    }

    #[test]
    fn what_comes_after_an_event_is_not_known_by_it() {
        let mut order = two();
        order.event(FIRST, on(7, Access::Write), &[]);
        let is_known = knows(&mut order, |order| {
            order.event(SECOND, on(7, Access::Write), &[]);
        });
        assert!(!is_known);
    }

    #[test]
    fn starts_joins_and_edges_order() {
        let mut order = two();
        assert!(!knows(&mut order, |_| {}));
        assert!(knows(&mut order, |order| order.joined(SECOND, FIRST)));
        let mut order = two();
        assert!(knows(&mut order, |order| {
            order.event(FIRST, on(7, Access::None), &[]);
            order.event(SECOND, on(8, Access::None), &[EventId(0)]);
        }));
        let mut order = two();
        assert!(knows(&mut order, |order| order.started(SECOND, Some(FIRST))));
    }

    #[test]
    fn the_last_owner_knows_what_the_others_have_done_up_to_a_period() {
        let mut order = two();
        let period = order.period(FIRST);
        assert!(knows(&mut order, |order| order.learn(SECOND, FIRST, period)));
        order.event(FIRST, on(7, Access::Write), &[]);
        assert!(!knows(&mut order, |order| order.learn(SECOND, FIRST, period)));
    }
}
