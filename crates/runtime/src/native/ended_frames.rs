//! Parts of stacks that no longer belong to any function.
//!
//! A function that calls a hook has its frame above the call's return address. On the stack of the
//! running thread, or of a thread that is suspended in a hook, everything below that address
//! belongs to functions that have returned, or to the checker. A thread that has ended has no
//! frames.

use super::Frame;
use super::foreign::may_be_stack;
use crate::engine::Engine;
use crate::engine::perform::silently;
use explore::ThreadId;

/// The frame of the program's last call of a hook.
pub static mut FRAME: *const Frame = std::ptr::null();

/// Restores the frame that [`Engine::record_frame`] returned, for the thread that continues.
#[inline(always)]
pub(crate) fn restore_frame(frame: *const Frame) {
    // SAFETY: only the system thread that runs the program uses `FRAME`.
    unsafe { FRAME = frame };
}

/// Returns whether the address is in the frame of a function that has returned. `frame` is the
/// frame of the current hook call.
#[inline(always)]
pub fn is_in_ended_frame(address: usize, frame: *const Frame) -> bool {
    /// Below each stack is a guard page, so an address less than a page above `frame` is on the
    /// same stack, in a frame that is in use.
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
            // After `main` has returned, other threads continue, and the frame of `main` still
            // counts.
            false if self.life.objects.ends[owner.index()].is_finished() => {
                return owner != ThreadId::MAIN && !self.guests.native.life.has_exited;
            }
            false => thread.life.guests.frame,
        };
        // If the frame is not on the thread's stack, the program runs on a stack that it has
        // allocated itself.
        let is_known = (thread.fibre.lowest()..thread.fibre.base()).contains(&frame);
        is_known && address < frame + size_of::<Frame>()
    }

    /// Records and returns the frame of the running thread, which is about to be suspended. In the
    /// middle of a call, `FRAME` may be the frame of another thread, which is not recorded.
    #[inline(always)]
    pub(crate) fn record_frame(&mut self) -> *const Frame {
        // SAFETY: only the system thread that runs the program writes `FRAME`.
        let frame = unsafe { FRAME };
        if self.is_on_own_stack(frame.addr()) {
            self.thread().life.guests.frame = frame.addr();
        }
        frame
    }

    /// Returns whether the address is on the stack of the thread that ran last, in the frame of a
    /// function that has returned.
    #[cold]
    pub(super) fn is_ended_local(&mut self, address: usize) -> bool {
        // The thread may have continued without being suspended, so its recorded frame may be old.
        self.record_frame();
        let (id, frame) = (self.running, self.thread().life.guests.frame);
        let has_ended = id != ThreadId::MAIN && self.life.objects.ends[id.index()].is_finished();
        self.is_on_own_stack(address) && (has_ended || self.is_in_ended_frame(address, frame))
    }
}
