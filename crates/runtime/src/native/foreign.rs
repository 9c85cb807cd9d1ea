//! Bytes of a thread's stack that other threads write.
//!
//! The await rule compares a thread's stack with its earlier content. The thread has not observed
//! the bytes that other threads wrote there meanwhile. Whether the thread stops must not depend on
//! the time of these writes. So the bytes count with their old values until the thread writes them
//! itself, or has an effect, after which a new comparison begins.

use super::Visits;
use crate::engine::Engine;
use crate::engine::perform::silently;
use explore::ThreadId;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The bounds of the addresses of all stacks in this process. Other memory may lie between them.
static LOWEST: AtomicUsize = AtomicUsize::new(usize::MAX);
static HIGHEST: AtomicUsize = AtomicUsize::new(0);

/// Extends the bounds to include another stack.
pub(crate) fn meet_stack(start: usize, end: usize) {
    LOWEST.fetch_min(start, Relaxed);
    HIGHEST.fetch_max(end, Relaxed);
}

#[inline(always)]
pub(super) fn may_be_stack(address: usize) -> bool {
    address < HIGHEST.load(Relaxed) && address >= LOWEST.load(Relaxed)
}

/// Records that a function called by the program is about to change this memory without a hook.
///
/// # Safety
///
/// The memory must be readable.
#[inline]
pub unsafe fn changes(address: usize, length: usize) {
    if may_be_stack(address) {
        // SAFETY: as promised by the caller.
        silently(|engine| unsafe { engine.changes_stack(address, length) });
    }
}

impl Engine {
    /// Records that the running thread is about to change this memory, perhaps another thread's
    /// stack.
    ///
    /// # Safety
    ///
    /// The memory must be readable.
    #[inline(always)]
    pub(crate) unsafe fn changes(&mut self, address: usize, length: usize) {
        if may_be_stack(address) {
            // SAFETY: as promised by the caller.
            unsafe { self.changes_stack(address, length) };
        }
    }

    /// # Safety
    ///
    /// The conditions are those of [`Engine::changes`].
    #[cold]
    unsafe fn changes_stack(&mut self, address: usize, length: usize) {
        let Some(owner) = self.owner_of_stack(address) else {
            return;
        };
        let owns = owner == self.running;
        let run = self.guests.savepoints.next_run();
        let owner = &mut self.threads[owner.index()];
        if owns {
            owner.life.guests.visits.overwrite(address, length);
        } else {
            // SAFETY: as promised by the caller.
            unsafe { owner.life.guests.visits.keep(address, length) };
            // The stack then differs from its copy in savepoints.
            owner.guests.run = run;
            self.accesses_stack(address);
        }
    }

    pub(super) fn owner_of_stack(&self, address: usize) -> Option<ThreadId> {
        let mut threads = self.started().iter().copied();
        threads.find(|thread| {
            let fibre = &self.threads[thread.index()].fibre;
            (fibre.lowest()..fibre.base()).contains(&address)
        })
    }
}

impl Visits {
    /// Records that the thread writes to its own stack.
    pub(crate) fn overwrite(&mut self, address: usize, length: usize) {
        self.foreign
            .retain(|byte, _| !(address..address + length).contains(byte));
    }

    /// Records that another thread is about to write to the stack.
    ///
    /// # Safety
    ///
    /// The memory must be readable.
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
            // SAFETY: as promised by the caller. Only the system thread that runs the program reads
            // it.
            let before = unsafe { place.read() };
            self.foreign.entry(byte).or_insert(before);
        }
    }

    /// Puts the old values of foreign bytes into a copy of the stack, which begins at this address.
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
        let mut visits = Visits::default();
        let bytes = [1_u8, 2, 3];
        let start = bytes.as_ptr().expose_provenance();
        // SAFETY: the bytes are readable.
        unsafe { visits.keep(start, 2) };
        let mut stack = [7, 8, 9];
        visits.as_known(start, &mut stack);
        assert_eq!(stack, [1, 2, 9]);
        visits.overwrite(start + 1, 4);
        let mut stack = [7, 8, 9];
        visits.as_known(start, &mut stack);
        assert_eq!(stack, [1, 8, 9]);
    }
}
