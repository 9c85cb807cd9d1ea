//! Tasks: futures that run concurrently.

use super::token::{Place, Token};
use super::{AbortOnDrop, AtomicWaker, JoinError};
use crate::thread::share::Share;
use runtime::Handle;
use std::fmt;
use std::panic::Location;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll, Waker};

/// Starts a task that polls the future until it is ready or the task is aborted.
///
/// ```
/// use mazurka::future::{block_on, spawn};
/// use mazurka::sync::Arc;
/// use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
///
/// mazurka::model(|| {
///     let count = Arc::new(AtomicU32::new(0));
///     let tasks = [1, 2].map(|n| {
///         let count = Arc::clone(&count);
///         spawn(async move { count.fetch_add(n, SeqCst) })
///     });
///     block_on(async {
///         for task in tasks {
///             task.await.unwrap();
///         }
///     });
///     assert_eq!(count.load(SeqCst), 3);
/// });
/// ```
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let shared = Arc::new(Shared {
        token: Token::new(),
        is_aborted: runtime::Atomic::internal(false, "task.is_aborted"),
        is_finished: runtime::Atomic::internal(false, "task.is_finished"),
        joiner: AtomicWaker::internal("task.joiner"),
    });
    let output = Share::new(None, "result of a task");
    let (running, found) = (Arc::clone(&shared), output.clone());
    let place = Location::caller();
    let thread = Handle::spawn(None, move || running.run(future, &found, place));
    JoinHandle {
        thread: thread.expect("failed to spawn thread"),
        shared,
        output,
    }
}

/// The handle of a task: a future that is ready when the task ends. The task continues if the
/// handle is dropped.
pub struct JoinHandle<T> {
    thread: Handle,
    shared: Arc<Shared>,
    /// The output of the future, from its end until the handle takes it.
    output: Share<Option<T>>,
}

/// The state that a task shares with its handle.
struct Shared {
    token: Arc<Token>,
    is_aborted: runtime::Atomic<bool>,
    is_finished: runtime::Atomic<bool>,
    /// The waker of the task or thread that awaits the handle.
    joiner: AtomicWaker,
}

/// Announces, when dropped, that the task has returned, panicked or was aborted.
struct End<'s>(&'s Shared);

impl<T> JoinHandle<T> {
    /// Sets the name of the task in traces, which otherwise show its spawn path. Naming costs
    /// nothing in executions that the report does not show.
    #[track_caller]
    pub fn named(self, name: &str) -> Self {
        self.thread.call(name);
        self
    }

    /// Makes the task drop its future instead of polling it again, unless the task ends first.
    #[track_caller]
    pub fn abort(&self) {
        self.shared.is_aborted.store(true, SeqCst);
        self.shared.token.give(Location::caller());
    }

    /// Returns a handle that aborts the task when it is dropped.
    pub fn abort_on_drop(self) -> AbortOnDrop<T> {
        AbortOnDrop::new(self)
    }

    /// Checks whether the task has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.shared.is_finished.load(SeqCst)
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    #[track_caller]
    fn poll(
        self: Pin<&mut JoinHandle<T>>,
        context: &mut Context<'_>,
    ) -> Poll<Result<T, JoinError>> {
        self.shared.joiner.register_by_ref(context.waker());
        if !self.is_finished() {
            return Poll::Pending;
        }
        Poll::Ready(match self.thread.join() {
            Err(panic) => Err(JoinError::panicked(panic)),
            Ok(()) => self.output.lock().take().ok_or(JoinError::cancelled()),
        })
    }
}

impl Shared {
    /// Runs the task in its thread. Traces show the waits between polls at the location of the
    /// task's `spawn`.
    fn run<F: Future>(&self, future: F, found: &Share<Option<F::Output>>, place: Place) {
        let _end = End(self);
        // Dropped before `_end`, which announces the end.
        let mut future = pin!(future);
        let waker = Waker::from(Arc::clone(&self.token));
        let mut context = Context::from_waker(&waker);
        self.token.own();
        while !self.is_aborted.load(SeqCst) {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(output) => {
                    *found.lock() = Some(output);
                    return;
                }
                Poll::Pending => self.token.wait(place),
            }
        }
    }
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.is_finished.store(true, SeqCst);
        self.0.joiner.wake();
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}
