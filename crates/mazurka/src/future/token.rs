//! What a waker gives to the thread that polls.

use runtime::{Born, Placed};
use std::panic::Location;
use std::sync::Arc;
use std::task::Wake;

/// A place in the source of the program.
pub(super) type Place = &'static Location<'static>;

/// A token that one thread waits for. What is given before it is taken is one token.
pub(super) struct Token(Placed<Born<runtime::Notify>>);

impl Token {
    #[track_caller]
    pub(super) fn new() -> Arc<Token> {
        Arc::new(Token(Placed::new(Born::new(())).settled()))
    }

    /// Waits until a waker was called. A thread that has woken itself is in a spin loop, as far as one can know.
    pub(super) fn wait(&self, place: Place) {
        if self.0.get().wait_at(place) {
            runtime::hint();
        }
    }

    /// The thread at hand is the one that is going to wait.
    pub(super) fn own(&self) {
        self.0.get().own();
    }

    /// Whether the thread at hand has woken itself since it waited last.
    pub(super) fn is_own_gift(&self) -> bool {
        self.0.get().is_own_gift()
    }

    /// Does what a waker does.
    pub(super) fn give(&self, place: Place) {
        self.0.get().notify_at(place);
    }
}

/// A waker is called by a table of functions that know no caller: an [`AtomicWaker`](super::AtomicWaker) says where it is.
impl Wake for Token {
    fn wake(self: Arc<Token>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Token>) {
        self.give(runtime::place(Location::caller()));
    }
}
