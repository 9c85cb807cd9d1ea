//! Starting a thread, and waiting for its result.

use super::share::Share;
use super::{Result, Thread};
use crate::choice::halt_in_tear_down;
use std::fmt;
use std::io;
#[cfg(unix)]
use std::os::unix::thread::{JoinHandleExt, RawPthread};

/// Like `std::thread::JoinHandle`.
pub struct JoinHandle<T> {
    thread: Thread,
    returned: Returned<T>,
}

impl<T: 'static> JoinHandle<T> {
    /// Starts a thread.
    #[track_caller]
    pub(super) fn spawn(
        name: Option<String>,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<JoinHandle<T>>
    where
        T: Send,
    {
        runtime::will_run(&body);
        let returned = Returned::new();
        let handle = runtime::Handle::spawn(name, returned.filled_by(body))?;
        Ok(JoinHandle {
            thread: Thread::of(handle),
            returned,
        })
    }

    /// Starts a thread with a closure that is not `Send`.
    #[track_caller]
    pub(super) fn spawn_local(body: impl FnOnce() -> T + 'static) -> JoinHandle<T> {
        runtime::will_run(&body);
        let returned = Returned::new();
        let handle = runtime::Handle::spawn_local(None, returned.filled_by(body));
        JoinHandle {
            thread: Thread::of(handle),
            returned,
        }
    }
}

impl<T> JoinHandle<T> {
    /// Waits for the end of the thread.
    ///
    /// # Errors
    ///
    /// Returns the payload of the thread's panic if the thread panicked.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        self.thread.handle.join()?;
        Ok(self.returned.take())
    }

    /// Returns the thread.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Checks whether the thread has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.thread.handle.is_finished()
    }
}

/// Exists only so that code compiles: the threads of a model share one thread of the system.
#[cfg(unix)]
impl<T> JoinHandleExt for JoinHandle<T> {
    /// # Panics
    ///
    /// Always panics: all threads of the model would have the same id.
    fn as_pthread_t(&self) -> RawPthread {
        panic!("a thread of a model has no pthread_t: do not request it in a model")
    }

    /// # Panics
    ///
    /// Panics like [`as_pthread_t`](JoinHandleExt::as_pthread_t).
    fn into_pthread_t(self) -> RawPthread {
        self.as_pthread_t()
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// The result of a thread, shared with the thread that joins it.
pub(super) struct Returned<T>(Share<Option<T>>);

impl<T> Returned<T> {
    #[track_caller]
    pub(super) fn new() -> Returned<T> {
        Returned(Share::new(None, "result of a thread"))
    }

    /// Wraps the body of the thread so that its result is stored in this value.
    #[track_caller]
    pub(super) fn filled_by<F: FnOnce() -> T>(&self, body: F) -> impl FnOnce() + use<T, F> {
        let value = self.0.clone();
        move || {
            let returned = body();
            *value.lock() = Some(returned);
        }
    }

    /// Returns the result of the thread, which has ended.
    pub(super) fn take(&self) -> T {
        let value = self.0.lock().take();
        // The value is missing only if the execution is torn down (ended before all threads have
        // returned).
        value.unwrap_or_else(|| halt_in_tear_down())
    }
}
