//! Like `std::thread::Builder`.

use super::{JoinHandle, Scope, ScopedJoinHandle};
use std::io;

/// Like `std::thread::Builder`.
#[must_use = "must eventually spawn the thread"]
#[derive(Default, Debug)]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// Creates a builder for a thread without a name.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Sets the name of the thread, which traces also show.
    pub fn name(self, name: String) -> Builder {
        Builder {
            name: Some(name),
            ..self
        }
    }

    /// Sets the minimum stack size of the thread in bytes: see
    /// [`Checker::stack_size`](crate::Checker::stack_size).
    pub fn stack_size(self, size: usize) -> Builder {
        Builder {
            stack_size: Some(size),
            ..self
        }
    }

    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// Outside a model, returns an error if the system cannot start a thread.
    #[track_caller]
    pub fn spawn<F, T>(self, body: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.ask_for_stack();
        JoinHandle::spawn(self.name, body)
    }

    /// Starts the thread in a scope.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`Builder::spawn`].
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        body: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.ask_for_stack();
        scope.start(self.name, body)
    }

    #[track_caller]
    fn ask_for_stack(&self) {
        if let Some(size) = self.stack_size {
            runtime::ask_for_stack(size);
        }
    }
}
