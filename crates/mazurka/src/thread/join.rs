//! Starting a thread, and waiting for what it returns.

use super::{Result, Thread};
use crate::choice::torn_down;
use std::fmt;
use std::io;
#[cfg(unix)]
use std::os::unix::thread::{JoinHandleExt, RawPthread};
use std::sync::{Arc, Mutex, PoisonError};

/// As `std::thread::JoinHandle`.
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
        let returned = Returned::default();
        let handle = runtime::Handle::spawn(name.clone(), returned.filled_by(body))?;
        Ok(JoinHandle {
            thread: Thread::of(handle, name),
            returned,
        })
    }

    /// The same for what cannot be sent to another thread.
    #[track_caller]
    pub(super) fn spawn_local(body: impl FnOnce() -> T + 'static) -> JoinHandle<T> {
        let returned = Returned::default();
        let handle = runtime::Handle::spawn_local(None, returned.filled_by(body));
        JoinHandle {
            thread: Thread::of(handle, None),
            returned,
        }
    }
}

impl<T> JoinHandle<T> {
    /// Waits for the end of the thread.
    ///
    /// # Errors
    ///
    /// With what the thread panicked with.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        self.thread.handle.join()?;
        Ok(self.returned.take())
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Whether the thread has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.thread.handle.is_finished()
    }
}

/// The threads of a model share one thread of the system.
#[cfg(unix)]
impl<T> JoinHandleExt for JoinHandle<T> {
    /// # Panics
    ///
    /// Always: the id would name all threads of the model.
    fn as_pthread_t(&self) -> RawPthread {
        panic!("a thread of a model has no pthread_t: do not ask for it in a model")
    }

    /// # Panics
    ///
    /// As [`as_pthread_t`](JoinHandleExt::as_pthread_t).
    fn into_pthread_t(self) -> RawPthread {
        self.as_pthread_t()
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// What a thread returns, on its way to the one who joins it.
pub(super) struct Returned<T>(Arc<Mutex<Option<T>>>);

impl<T> Default for Returned<T> {
    fn default() -> Returned<T> {
        Returned(Arc::default())
    }
}

impl<T> Returned<T> {
    /// The body of the thread, which puts what it returns here.
    pub(super) fn filled_by<F: FnOnce() -> T>(&self, body: F) -> impl FnOnce() + use<T, F> {
        let value = Arc::clone(&self.0);
        move || {
            let returned = body();
            *value.lock().unwrap_or_else(PoisonError::into_inner) = Some(returned);
        }
    }

    /// What the thread, which has ended, returned.
    pub(super) fn take(&self) -> T {
        let value = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Only while the execution is torn down is a thread joined that has not ended.
        value.unwrap_or_else(|| torn_down())
    }
}
