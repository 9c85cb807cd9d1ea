//! The stack of the running thread.

use crate::engine::Engine;
use crate::engine::coroutine::Fibre;

/// The bytes at the high end of a coroutine's stack that link it to the code that resumes it.
pub(crate) const LINK: usize = 16;

/// The number of bytes at the low end of a stack that the checker does not touch.
const RESERVE: usize = 1024;

impl Engine {
    /// Returns the coroutine of the running thread.
    pub(crate) fn running_fibre(&self) -> Option<&Fibre> {
        Some(&self.threads.get(self.running.index())?.fibre)
    }

    /// Returns how many bytes of the running thread's stack below this address can be written.
    pub(crate) fn room_on_stack(&self, address: usize) -> usize {
        let fibre = self
            .running_fibre()
            .expect("the thread that runs has a coroutine");
        address.saturating_sub(fibre.lowest() + RESERVE)
    }

    /// Returns the address above the part of the stack that belongs to the running thread alone.
    pub(crate) fn stack_top(&self) -> usize {
        self.running_fibre()
            .expect("the thread that runs has a coroutine")
            .base()
            - LINK
    }
}
