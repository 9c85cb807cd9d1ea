//! Parts of stacks that no longer belong to any function.
//!
//! A function that calls a hook has its frame above the call's return address. On the stack of the
//! running thread, or of a thread that is suspended in a hook, everything below that address
//! belongs to functions that have returned, or to the checker. A thread that has ended has no
//! frames.
//!
//! The end of a frame must be ordered with other threads' accesses to the frame, as a free must be.
//! It is not an event. So it is recorded when the thread announces its next event, calls a function
//! of a synchronization object, ends a wait, or ends. If the memory belongs to the frame of another
//! function by then, the end is not noticed. Returns are not recorded for programs that call
//! `makecontext` or `sigaltstack`: their functions may run on a stack in a local variable, above
//! frames that are in use. Only the ends of their threads are recorded.

use super::Frame;
use super::foreign::may_be_stack;
use super::shadow::Kind;
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

/// Records that the running thread ends, and with it all its frames. The frame of `main` stays.
pub fn end_stack() {
    silently(|engine| match engine.running {
        ThreadId::MAIN => engine.end_frames(),
        _ => {
            let base = engine.thread().fibre.base();
            engine.end_locals_below(base, Kind::End);
        }
    });
}

impl Engine {
    /// Records that the running thread accesses this memory on the stack of another thread. The
    /// return of the owner's function that has this memory in its frame counts as an access, too.
    /// So the search watches this memory from now on.
    pub(super) fn shares_locals(&mut self, owner: ThreadId, address: usize, length: usize) {
        let run = self.guests.savepoints.next_run();
        let thread = &mut self.threads[owner.index()];
        let (start, end) = (address, address + length);
        let shared = match thread.life.guests.shared_locals {
            Some((from, to)) => (from.min(start), to.max(end)),
            None => (start, end),
        };
        if thread.life.guests.shared_locals != Some(shared) {
            thread.life.guests.shared_locals = Some(shared);
            // The thread's state then differs from its copy in savepoints.
            thread.guests.run = run;
        }
        if self.races_plain() {
            self.own_for(owner, address, length, true);
        } else {
            self.search_for_races();
        }
    }

    /// Records that functions of the running thread have returned, if other threads have accessed
    /// their local variables. The thread must be in a call of a hook.
    #[inline(always)]
    pub(crate) fn end_frames(&mut self) {
        if self.thread().life.guests.shared_locals.is_some() {
            // SAFETY: only the system thread that runs the program writes `FRAME`.
            let frame = unsafe { FRAME }.addr();
            if self.is_on_own_stack(frame) && !self.guests.native.life.has_exited {
                self.end_locals_below(frame + size_of::<Frame>(), Kind::Return);
            }
        }
    }

    /// Records that the lifetime of the local variables below this address on the running thread's
    /// stack has ended, as far as other threads have accessed them.
    #[cold]
    fn end_locals_below(&mut self, frame: usize, how: Kind) {
        let shared = self.thread().life.guests.shared_locals;
        if let Some((start, end)) = shared.filter(|&(start, _)| start < frame) {
            if how == Kind::Return && self.switches_stacks() {
                return;
            }
            self.thread().life.guests.shared_locals = (frame < end).then_some((frame, end));
            self.shadow_end(start..end.min(frame), how);
        }
    }

    /// Returns whether functions may run on stacks in local variables. If so, the frames below the
    /// current one may be in use.
    fn switches_stacks(&self) -> bool {
        let native = self.config.native;
        native.is_some_and(|native| native.memory.switches_stacks())
    }

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
        is_known && address < frame + size_of::<Frame>() && !self.switches_stacks()
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
