//! Finds changes that a thread makes to memory, by comparing values.
//!
//! Between two switches only one thread runs. So every difference between the beginning and the end
//! of this segment is a change by that thread. Memory is compared only for threads that have
//! reached a spin loop and have had no effect since.

use super::await_rule::HAS_CALLED_UNKNOWN;
use crate::engine::Engine;
use std::sync::atomic::Ordering::Relaxed;

/// The memory at the beginning of the current segment.
#[derive(Default)]
pub(crate) struct Segment {
    is_known: bool,
    content: Vec<u8>,
}

impl Segment {
    /// Ends the segment.
    #[inline(always)]
    pub(crate) fn forget(&mut self) {
        self.is_known = false;
        // Write the flag only if it is set. Models in Rust, which may run in parallel, never set
        // the flag.
        if HAS_CALLED_UNKNOWN.load(Relaxed) {
            HAS_CALLED_UNKNOWN.store(false, Relaxed);
        }
    }

    /// Returns whether the memory at the beginning of the segment is known.
    pub(super) fn is_known(&self) -> bool {
        self.is_known
    }
}

impl Engine {
    /// Records that the running thread continues with its code.
    #[cold]
    #[inline(never)]
    pub(crate) fn begin_segment(&mut self) {
        if self.config.native.is_none() {
            return self.begin_heap_segment();
        }
        if self.guests.native.segment.is_known || !self.thread().life.guests.visits.is_watched() {
            return;
        }
        let mut content = std::mem::take(&mut self.guests.native.segment.content);
        content.clear();
        self.look_at_memory(&mut |piece| {
            content.extend_from_slice(piece);
            true
        });
        self.guests.native.segment = super::Segment {
            is_known: true,
            content,
        };
    }

    /// Records that another thread may run next.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_segment(&mut self) {
        if self.config.native.is_none() {
            return self.end_heap_segment();
        }
        match HAS_CALLED_UNKNOWN.load(Relaxed) {
            true => self.thread().life.guests.visits.take_effect(),
            // If no segment has begun, the thread has not run since it reached its present place.
            false => self.note_changes(),
        }
        self.guests.native.segment.forget();
    }

    /// Records an effect of the running thread if this segment is known and memory has changed in
    /// it.
    pub(super) fn note_changes(&mut self) {
        let is_known =
            self.guests.native.segment.is_known && self.thread().life.guests.visits.is_watched();
        if is_known && self.has_changed_memory() {
            self.thread().life.guests.visits.take_effect();
        }
    }

    /// Checks whether the running thread has changed memory in this segment. Its own stack does not
    /// count.
    fn has_changed_memory(&self) -> bool {
        let mut rest = &self.guests.native.segment.content[..];
        let is_same = self.look_at_memory(&mut |piece| match rest.split_at_checked(piece.len()) {
            Some((before, behind)) if before == piece => {
                rest = behind;
                true
            }
            Some(_) | None => false,
        });
        !is_same || !rest.is_empty()
    }

    /// Passes the pieces of memory that the running thread shares with other threads to `look`.
    /// Stops when `look` returns false, and then returns false.
    fn look_at_memory(&self, look: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let Some(native) = self.config.native else {
            return true;
        };
        native.memory.look(look)
            && self.started().iter().all(|&id| {
                let fibre = &self.threads[id.index()].fibre;
                // SAFETY: the thread is suspended, and the slice is not kept.
                id == self.running || look(unsafe { fibre.in_use() })
            })
    }

    /// Records a write by the running thread to memory other than its own stack. Where memory is
    /// compared, the write counts as an effect only if the comparison does not cover it.
    #[inline(always)]
    pub(super) fn writes_memory(&mut self, address: usize) {
        if !self.thread().life.guests.visits.is_watched() {
            self.thread().life.guests.visits.write_plainly();
        } else if !self.is_looked_at(address) {
            self.thread().life.guests.visits.take_effect();
        }
    }

    #[cold]
    #[inline(never)]
    fn is_looked_at(&self, address: usize) -> bool {
        let mut is_outside = |piece: &[u8]| !piece.as_ptr_range().contains(&(address as *const u8));
        !self.look_at_memory(&mut is_outside)
    }
}
