//! Mirrors `loom::future`.

pub use mazurka::future::AtomicWaker;

/// Mirrors `loom::future::block_on`. Also explores polling the future once without a wakeup.
///
/// ```
/// use loom::future::block_on;
/// use std::future::poll_fn;
/// use std::task::Poll;
///
/// loom::model(|| {
///     let mut polls = 0;
///     let second = poll_fn(|context| {
///         polls += 1;
///         context.waker().wake_by_ref();
///         if polls > 1 { Poll::Ready(()) } else { Poll::Pending }
///     });
///     block_on(second);
/// });
/// ```
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    mazurka::block_on_spuriously(future, 1)
}
