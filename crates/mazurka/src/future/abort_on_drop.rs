//! A task that does not outlive its handle.

use super::{JoinError, JoinHandle};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A [`JoinHandle`] that aborts its task when it is dropped, unless the task's result was taken.
///
/// ```
/// use mazurka::future::{block_on, spawn, yield_now};
///
/// mazurka::model(|| {
///     let endless = spawn(std::future::pending::<()>()).abort_on_drop();
///     block_on(yield_now());
///     drop(endless); // otherwise it would wait for ever
/// });
/// ```
#[derive(Debug)]
#[must_use = "the task is aborted when this is dropped"]
pub struct AbortOnDrop<T> {
    /// `None` once the result has been taken.
    task: Option<JoinHandle<T>>,
}

impl<T> AbortOnDrop<T> {
    pub(super) fn new(task: JoinHandle<T>) -> AbortOnDrop<T> {
        AbortOnDrop { task: Some(task) }
    }
}

impl<T> Future for AbortOnDrop<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T, JoinError>> {
        let task = self.task.as_mut();
        let task = task.expect("a future must not be polled after it was ready");
        let polled = Pin::new(task).poll(context);
        if polled.is_ready() {
            self.task = None;
        }
        polled
    }
}

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}
