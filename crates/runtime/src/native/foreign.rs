//! Bytes of a thread's stack that other threads write.
//!
//! The await rule compares the stack of a thread with what it was before. What others wrote meanwhile the thread does not
//! know: whether it stops must not depend on when they did. So these bytes count as they were before, until the thread
//! writes them itself, or has an effect, with which another comparison begins.

use super::Laps;
use crate::engine::Engine;
use crate::perform::silently;
use explore::ThreadId;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The stacks of this process lie between these addresses, other memory may, too.
static LOWEST: AtomicUsize = AtomicUsize::new(usize::MAX);
static HIGHEST: AtomicUsize = AtomicUsize::new(0);

/// There is one more stack.
pub(crate) fn meet_stack(start: usize, end: usize) {
    LOWEST.fetch_min(start, Relaxed);
    HIGHEST.fetch_max(end, Relaxed);
}

#[inline(always)]
pub(super) fn may_be_stack(address: usize) -> bool {
    address < HIGHEST.load(Relaxed) && address >= LOWEST.load(Relaxed)
}

/// A function that the program has called is about to change this memory, of which there is no hook.
///
/// # Safety
///
/// The memory can be read.
#[inline]
pub unsafe fn changes(address: usize, length: usize) {
    if may_be_stack(address) {
        // SAFETY: as promised by the caller.
        silently(|engine| unsafe { engine.changes_stack(address, length) });
    }
}

impl Engine {
    /// The thread that runs is about to change this memory, which may be another's stack.
    ///
    /// # Safety
    ///
    /// The memory can be read.
    #[inline(always)]
    pub(crate) unsafe fn changes(&mut self, address: usize, length: usize) {
        if may_be_stack(address) {
            // SAFETY: as promised by the caller.
            unsafe { self.changes_stack(address, length) };
        }
    }

    /// # Safety
    ///
    /// As for [`Engine::changes`].
    #[cold]
    unsafe fn changes_stack(&mut self, address: usize, length: usize) {
        let Some(owner) = self.owner_of_stack(address) else {
            return;
        };
        let owns = owner == self.running;
        let run = self.savepoints.next_run();
        let owner = &mut self.threads[owner.index()];
        if owns {
            owner.laps.overwrite(address, length);
        } else {
            // SAFETY: as promised by the caller.
            unsafe { owner.laps.keep(address, length) };
            // What it has on its stack is not what a savepoint has.
            owner.run = run;
            self.accesses_stack(address);
        }
    }

    pub(super) fn owner_of_stack(&self, address: usize) -> Option<ThreadId> {
        let mut threads = self.born().iter().copied();
        threads.find(|thread| {
            let fibre = &self.threads[thread.index()].fibre;
            (fibre.lowest()..fibre.base()).contains(&address)
        })
    }
}

impl Laps {
    /// The thread writes to its own stack.
    pub(crate) fn overwrite(&mut self, address: usize, length: usize) {
        self.foreign
            .retain(|byte, _| !(address..address + length).contains(byte));
    }

    /// Another thread is about to write to the stack.
    ///
    /// # Safety
    ///
    /// The memory can be read.
    unsafe fn keep(&mut self, address: usize, length: usize) {
        if self.is_beginning() {
            return;
        }
        let range = address..address + length;
        if !self.written_by_others.contains(&range) {
            self.written_by_others.push(range);
        }
        for byte in address..address + length {
            let place = std::ptr::with_exposed_provenance::<u8>(byte);
            // SAFETY: as promised by the caller; the one thread of the system that runs the program reads it.
            let before = unsafe { place.read() };
            self.foreign.entry(byte).or_insert(before);
        }
    }

    /// Puts into a copy of the stack, which begins at this address, what the thread knows of it.
    pub(crate) fn as_known(&self, start: usize, stack: &mut [u8]) {
        if !self.foreign.is_empty() {
            for (&byte, &before) in self.foreign.range(start..start + stack.len()) {
                stack[byte - start] = before;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_write_counts_when_the_thread_writes_there_itself() {
        let mut laps = Laps::default();
        let bytes = [1_u8, 2, 3];
        let start = bytes.as_ptr().expose_provenance();
        // SAFETY: the bytes can be read.
        unsafe { laps.keep(start, 2) };
        let mut stack = [7, 8, 9];
        laps.as_known(start, &mut stack);
        assert_eq!(stack, [1, 2, 9]);
        laps.overwrite(start + 1, 4);
        let mut stack = [7, 8, 9];
        laps.as_known(start, &mut stack);
        assert_eq!(stack, [1, 8, 9]);
    }
}
