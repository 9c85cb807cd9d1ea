//! Scopes outside of models.

use crate::rust::thread::Handle;
use crate::rust::thread::system::SystemThread;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{io, mem};

/// The threads of a scope, or `None` before the scope is opened and after it is closed.
#[derive(Default)]
pub(super) struct Threads(Mutex<Option<Vec<Arc<SystemThread>>>>);

impl Threads {
    fn all(&self) -> MutexGuard<'_, Option<Vec<Arc<SystemThread>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `body` like [`super::scope`].
    pub(super) fn scope<R>(&self, body: impl FnOnce() -> R) -> R {
        let before = self.all().replace(Vec::new());
        assert!(before.is_none(), "a scope is opened inside itself");
        let result = catch_unwind(AssertUnwindSafe(body));
        let mut has_panicked = false;
        while let Some(thread) = self.next() {
            has_panicked |= thread.join().is_err();
        }
        *self.all() = None;
        match result {
            Err(panic) => resume_unwind(panic),
            Ok(_) if has_panicked => panic!("a scoped thread panicked"),
            Ok(result) => result,
        }
    }

    /// Removes a thread from the list and returns it, or returns `None` if the list is empty.
    /// Threads of the scope may start more threads.
    fn next(&self) -> Option<Arc<SystemThread>> {
        self.all().as_mut().and_then(Vec::pop)
    }

    /// Starts a thread.
    pub(super) fn spawn<'scope>(
        &'scope self,
        name: Option<String>,
        body: Box<dyn FnOnce() + Send + 'scope>,
    ) -> io::Result<Handle> {
        let mut all = self.all();
        let threads = all.as_mut();
        let threads = threads.expect("a thread is started in a scope that is not open");
        // SAFETY: the scope is open. The call of `scope` does not return or unwind before the
        // thread has ended and has dropped its captures, because the thread is in the list, under
        // the lock, before it begins. `'scope` lasts at least as long.
        let body: Box<dyn FnOnce() + Send> = unsafe { mem::transmute(body) };
        let thread = SystemThread::spawn(name, body)?;
        threads.push(Arc::clone(&thread));
        Ok(Handle::System(thread))
    }
}
