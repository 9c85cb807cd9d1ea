//! Tokens for which one thread waits: the park token of a thread, or a token that does not belong
//! to a thread. A token that is given several times before it is taken is taken only once.

use super::Deadline;
use super::bell::Bell;
use crate::{begin, end, enforcement};
use explore::OpKind;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// A token that one thread takes and other threads give.
pub struct Token {
    /// A combination of the flags below.
    state: AtomicU32,
    bell: Bell,
}

/// The token has been given.
const THERE: u32 = 1;
/// The thread waits for the token.
const WAITING: u32 = 2;
/// The thread has been granted the token, but has perhaps not observed this yet.
const GRANTED: u32 = 4;

impl Token {
    /// Returns a token that was not given.
    pub const fn new() -> Token {
        Token {
            state: AtomicU32::new(0),
            bell: Bell::new(),
        }
    }

    /// Waits for the token and takes it. Only one thread may do this at a time.
    pub fn take(&self) {
        self.request();
        self.bell.wait(None, || self.is_granted());
    }

    /// Waits for the token until the deadline and takes it. Returns whether the token was given.
    pub fn take_until(&self, deadline: Deadline) -> bool {
        self.request();
        if !enforcement::decides_next() {
            self.bell.wait(Some(deadline), || self.is_granted());
        }
        begin(OpKind::ParkResolve);
        let before = self.change(|state| match state & GRANTED {
            0 => 0,
            _ => state,
        });
        end();
        before & GRANTED != 0
    }

    fn request(&self) {
        begin(OpKind::ParkRequest);
        self.change(|state| match state & THERE {
            0 => WAITING,
            _ => GRANTED,
        });
        end();
    }

    /// Gives the token.
    pub fn give(&self) {
        begin(OpKind::Unpark);
        let before = self.change(|state| match state & WAITING {
            0 => state | THERE,
            _ => GRANTED,
        });
        end();
        if before & WAITING != 0 {
            self.bell.ring();
        }
    }

    fn is_granted(&self) -> bool {
        self.state.load(SeqCst) & GRANTED != 0
    }

    /// Changes the state. Returns the previous state.
    fn change(&self, change: impl Fn(u32) -> u32) -> u32 {
        let changed = self
            .state
            .fetch_update(SeqCst, SeqCst, |state| Some(change(state)));
        let (Ok(before) | Err(before)) = changed;
        before
    }
}

impl Default for Token {
    fn default() -> Token {
        Token::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn tokens_given_before_one_is_taken_count_as_one() {
        let token = Token::new();
        token.give();
        token.give();
        token.take();
        assert!(!token.take_until(Deadline::after(Duration::ZERO)));
        token.give();
        assert!(token.take_until(Deadline::after(Duration::ZERO)));
    }

    #[test]
    fn a_waiter_gets_each_token_that_is_given_in_turn() {
        let (there, back) = (&Token::new(), &Token::new());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..2_000 {
                    there.take();
                    back.give();
                }
            });
            for _ in 0..2_000 {
                there.give();
                back.take();
            }
        });
    }
}
