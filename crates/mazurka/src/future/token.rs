//! What a waker gives to the thread that polls.

use std::sync::Arc;
use std::task::Wake;

/// A token that one thread waits for. What is given before it is taken is one token.
pub(super) struct Token(runtime::Notify);

impl Token {
    #[track_caller]
    pub(super) fn new() -> Arc<Token> {
        Arc::new(Token(runtime::Notify::new()))
    }

    /// Waits until a waker was called.
    #[track_caller]
    pub(super) fn wait(&self) {
        self.0.wait();
    }

    /// Does what a waker does.
    #[track_caller]
    pub(super) fn give(&self) {
        self.0.notify();
    }
}

impl Wake for Token {
    fn wake(self: Arc<Token>) {
        self.give();
    }

    fn wake_by_ref(self: &Arc<Token>) {
        self.give();
    }
}
