//! Start and end of a thread.
//!
//! Spawn and join have no access: what is ordered by them is so in every schedule. Only where someone
//! polls for the end is it an event of its own, a write that the polls read.

use crate::Form;
use explore::{EventId, OpKind};

/// Whether a thread has ended.
#[derive(Clone, Copy, Default, Debug)]
pub struct Thread {
    last: Option<EventId>,
    has_panicked: bool,
}

impl Thread {
    /// Number of objects the end of a thread takes.
    pub const PARTS: u32 = 1;
    /// Starts a thread; an after edge of its first event.
    pub const SPAWN: Form = Form::none(OpKind::Spawn);
    /// Waits for the end of a thread.
    pub const JOIN: Form = Form::none(OpKind::Join);
    /// The end, where it is polled: the last event of the thread.
    pub const END: Form = Form::write(OpKind::End, 0);
    /// Looks whether the thread [`is_finished`](Thread::is_finished).
    pub const IS_FINISHED: Form = Form::read(OpKind::IsFinished, 0);

    /// The thread has ended; `last` is its last event, or its spawn if it has none.
    pub fn finish(&mut self, last: EventId) {
        self.last = Some(last);
    }

    /// The end of the thread is that of a panic.
    pub fn panic(&mut self) {
        self.has_panicked = true;
    }

    /// Whether the thread has ended, and not by a panic.
    pub fn has_returned(&self) -> bool {
        self.is_finished() && !self.has_panicked
    }

    /// Whether the thread has ended.
    pub fn is_finished(&self) -> bool {
        self.last.is_some()
    }

    /// The after edges of a join.
    pub fn edges(&self, edges: &mut Vec<EventId>) {
        edges.extend(self.last);
    }

    /// As new.
    pub fn clear(&mut self) {
        *self = Thread::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_comes_after_the_last_event() {
        let mut thread = Thread::default();
        assert!(!thread.is_finished());
        thread.finish(EventId(5));
        assert!(thread.is_finished());
        let mut edges = Vec::new();
        thread.edges(&mut edges);
        assert_eq!(edges, [EventId(5)]);
    }

    #[test]
    fn a_thread_that_panicked_has_ended_but_not_returned() {
        let mut thread = Thread::default();
        thread.finish(EventId(1));
        assert!(thread.has_returned());
        thread.panic();
        assert!(thread.is_finished() && !thread.has_returned());
        thread.clear();
        assert!(!thread.is_finished());
    }
}
