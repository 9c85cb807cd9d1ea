//! Yielding to other tasks.

use std::future::poll_fn;
use std::task::Poll;

/// Is pending once and wakes its own task.
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
