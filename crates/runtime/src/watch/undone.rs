//! Effects that a round of a loop undoes before another thread observes them: a lock is taken and
//! released, or a variable gets its old value back. Without the round, all other threads would
//! observe the same values. So the await rule treats this round as a round without effect.
//!
//! Whether another thread has observed an effect depends only on the trace: the observation happens
//! between the event that has the effect and the event that undoes it. An observation is an access
//! to the variable, or a try that fails because of the lock. For memory that is not a variable of
//! the model, a chain of conflicts has to lead from a write of the thread to another thread and
//! back.

use crate::engine::Engine;
use crate::engine::life::life;
use crate::watch::seen::Seen;
use explore::{Access, EventId, ObjectId, OpKind, ThreadId, ValueId};
use objects::{Condition, Ticket};
use std::collections::{BTreeMap, BTreeSet};

/// A lock that a thread has taken: its number, and the thread's place in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hold {
    Mutex(u32, Ticket),
    RwLock(u32, Ticket),
    /// A variable, which may be a lock implemented by the program, and the event that changed it.
    Variable(ObjectId, EventId),
}

/// A lock that was taken and not released. `taken_at` and `first_visit` refer to the visits of the
/// thread's round.
#[derive(Clone, Copy)]
struct Held {
    hold: Hold,
    /// The number of visits when the lock was taken. Later visits are forgotten when the lock is
    /// released: a round that began there would end without the lock.
    taken_at: usize,
    /// The index of the first visit with the same locks held.
    first_visit: usize,
}

life! {
    /// The effects of a round.
    pub(crate) struct Effects {
        /// Variables that do not have their values from before the round's first write.
        written: Vec<Written>,
        /// Locks that were taken and not released.
        held: Vec<Held>,
        /// Locks that were taken and released, and changes of variables.
        released: Vec<Hold>,
        /// The number of effects that other threads observed before they were undone.
        observed: u32,
        /// The first event that might expose changed memory to another thread: a write, or the
        /// release of a lock.
        published: Option<EventId>,
    }
}

/// A variable that does not have its value from before the round's first write, which is the event
/// `since`.
#[derive(Clone, Copy)]
struct Written {
    object: ObjectId,
    before: ValueId,
    since: EventId,
}

impl Effects {
    /// Returns the index of the first visit that the thread has made with the locks that it holds
    /// now. A round can have begun only at this visit or a later one.
    #[inline(always)]
    pub(crate) fn first_visit(&self) -> usize {
        self.held.last().map_or(0, |held| held.first_visit)
    }

    /// Checks whether all effects have been undone.
    pub(crate) fn are_undone(&self) -> bool {
        self.written.is_empty() && self.held.is_empty()
    }

    /// Checks whether the variable currently has a value that the round has written.
    pub(crate) fn is_written(&self, object: ObjectId) -> bool {
        self.written.iter().any(|written| written.object == object)
    }

    /// Returns the number of effects that other threads observed before they were undone.
    pub(crate) fn observed(&self) -> u32 {
        self.observed
    }

    /// Records that another thread has observed an effect.
    pub(crate) fn record_observed(&mut self) {
        self.observed += 1;
    }

    /// Forgets locks that were taken or released. If a forgotten lock is released later, the
    /// release counts as an effect.
    #[inline(always)]
    pub(crate) fn forget_locks(&mut self) {
        self.held.clear();
        self.released.clear();
    }

    /// Discards the first `count` releases.
    pub(crate) fn forget_releases(&mut self, count: usize) {
        self.released.drain(..count);
    }

    /// Returns the locks that were taken and released, and the changes of variables.
    pub(crate) fn released(&self) -> &[Hold] {
        &self.released
    }

    /// Replaces the locks that were taken and released, and the changes of variables. Returns them.
    pub(crate) fn replace_released(&mut self, released: Vec<Hold>) -> Vec<Hold> {
        std::mem::replace(&mut self.released, released)
    }
}

/// The access of an event of the current execution.
struct Accessed {
    thread: ThreadId,
    object: ObjectId,
    access: Access,
    /// Whether the event changed the value and does not belong to a round without progress.
    has_effect: bool,
}

/// The events of the execution, while threads are watched.
#[derive(Default)]
pub(crate) struct History {
    /// The event of the first entry.
    start: u32,
    events: Vec<Accessed>,
    /// Synchronization edges: the later event, the earlier event.
    edges: Vec<(EventId, EventId)>,
}

impl History {
    pub(crate) fn clear(&mut self) {
        self.events.clear();
        self.edges.clear();
    }

    fn since(&self, event: EventId) -> &[Accessed] {
        let first = (event.0 - self.start) as usize;
        &self.events[first.min(self.events.len())..]
    }

