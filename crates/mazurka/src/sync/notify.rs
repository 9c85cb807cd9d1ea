//! A token that one thread waits for, like `loom::sync::Notify`. `std` has no equivalent.

use super::constructor::{constructor, named};
use runtime::{Born, Placed, Settle, Settling};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A token that any thread can give and one thread takes. If threads give the token several times
/// before it is taken, it can still be taken only once.
///
/// ```
/// use mazurka::sync::{Arc, Notify};
/// use mazurka::thread;
///
/// mazurka::model(|| {
///     let ready = Arc::new(Notify::new());
///     thread::spawn({
///         let ready = Arc::clone(&ready);
///         move || ready.notify()
///     });
///     ready.wait();
/// });
/// ```
pub struct Notify(Placed<Waited>);

struct Waited {
    token: Born<runtime::Notify>,
    has_waiter: AtomicBool,
}

impl Notify {
    constructor! {
        /// Creates the object without a token.
        pub fn new() -> Notify {
            Notify(Placed::new(Waited {
                token: Born::new(()),
                has_waiter: AtomicBool::new(false),
            }))
        }
    }

    named!(|inner| inner.token);

    /// Gives the token. Earlier actions of this thread happen-before the return of the `wait` that
    /// takes the token.
    #[track_caller]
    pub fn notify(&self) {
        self.0.get().token.notify();
    }

    /// Waits for the token and takes it.
    ///
    /// # Panics
    ///
    /// Panics if another thread waits.
    #[track_caller]
    pub fn wait(&self) {
        let inner = self.0.get();
        let others = inner.has_waiter.swap(true, Relaxed);
        assert!(!others, "only a single thread may wait on a `Notify`");
        inner.token.wait();
        inner.has_waiter.store(false, Relaxed);
    }
}

impl Settle for Waited {
    #[inline(always)]
    fn is_settled(&self) -> bool {
        self.token.is_settled()
    }

    fn settle(&self, settling: &Settling) {
        self.token.settle(settling);
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Notify {
        Notify::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").finish_non_exhaustive()
    }
}
