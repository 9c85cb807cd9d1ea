//! Once: the first thread to enter initializes, and the other threads wait for the end of the
//! initialization.
//!
//! An initializer may fail. Then the next thread in order becomes the initializer. The front-end
//! decides whether a failure poisons the once permanently ([`has_failed`](Once::has_failed)).

use crate::{Form, Object, Ticket};
use explore::{EventId, OpKind, ThreadId};

/// A wait for the initialization.
#[derive(Clone, Copy, Debug)]
pub enum OnceWait {
    /// An entry waits until it becomes the initializer or the initialization is done.
    Entry(Ticket),
    /// A wait without an entry. It ends when the initialization is done, or when more initializers
    /// than this number have failed.
    Failures(u32),
}

/// The entries of a once, and whether the initialization is done.
#[derive(Clone, Default, Debug)]
pub struct Once {
    entries: Vec<ThreadId>,
    /// The number of failed initializers. The entry with this number is next.
    failed: u32,
    last_failure: Option<EventId>,
    done: Option<EventId>,
}

impl Once {
    /// The form of [`enter`](Once::enter).
    pub const ENTER: Form = Form::write(OpKind::OnceEnter, 0);
    /// Waits to become the initializer or until the initialization is done.
    pub const WAIT: Form = Form::none(OpKind::OnceWait);
    /// The form of [`finish`](Once::finish) and [`fail`](Once::fail). The waits between these
    /// events order them, so the access costs nothing unless a thread polls.
    pub const DONE: Form = Form::write(OpKind::OnceDone, 1);
    /// Checks [`is_done`](Once::is_done) without waiting.
    pub const GET: Form = Form::read(OpKind::OnceGet, 1);

    /// Takes a place.
    pub fn enter(&mut self, thread: ThreadId) -> Ticket {
        self.entries.push(thread);
        Ticket::at(self.entries.len() - 1)
    }

    /// Checks whether the entry must initialize.
    pub fn is_initializer(&self, ticket: Ticket) -> bool {
        self.done.is_none() && ticket.index() == self.failed as usize
    }

    /// Records that the initializer is done, by the event `at`.
    pub fn finish(&mut self, at: EventId) {
        self.done = Some(at);
    }

    /// Records that the initializer failed, by the event `at`.
    pub fn fail(&mut self, at: EventId) {
        self.last_failure = Some(at);
        self.failed += 1;
    }

    /// Checks whether the initialization is done.
    pub fn is_done(&self) -> bool {
        self.done.is_some()
    }

    /// Returns the event that ended the initialization, if it is done.
    pub fn done(&self) -> Option<EventId> {
        self.done
    }

    /// Checks whether an initializer failed.
    pub fn has_failed(&self) -> bool {
        self.failed > 0
    }

    /// Returns the number of failed initializers.
    pub fn failures(&self) -> u32 {
        self.failed
    }

    /// Checks whether the last initializer failed and no other thread has entered.
    pub fn is_poisoned(&self) -> bool {
        !self.is_done() && self.has_failed() && self.initializer().is_none()
    }

    /// Returns the thread of the next entry, which must initialize. Returns `None` if the
    /// initialization is done or there is no such entry.
    pub fn initializer(&self) -> Option<ThreadId> {
        if self.is_done() {
            None
        } else {
            self.entries.get(self.failed as usize).copied()
        }
    }
}

impl Object for Once {
    type Size = ();
    type Wait = OnceWait;

    /// The number of objects that represent a once: one for the order of entries, one for whether
    /// it is done.
    const PARTS: u32 = 2;

    fn clear(&mut self, (): ()) {
        self.entries.clear();
        self.failed = 0;
        self.last_failure = None;
        self.done = None;
    }

    fn is_granted(&self, wait: OnceWait) -> bool {
        self.is_done()
            || match wait {
                OnceWait::Entry(ticket) => self.is_initializer(ticket),
                OnceWait::Failures(failures) => self.failed > failures,
            }
    }

    fn edges(&self, _: OnceWait, edges: &mut Vec<EventId>) {
        edges.extend(self.done.or(self.last_failure));
    }

    fn awaited(&self, _: Self::Wait) -> Vec<ThreadId> {
        self.initializer().into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_ended(once: &Once, failures: u32) -> bool {
        once.is_granted(OnceWait::Failures(failures))
    }

    #[test]
    fn the_first_to_enter_initializes_and_the_others_wait() {
        let mut once = Once::default();
        let first = once.enter(ThreadId(0));
        let second = once.enter(ThreadId(1));
        assert!(once.is_initializer(first) && !once.is_granted(OnceWait::Entry(second)));
        assert_eq!(once.initializer(), Some(ThreadId(0)));
        once.finish(EventId(3));
        assert!(
            once.is_granted(OnceWait::Entry(second))
                && !once.is_initializer(second)
                && once.is_done()
        );
        let mut edges = Vec::new();
        once.edges(OnceWait::Entry(second), &mut edges);
        assert_eq!(edges, [EventId(3)]);
    }

    #[test]
    fn the_next_in_order_replaces_an_initializer_that_fails() {
        let mut once = Once::default();
        once.enter(ThreadId(0));
        let second = once.enter(ThreadId(1));
        assert!(!has_ended(&once, 0));
        once.fail(EventId(2));
        assert!(
            once.is_granted(OnceWait::Entry(second))
                && once.is_initializer(second)
                && once.has_failed()
        );
        assert!(has_ended(&once, 0) && !has_ended(&once, once.failures()) && !once.is_poisoned());
        let mut edges = Vec::new();
        once.edges(OnceWait::Entry(second), &mut edges);
        assert_eq!(edges, [EventId(2)]);
        once.fail(EventId(3));
        assert!(once.is_poisoned());
        once.enter(ThreadId(2));
        assert!(!once.is_poisoned(), "the third one initializes");
        once.finish(EventId(4));
        assert!(once.is_granted(OnceWait::Failures(u32::MAX)));
    }
}