    /// Checks whether another thread has accessed the object since the event.
    fn is_observed(&self, thread: ThreadId, object: ObjectId, since: EventId) -> bool {
        let mut events = self.since(since).iter();
        events.any(|event| event.object == object && event.thread != thread)
    }

    /// Checks whether an event after `since` has changed the object. The thread of that later event
    /// may also have changed the data that the object guards.
    fn is_overtaken(&self, object: ObjectId, since: EventId) -> bool {
        let mut events = self.since(since).iter().skip(1);
        events.any(|event| event.object == object && event.has_effect)
    }

    /// Records that the event belongs to a round without progress.
    fn made_no_progress(&mut self, event: EventId) {
        self.events[(event.0 - self.start) as usize].has_effect = false;
    }

    /// Checks whether a chain of conflicts and synchronization edges leads from the thread, at
    /// `since` or later, to another thread and back to an event up to `last`. `pending` are the
    /// sources of the synchronization edges to the thread's next event.
    fn comes_back(
        &self,
        thread: ThreadId,
        since: EventId,
        last: EventId,
        pending: &[EventId],
    ) -> bool {
        let mut threads = BTreeSet::new();
        // Events of the thread itself, and later events of other threads that depend on them.
        let mut later = BTreeSet::new();
        let is_foreign = |event: &EventId| {
            let at = (event.0 - self.start) as usize;
            self.events[at].thread != thread
        };
        let mut accessed = BTreeSet::new();
        // Whether a write is among the accesses of other threads, by object.
        let mut others = BTreeMap::new();
        for (offset, event) in self.since(since).iter().enumerate() {
            let id = EventId(since.0 + offset as u32);
            let is_write = event.access == Access::Write;
            let is_access = event.access != Access::None;
            let mut edges = self.edges.iter().filter(|&&(to, _)| to == id);
            let is_after = edges.any(|(_, from)| {
                later.contains(from) && (event.thread != thread || is_foreign(from))
            });
            let written = others.get(&event.object).copied();
            let follows =
                is_after || is_access && written.is_some_and(|written| is_write || written);
            if event.thread == thread {
                if follows && id <= last {
                    return true;
                }
                if is_write {
                    accessed.insert(event.object);
                }
                later.insert(id);
                continue;
            }
            let reads_own = is_access && accessed.contains(&event.object);
            if follows || reads_own || threads.contains(&event.thread) {
                threads.insert(event.thread);
                later.insert(id);
                if is_access {
                    *others.entry(event.object).or_insert(false) |= is_write;
                }
            }
        }
        pending
            .iter()
            .any(|event| later.contains(event) && is_foreign(event))
    }
}

impl Engine {
    /// Checks whether locks that a thread takes and releases are tracked. In machine code, they are
    /// tracked only once a thread seems to poll a variable under a lock.
    #[inline(always)]
    pub(crate) fn undoes_locks(&self) -> bool {
        self.watch.reads && (self.config.native.is_none() || self.names.has_lock_polls())
    }

    /// Records the current event.
    pub(crate) fn record_access(&mut self, thread: ThreadId) {
        let event = self.event();
        let history = &mut self.guests.history;
        if history.events.is_empty() {
            history.start = event.0;
        }
        history.events.push(Accessed {
            thread,
            object: self.op.object,
            access: self.op.access,
            has_effect: self.op.access == Access::Write && self.before != self.after,
        });
        let edges = self.edges.iter().map(|&edge| (event, edge));
        history.edges.extend(edges);
    }

    /// Records that the thread has changed a variable's value, and may undo this change.
    pub(crate) fn record_write(&mut self, thread: ThreadId) {
        let (object, before, after) = (self.op.object, self.before, self.after);
        let event = self.event();
        let effects = &self.threads[thread.index()].life.guests.round.effects;
        let mut written = effects.written.iter();
        let index = written.position(|written| written.object == object);
        if index.is_none() {
            self.see(Seen::Value(object, before));
        }
        let effects = &mut self.threads[thread.index()].life.guests.round.effects;
        effects.released.push(Hold::Variable(object, event));
        let Some(index) = index else {
            effects.written.push(Written {
                object,
                before,
                since: event,
            });
            return;
        };
        let since = effects.written[index].since;
        if effects.written[index].before == after {
            effects.written.swap_remove(index);
        }
        if self.guests.history.is_observed(thread, object, since) {
            self.threads[thread.index()]
                .life
                .guests
                .round
                .effects
                .record_observed();
        }
    }

    /// Records that the thread has performed an event while it has changed memory and not restored
    /// it.
    pub(crate) fn record_publication(&mut self, thread: ThreadId) {
        let event = self.event();
        let round = &mut self.threads[thread.index()].life.guests.round;
        if round.at_hints.has_changed_heap() {
            round.effects.published.get_or_insert(event);
        }
    }

