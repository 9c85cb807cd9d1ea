//! Like `std::thread::scope`.

use super::join::Returned;
use super::{Result, Thread};
use std::fmt;
use std::io;
use std::marker::PhantomData;

/// Runs a closure that may start threads which borrow data from outside the closure. Then joins the
/// threads that the closure has not joined.
///
/// ```
/// use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
/// use mazurka::thread;
///
/// mazurka::model(|| {
///     let count = AtomicU32::new(0);
///     thread::scope(|scope| {
///         scope.spawn(|| count.fetch_add(1, SeqCst));
///         scope.spawn(|| count.fetch_add(1, SeqCst));
///     });
///     assert_eq!(count.load(SeqCst), 2);
/// });
/// ```
///
/// # Panics
///
/// Panics if a thread that the closure did not join has panicked.
#[track_caller]
pub fn scope<'env, F, T>(body: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let scope = Scope {
        threads: runtime::Scope::default(),
        env: PhantomData,
    };
    runtime::scope(&scope.threads, || body(&scope))
}

/// Like `std::thread::Scope`.
pub struct Scope<'scope, 'env: 'scope> {
    threads: runtime::Scope<'scope>,
    env: PhantomData<&'env mut &'env ()>,
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Starts a thread in the scope.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, body: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.start(None, body).expect("failed to spawn thread")
    }

    /// Starts a thread with an optional name.
    #[track_caller]
    pub(super) fn start<T: Send + 'scope>(
        &'scope self,
        name: Option<String>,
        body: impl FnOnce() -> T + Send + 'scope,
    ) -> io::Result<ScopedJoinHandle<'scope, T>> {
        runtime::will_run(&body);
        let returned = Returned::new();
        let handle = self.threads.start(name, returned.filled_by(body))?;
        Ok(ScopedJoinHandle {
            thread: Thread::of(handle),
            returned,
            scope: PhantomData,
        })
    }
}

/// Like `std::thread::ScopedJoinHandle`.
pub struct ScopedJoinHandle<'scope, T> {
    thread: Thread,
    returned: Returned<T>,
    scope: PhantomData<&'scope ()>,
}

impl<T> ScopedJoinHandle<'_, T> {
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

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
