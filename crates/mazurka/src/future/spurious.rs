//! Polls without a wakeup.

use std::pin::Pin;
use std::task::{Context, Poll};

/// Wraps a future so that it may also be polled without a wakeup, as by some executors and
/// combinators. After each pending poll, Mazurka explores both alternatives, with at most `polls`
/// extra polls.
///
/// ```
/// use mazurka::Checker;
/// use mazurka::future::{block_on, spurious};
/// use std::future::poll_fn;
/// use std::task::Poll;
///
/// let report = Checker::new().check(|| {
///     let mut polls = 0;
///     let second = poll_fn(|context| {
///         polls += 1;
///         context.waker().wake_by_ref();
///         if polls == 2 { Poll::Ready(()) } else { Poll::Pending }
///     });
///     block_on(spurious(second, 1));
/// });
/// assert_eq!(report.executions, 2);
/// ```
pub fn spurious<F: Future>(future: F, polls: u32) -> Spurious<F> {
    Spurious {
        future: Box::pin(future),
        left: polls,
    }
}

/// The future that [`spurious`] returns.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct Spurious<F> {
    future: Pin<Box<F>>,
    /// Remaining spurious polls.
    left: u32,
}

impl<F: Future> Future for Spurious<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let polled = self.future.as_mut().poll(context);
        if polled.is_pending() && self.left > 0 && crate::choose(2) == 1 {
            self.left -= 1;
            context.waker().wake_by_ref();
        }
        polled
    }
}
