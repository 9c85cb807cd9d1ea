//! The future of a call. The call returns it at once, and it gets its value when the task ends.

use runtime::ThreadId;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The future of a task. A clone is the same future.
pub struct Future<T> {
    pub(super) task: ThreadId,
    value: Arc<Mutex<Option<T>>>,
}

/// A type that a task can return.
pub trait Value: Clone + Eq + Hash + Send + 'static {}

impl<T: Clone + Eq + Hash + Send + 'static> Value for T {}

impl<T: Value> Future<T> {
    /// Returns the empty future of this task.
    pub(super) fn of(task: ThreadId) -> Future<T> {
        Future {
            task,
            value: Arc::default(),
        }
    }

    /// Starts a task that fills the returned future.
    #[track_caller]
    pub(super) fn start(method: &str, body: impl FnOnce() -> T + 'static) -> Future<T> {
        let future = Future::of(runtime::upcoming_child(0));
        let body = Box::new(future.filled_by(body));
        runtime::call_at(Location::caller(), method, body);
        future
    }

    /// Returns the body of the task, which fills the future.
    pub(super) fn filled_by(&self, body: impl FnOnce() -> T + 'static) -> impl FnOnce() + 'static {
        let future = self.clone();
        move || {
            let returned = body();
            *future.lock() = Some(returned);
        }
    }

    /// Awaits the end of the task and returns its value.
    ///
    /// If the task panics, the caller waits forever; the panic is the failure that is reported.
    #[track_caller]
    pub fn get(&self) -> T {
        runtime::await_end(Location::caller(), self.task);
        let value = self.value();
        runtime::learn(&value);
        value
    }

    /// Returns the value of the task, whose end has been awaited.
    pub(super) fn value(&self) -> T {
        loop {
            if let Some(value) = &*self.lock() {
                return value.clone();
            }
            // The value is missing only while the execution is torn down (ended before all tasks
            // have returned).
            runtime::assume(false);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<T>> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for Future<T> {
    fn clone(&self) -> Future<T> {
        Future {
            task: self.task,
            value: Arc::clone(&self.value),
        }
    }
}

/// Compares the tasks of the futures.
impl<T> PartialEq for Future<T> {
    fn eq(&self, other: &Future<T>) -> bool {
        self.task == other.task
    }
}

impl<T> Eq for Future<T> {}

impl<T> Hash for Future<T> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.task.hash(hasher);
    }
}

impl<T> fmt::Debug for Future<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Future({})", self.task)
    }
}
