//! Threads.

use explore::ThreadId;
use std::any::Any;
use std::marker::PhantomData;

/// What a thread panicked with.
pub type Panic = Box<dyn Any + Send + 'static>;

/// Starts a thread. What it gives to the one who joins it goes by the closure's captures; a panic
/// goes to the joiner, and is a failure if there is none.
#[track_caller]
pub fn spawn(_name: Option<String>, _body: impl FnOnce() + 'static) -> ThreadId {
    todo!()
}

/// Waits for the end of a thread; `Err` if it panicked. Only once for each thread.
#[track_caller]
pub fn join(_thread: ThreadId) -> Result<(), Panic> {
    todo!()
}

/// Whether a thread has ended, without waiting.
#[track_caller]
pub fn is_finished(_thread: ThreadId) -> bool {
    todo!()
}

/// The thread at hand.
pub fn current() -> ThreadId {
    todo!()
}

/// The name that a thread was given; the main thread is `main`.
pub fn name(_thread: ThreadId) -> Option<String> {
    todo!()
}

/// Whether a model runs here, so that operations are possible.
pub fn is_in_model() -> bool {
    todo!()
}

/// Whether the thread at hand is unwinding by a panic (or by the end of the execution).
pub fn panicking() -> bool {
    todo!()
}

/// Waits for the park token of the thread at hand.
#[track_caller]
pub fn park() {
    todo!()
}

/// The same for some time; whether it got the token.
#[track_caller]
pub fn park_timed() -> bool {
    todo!()
}

/// Gives a thread its park token.
#[track_caller]
pub fn unpark(_thread: ThreadId) {
    todo!()
}

/// Threads that may borrow from the one that starts them, as in `std::thread::scope`.
pub struct Scope<'scope, 'env: 'scope> {
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// Runs `body`, which may start threads in the scope, and joins those that it has not joined. Panics
/// with "a scoped thread panicked" if one of these did.
#[track_caller]
pub fn scope<'env, R>(_body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R) -> R {
    todo!()
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread of the scope.
    #[track_caller]
    pub fn spawn(&'scope self, _name: Option<String>, _body: impl FnOnce() + 'scope) -> ThreadId {
        todo!()
    }
}
