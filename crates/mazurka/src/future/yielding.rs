//! Yielding to other tasks.

use std::future::poll_fn;
use std::task::Poll;

/// Lets other tasks run: is pending once, and wakes its task at once.
pub async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
