//! The stack of the thread that runs.

use crate::coroutine::Fibre;
use crate::engine::Engine;

/// The link of a coroutine to who resumed it is above its stack.
pub(crate) const LINK: usize = 16;

/// Bytes at the low end of a stack that are left alone.
const RESERVE: usize = 1024;

impl Engine {
    /// The coroutine of the thread that runs.
    pub(crate) fn running_fibre(&self) -> Option<&Fibre> {
        Some(&self.threads.get(self.running.index())?.fibre)
    }

    /// Bytes of the stack of the thread that runs below this address that can be written.
    pub(crate) fn room_on_stack(&self, address: usize) -> usize {
        let fibre = self
            .running_fibre()
            .expect("the thread that runs has a coroutine");
        address.saturating_sub(fibre.lowest() + RESERVE)
    }

    /// The address above the stack of the thread that runs, as far as the thread has it to itself.
    pub(crate) fn stack_top(&self) -> usize {
        self.running_fibre()
            .expect("the thread that runs has a coroutine")
            .base()
            - LINK
    }
}
