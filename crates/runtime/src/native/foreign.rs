//! Bytes of a thread's stack that other threads write.
//!
//! The await rule compares a thread's stack with its earlier content. Other threads may have
//! written to the stack meanwhile. Whether the thread stops must not depend on the time of these
//! writes. So the written bytes count with their old values until the thread writes them itself, or
//! has an effect, after which a new comparison begins.

use crate::engine::Engine;
use crate::engine::life::{Life, life};
use crate::engine::perform::silently;
use explore::ThreadId;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The bounds of the addresses of all stacks in this process. Other memory may lie between them.
static LOWEST: AtomicUsize = AtomicUsize::new(usize::MAX);
static HIGHEST: AtomicUsize = AtomicUsize::new(0);

/// Extends the bounds to include another stack.
pub(crate) fn include_stack(start: usize, end: usize) {
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
        let round = &mut owner.life.guests.round;
        if owns {
            round.foreign.overwrite(address, length);
        } else {
            // After an effect, nothing is compared.
            if !round.has_effect() {
                // SAFETY: as promised by the caller.
                unsafe { round.foreign.keep(address, length) };
            }
            // The stack then differs from its copy in savepoints.
            owner.guests.run = run;
            self.accesses_stack(address, length);
        }
    }

    /// Records that the running thread has read an old value of this memory. If the memory is in
    /// the thread's own stack, another thread has written the newest value.
    #[cold]
    pub(super) fn reads_old_value(&mut self, address: usize, length: usize) {
        if may_be_stack(address) && self.owner_of_stack(address) == Some(self.running) {
            self.thread()
                .life
                .guests
                .round
                .foreign
                .add_range(address, length);
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

life! {
    /// The writes of other threads to a thread's stack since the thread's last effect.
    pub(crate) struct Foreign {
        /// The bytes that other threads have written and the thread has not overwritten since, with
        /// the values that they had before.
        bytes: BTreeMap<usize, u8>,
        /// The memory that other threads have written, including what the thread has overwritten
        /// since.
        ranges: Vec<Range<usize>>,
    }
}

impl Foreign {
    /// Checks whether the thread's stack contains no bytes that other threads have written and the
    /// thread has not overwritten since.
    #[inline(always)]
    pub(super) fn is_known(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Checks whether other threads have written to this memory.
    pub(super) fn contains(&self, address: usize, length: usize) -> bool {
        let mut ranges = self.ranges.iter();
        ranges.any(|range| range.start < address + length && address < range.end)
    }

    /// Forgets the writes of other threads. Usually there are none.
    #[inline(always)]
    pub(crate) fn forget(&mut self) {
        if !self.ranges.is_empty() {
            self.forget_all();
        }
    }

    #[cold]
    #[inline(never)]
    fn forget_all(&mut self) {
        self.begin();
    }

    /// Records that the thread writes to its own stack, if this makes a difference. (The stack
    /// itself is compared when the thread returns to a place.)
    #[inline(always)]
    pub(super) fn write_own(&mut self, address: usize, length: usize) {
        if !self.is_known() {
            self.overwrite(address, length);
        }
    }

    /// Records that the thread writes to its own stack.
    pub(crate) fn overwrite(&mut self, address: usize, length: usize) {
        self.bytes
            .retain(|byte, _| !(address..address + length).contains(byte));
    }

    /// Records that another thread has written to this part of the stack, or is about to.
    fn add_range(&mut self, address: usize, length: usize) {
        let range = address..address + length;
        if !self.ranges.contains(&range) {
            self.ranges.push(range);
        }
    }

    /// Records that another thread is about to write to the stack.
    ///
    /// # Safety
    ///
    /// The memory must be readable.
    unsafe fn keep(&mut self, address: usize, length: usize) {
        self.add_range(address, length);
        for byte in address..address + length {
            let place = std::ptr::with_exposed_provenance::<u8>(byte);
            // SAFETY: as promised by the caller. Only the system thread that runs the program reads
            // it.
            let before = unsafe { place.read() };
            self.bytes.entry(byte).or_insert(before);
        }
    }

    /// Puts the old values of foreign bytes into a copy of the stack, which begins at this address.
    pub(crate) fn as_known(&self, start: usize, stack: &mut [u8]) {
        if !self.bytes.is_empty() {
            for (&byte, &before) in self.bytes.range(start..start + stack.len()) {
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
        let mut foreign = Foreign::default();
        let bytes = [1_u8, 2, 3];
        let start = bytes.as_ptr().expose_provenance();
        // SAFETY: the bytes are readable.
        unsafe { foreign.keep(start, 2) };
        let mut stack = [7, 8, 9];
        foreign.as_known(start, &mut stack);
        assert_eq!(stack, [1, 2, 9]);
        foreign.overwrite(start + 1, 4);
        let mut stack = [7, 8, 9];
        foreign.as_known(start, &mut stack);
        assert_eq!(stack, [1, 8, 9]);
    }
}
