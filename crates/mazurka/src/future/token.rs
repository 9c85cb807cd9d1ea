//! The token that a waker passes to the polling thread.

use runtime::{Born, Placed};
use std::panic::Location;
use std::sync::Arc;
use std::task::Wake;

/// A place in the source of the program.
pub(super) type Place = &'static Location<'static>;

/// A token that one thread waits for. Giving it several times before the thread takes it has the
/// effect of giving it once.
pub(super) struct Token(Placed<Born<runtime::Notify>>);

impl Token {
    #[track_caller]
    pub(super) fn new() -> Arc<Token> {
        Arc::new(Token(Placed::new(Born::new(())).settled()))
    }

    /// Waits until a waker is called. A thread that woke itself counts as a thread in a spin loop.
    pub(super) fn wait(&self, place: Place) {
        if self.0.get().wait_at(place) {
            runtime::hint();
        }
    }

    /// Records the current thread as the thread that waits.
    pub(super) fn own(&self) {
        self.0.get().own();
    }

    /// Checks whether the current thread has woken itself since it last waited.
    pub(super) fn is_own_gift(&self) -> bool {
        self.0.get().is_own_gift()
    }

    /// Gives the token, as a waker does.
    pub(super) fn give(&self, place: Place) {
        self.0.get().notify_at(place);
    }
}

/// In these two functions, `Location::caller()` is not a place in the program, because the
/// functions of a waker have no tracked caller. [`AtomicWaker`](super::AtomicWaker) records the
/// program's location for wakes through it.
impl Wake for Token {
    fn wake(self: Arc<Token>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Token>) {
        self.give(runtime::place(Location::caller()));
    }
}