    /// Ends a change of memory by the running thread: the memory has its old content again. Returns
    /// whether another thread may have observed the change.
    pub(crate) fn was_published(&mut self) -> bool {
        let thread = self.running;
        let running = self.thread();
        let (published, last) = (
            running.life.guests.round.effects.published.take(),
            running.life.last,
        );
        let (Some(since), Some(last)) = (published, last) else {
            return false;
        };
        let pending = &self.threads[thread.index()].life.edges;
        self.guests.history.comes_back(thread, since, last, pending)
    }

    /// Records that the running thread has taken the lock.
    #[inline(always)]
    pub(crate) fn takes(&mut self, hold: Hold) {
        let is_watched = self.undoes_locks();
        let round = &mut self.thread().life.guests.round;
        match is_watched {
            true => round.effects.held.push(Held {
                hold,
                taken_at: round.visits.len(),
                first_visit: round.visits.len(),
            }),
            false => round.take_effect(),
        }
    }

    /// Records that the running thread is about to release the lock.
    #[inline(always)]
    pub(crate) fn gives_back(&mut self, hold: Hold) {
        if self.undoes_locks() {
            self.undoes(hold);
        }
    }

    #[cold]
    fn undoes(&mut self, hold: Hold) {
        let is_native = self.config.native.is_some();
        // If the owner of a robust mutex has ended, and the mutex is unlocked without
        // `pthread_mutex_consistent`, it becomes unusable (`ENOTRECOVERABLE`).
        let is_changed = matches!(hold, Hold::Mutex(number, _)
            if self.life.objects.mutexes.get(number).condition() == Condition::OwnerEnded);
        let is_observed = match hold {
            Hold::Mutex(number, place) => self
                .life
                .objects
                .mutexes
                .get(number)
                .has_made_try_fail(place),
            Hold::RwLock(number, place) => self
                .life
                .objects
                .rwlocks
                .get(number)
                .has_made_try_fail(place),
            Hold::Variable(object, event) => {
                self.guests.history.is_observed(self.running, object, event)
            }
        };
        let round = &mut self.thread().life.guests.round;
        let effects = &mut round.effects;
        let held = effects.held.iter().position(|held| held.hold == hold);
        let Some(index) = held.filter(|_| !is_native || !is_observed && !is_changed) else {
            return round.take_effect();
        };
        let Held { taken_at, .. } = effects.held.remove(index);
        effects.released.push(hold);
        effects.observed += u32::from(is_observed);
        match effects.held.get_mut(index) {
            None => round.visits.truncate(taken_at),
            // Locks that were taken later are still held. No earlier visit was made with exactly
            // these locks held.
            Some(next) => {
                next.taken_at = taken_at;
                let last = effects.held.last_mut().expect("a lock is held");
                last.first_visit = round.visits.len();
            }
        }
    }

    /// Records that the round of the running thread made no progress, so it changed no data that a
    /// lock guards.
    pub(crate) fn made_no_progress(&mut self) {
        let released = std::mem::take(&mut self.thread().life.guests.round.effects.released);
        for &hold in &released {
            match hold {
                Hold::Mutex(number, place) => {
                    self.life
                        .objects
                        .mutexes
                        .get_mut(number)
                        .made_no_progress(place);
                }
                Hold::RwLock(number, place) => self
                    .life
                    .objects
                    .rwlocks
                    .get_mut(number)
                    .made_no_progress(place),
                Hold::Variable(_, event) => self.guests.history.made_no_progress(event),
            }
        }
        self.thread().life.guests.round.effects.released = released;
    }

    /// Checks whether, since the thread's round, another thread has taken a lock that the round
    /// released, or changed a variable that the round changed. The other thread may then have
    /// changed the data that this lock or variable guards.
    pub(crate) fn is_overtaken(&self, thread: ThreadId) -> bool {
        let released = self.threads[thread.index()]
            .life
            .guests
            .round
            .effects
            .released();
        released.iter().any(|&hold| match hold {
            Hold::Mutex(number, place) => self.life.objects.mutexes.get(number).is_overtaken(place),
            Hold::RwLock(number, place) => {
                self.life.objects.rwlocks.get(number).is_overtaken(place)
            }
            Hold::Variable(object, event) => self.guests.history.is_overtaken(object, event),
        })
    }
}

/// Checks whether operations of this kind belong to a lock. Such an operation counts as an effect
/// only until the lock is released.
pub(crate) fn is_of_lock(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::MutexRequest
            | OpKind::MutexWait
            | OpKind::MutexUnlock
            | OpKind::ReadRequest
            | OpKind::ReadWait
            | OpKind::ReadRelease
            | OpKind::WriteRequest
            | OpKind::WriteWait
            | OpKind::WriteRelease
    )
}
