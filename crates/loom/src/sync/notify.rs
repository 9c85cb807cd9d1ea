//! As `loom::sync::Notify`.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// As `loom::sync::Notify`: a token for one waiter, who once may return without it, which is explored, too.
#[derive(Debug, Default)]
pub struct Notify {
    token: mazurka::sync::Notify,
    /// Whether the waiter has returned without the token. Only the waiter asks.
    is_spent: AtomicBool,
}

impl Notify {
    /// Without a token.
    #[track_caller]
    pub fn new() -> Notify {
        Notify::default()
    }

    /// Gives the token. What was done before is seen by who takes it.
    #[track_caller]
    pub fn notify(&self) {
        self.token.notify();
    }

    /// Waits for the token and takes it, or returns for no reason.
    #[track_caller]
    pub fn wait(&self) {
        if !self.is_spent.load(Relaxed) && mazurka::choose(2) == 1 {
            self.is_spent.store(true, Relaxed);
            return;
        }
        self.token.wait();
    }
}
