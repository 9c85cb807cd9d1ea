//! Parts of stacks that belong to no function any more.
//!
//! A function that calls a hook has its frame above the return address of the call. So what is below, on the stack of the thread
//! that runs or of one that is suspended in a hook, is what functions left that have returned. A thread that has ended has
//! no frames.

use super::Frame;
use super::foreign::may_be_stack;
use crate::engine::Engine;
use crate::perform::silently;
use explore::ThreadId;

/// What the stack of the program looked like at its last call of a hook.
pub static mut FRAME: *const Frame = std::ptr::null();

/// Whether this is a part of a stack where a function has returned. `frame` is that of the call of the program at hand.
#[inline(always)]
pub fn is_in_ended_frame(address: usize, frame: *const Frame) -> bool {
    /// Below each stack there is a guard page. So an address less than a page above the frame is on its stack.
    const NEAR: usize = 4096;
    let above = address.wrapping_sub(frame.addr() + size_of::<Frame>());
    above >= NEAR
        && may_be_stack(address)
        && silently(|engine| engine.is_in_ended_frame(address, frame.addr()))
}

impl Engine {
    #[inline(never)]
    fn is_in_ended_frame(&self, address: usize, frame: usize) -> bool {
        let Some(owner) = self.owner_of_stack(address) else {
            return false;
        };
        let thread = &self.threads[owner.index()];
        let frame = match owner == self.running {
            true => frame,
            // When main has returned others run on as if it had not.
            false if self.objects.ends[owner.index()].is_finished() => {
                return owner != ThreadId::MAIN && !self.native.has_exited;
            }
            false => thread.frame,
        };
        // Else the program has a stack of its own there.
        let is_known = (thread.fibre.lowest()..thread.fibre.base()).contains(&frame);
        is_known && address < frame + size_of::<Frame>()
    }

    /// The thread that runs is about to be suspended. In the middle of a call others may have made calls since.
    #[inline(always)]
    pub(crate) fn note_frame(&mut self) {
        // SAFETY: the one thread of the system that runs the program writes it.
        let frame = unsafe { FRAME }.addr();
        if self.is_on_own_stack(frame) {
            self.thread().frame = frame;
        }
    }

    /// Whether the function with this local variable of the thread that ran last has returned.
    #[cold]
    pub(super) fn is_ended_local(&mut self, address: usize) -> bool {
        // It may go on without being suspended.
        self.note_frame();
        let (id, frame) = (self.running, self.thread().frame);
        let has_ended = id != ThreadId::MAIN && self.objects.ends[id.index()].is_finished();
        self.is_on_own_stack(address) && (has_ended || self.is_in_ended_frame(address, frame))
    }
}
