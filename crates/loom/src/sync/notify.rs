//! Mirrors `loom::sync::Notify`.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Mirrors `loom::sync::Notify`: a token for one waiter. The waiter may return once without the
/// token.
#[derive(Debug, Default)]
pub struct Notify {
    token: mazurka::sync::Notify,
    /// Whether the waiter has returned without the token. Only the waiter reads this.
    is_spent: AtomicBool,
}

impl Notify {
    /// Returns an instance without a token.
    #[track_caller]
    pub fn new() -> Notify {
        Notify::default()
    }

    /// Supplies the token. All earlier operations happen before the waiter takes it.
    #[track_caller]
    pub fn notify(&self) {
        self.token.notify();
    }

    /// Waits for the token and takes it, or returns spuriously.
    #[track_caller]
    pub fn wait(&self) {
        if !self.is_spent.load(Relaxed) && mazurka::choose(2) == 1 {
            self.is_spent.store(true, Relaxed);
            return;
        }
        self.token.wait();
    }
}
