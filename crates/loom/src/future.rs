//! As `loom::future`.

pub use mazurka::future::AtomicWaker;

/// As `loom::future::block_on`: once the future may be polled although nobody woke it, which is explored, too.
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
