//! A thread that polls one future.

use super::token::Token;
use std::panic::Location;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Polls the future until it is ready. Between polls the thread waits until the waker is called.
///
/// Several calls of the waker before the thread waits count as one. Nothing else wakes the thread,
/// so there is a deadlock if a pending future has not passed its waker on.
///
/// ```
/// use mazurka::future::{AtomicWaker, block_on};
/// use mazurka::sync::Arc;
/// use mazurka::sync::atomic::{AtomicBool, Ordering::{Acquire, Release}};
/// use mazurka::thread;
/// use std::future::poll_fn;
/// use std::task::Poll;
///
/// mazurka::model(|| {
///     let shared = Arc::new((AtomicBool::new(false), AtomicWaker::new()));
///     thread::spawn({
///         let shared = Arc::clone(&shared);
///         move || {
///             shared.0.store(true, Release);
///             shared.1.wake();
///         }
///     });
///     block_on(poll_fn(|context| {
///         shared.1.register_by_ref(context.waker());
///         match shared.0.load(Acquire) {
///             true => Poll::Ready(()),
///             false => Poll::Pending,
///         }
///     }));
/// });
/// ```
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    block_on_spuriously(future, 0)
}

/// Like [`block_on`], but may poll the future up to `polls` times without a wakeup.
#[doc(hidden)]
#[track_caller]
pub fn block_on_spuriously<F: Future>(future: F, mut polls: u32) -> F::Output {
    let mut future = pin!(future);
    let (token, place) = (Token::new(), Location::caller());
    token.own();
    let waker = Waker::from(Arc::clone(&token));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => {
                if polls > 0 && !token.is_own_gift() && crate::choose(2) == 1 {
                    polls -= 1;
                    token.give(place);
                }
                token.wait(place);
            }
        }
    }
}
