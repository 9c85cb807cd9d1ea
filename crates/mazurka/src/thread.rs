//! Like `std::thread`.

mod builder;
mod join;
mod local;
mod scope;
pub(crate) mod share;

pub use builder::Builder;
pub use join::JoinHandle;
pub use runtime::{AccessError, LocalKey};
pub use scope::{Scope, ScopedJoinHandle, scope};
pub use std::thread::Result;

use std::fmt;
use std::io;
use std::num::NonZero;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Starts a thread.
///
/// ```
/// use mazurka::thread;
///
/// mazurka::model(|| {
///     let sum = thread::spawn(|| (1..=4).sum::<u32>());
///     assert_eq!(sum.join().unwrap(), 10);
/// });
/// ```
#[track_caller]
pub fn spawn<F, T>(body: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    JoinHandle::spawn(None, body).expect("failed to spawn thread")
}

/// Starts a thread with a closure that is not `Send`, as in loom: all threads of a model run in one
/// thread of the operating system.
///
/// # Panics
///
/// Panics outside a model.
#[track_caller]
pub fn spawn_local<F, T>(body: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    JoinHandle::spawn_local(body)
}

/// Returns the current thread.
#[track_caller]
pub fn current() -> Thread {
    Thread::of(runtime::Handle::current())
}

/// Waits for the current thread's token, which [`Thread::unpark`] makes available, and takes it.
#[track_caller]
pub fn park() {
    runtime::park_here();
}

/// Like [`park`], but the wait may expire at any time, whatever the limit is.
#[track_caller]
pub fn park_timeout(limit: Duration) {
    runtime::park_here_for(limit);
}

/// Marks a loop that waits for another thread: see [`crate::hint::spin_loop`].
#[inline(always)]
#[track_caller]
pub fn yield_now() {
    match runtime::is_outside() {
        true => std::thread::yield_now(),
        false => runtime::hint(),
    }
}

/// In a model, like [`yield_now`], because a pause has no duration there. Outside a model, pauses
/// the thread.
#[inline(always)]
#[track_caller]
pub fn sleep(pause: Duration) {
    match runtime::is_outside() {
        true => runtime::pause(pause),
        false => runtime::hint(),
    }
}

/// Like `std::thread::available_parallelism`, but returns 2 on every machine. This also holds
/// outside a model, because a program under a safe trace must behave as it did when it was
/// verified.
///
/// # Errors
///
/// This function never returns an error.
pub fn available_parallelism() -> io::Result<NonZero<usize>> {
    Ok(const { NonZero::new(2).expect("2 is not 0") })
}

/// Checks whether the current thread is panicking.
#[track_caller]
pub fn panicking() -> bool {
    runtime::panicking()
}

/// Like `std::thread::Thread`.
#[derive(Clone)]
pub struct Thread {
    handle: runtime::Handle,
    /// The name, once it is known. (A spin loop that calls [`current`] must not allocate memory in
    /// each round, because no two of its states would be equal.)
    name: OnceLock<Option<Arc<str>>>,
}

/// Like `std::thread::ThreadId`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadId(u64);

impl Thread {
    #[inline]
    fn of(handle: runtime::Handle) -> Thread {
        Thread {
            handle,
            name: OnceLock::new(),
        }
    }

    /// Makes the token of the thread available. [`park`] takes it.
    #[track_caller]
    pub fn unpark(&self) {
        self.handle.unpark();
    }

    /// Returns the id of the thread.
    pub fn id(&self) -> ThreadId {
        ThreadId(self.handle.number())
    }

    /// Returns the name that [`Builder::name`] set, if there is one. The name of the main thread is
    /// `main`.
    pub fn name(&self) -> Option<&str> {
        let name = || self.handle.name().map(Arc::from);
        self.name.get_or_init(name).as_deref()
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread")
            .field("id", &self.id())
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ThreadId({})", self.0)
    }
}
