//! Start and end of a thread.
//!
//! Spawn and join have no access, because no schedule can reverse their orders: a spawn comes
//! before the first event of the thread, and a join comes after the last. The end of a thread is a
//! separate event only if another thread polls it: a write that the polls read.

use crate::Form;
use explore::{EventId, OpKind};

/// Whether a thread has ended.
#[derive(Clone, Copy, Default, Debug)]
pub struct Thread {
    /// The last event of the thread, or its spawn if it has no events. `None` until the thread has
    /// ended.
    last: Option<EventId>,
    has_panicked: bool,
}

impl Thread {
    /// The number of objects that represent the end of a thread.
    pub const PARTS: u32 = 1;
    /// Starts a thread, whose first event has a synchronization edge from this event.
    pub const SPAWN: Form = Form::none(OpKind::Spawn);
    /// Waits for the end of a thread.
    pub const JOIN: Form = Form::none(OpKind::Join);
    /// The end of a thread, as its last event. Used only if another thread polls the end.
    pub const END: Form = Form::write(OpKind::End, 0);
    /// Checks [`is_finished`](Thread::is_finished).
    pub const IS_FINISHED: Form = Form::read(OpKind::IsFinished, 0);

    /// Records that the thread has ended. `last` is the thread's last event, or its spawn if it has
    /// no events.
    pub fn finish(&mut self, last: EventId) {
        self.last = Some(last);
    }

    /// Records that the thread ended by a panic.
    pub fn panic(&mut self) {
        self.has_panicked = true;
    }

    /// Checks whether the thread has ended without a panic.
    pub fn has_returned(&self) -> bool {
        self.is_finished() && !self.has_panicked
    }

    /// Checks whether the thread has ended.
    pub fn is_finished(&self) -> bool {
        self.last.is_some()
    }

    /// Appends to `edges` the last event of the thread, from which a synchronization edge leads to
    /// a join.
    pub fn edges(&self, edges: &mut Vec<EventId>) {
        edges.extend(self.last);
    }

    /// Resets the thread for the next execution.
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
