//! What a thread changes in memory, found by comparing values.
//!
//! Between two switches only one thread runs. So what differs at the end of this segment from what was there at its
//! beginning, that thread has changed. This is asked only of threads that have come to a spin loop, and have had no
//! effect since.

use super::laps::HAS_CALLED_UNKNOWN;
use crate::engine::Engine;
use std::sync::atomic::Ordering::Relaxed;

/// The memory at the beginning of the segment at hand.
#[derive(Default)]
pub(crate) struct Segment {
    is_known: bool,
    content: Vec<u8>,
}

impl Segment {
    /// The segment is over.
    #[inline(always)]
    pub(crate) fn forget(&mut self) {
        self.is_known = false;
        // Models in Rust, which may run side by side, only look at it.
        if HAS_CALLED_UNKNOWN.load(Relaxed) {
            HAS_CALLED_UNKNOWN.store(false, Relaxed);
        }
    }

    /// Whether the memory at the beginning is known.
    pub(super) fn is_known(&self) -> bool {
        self.is_known
    }
}

impl Engine {
    /// The thread that runs goes on with its code.
    #[cold]
    #[inline(never)]
    pub(crate) fn begin_segment(&mut self) {
        if self.config.native.is_none() {
            return self.begin_heap_segment();
        }
        if self.native.segment.is_known || !self.thread().laps.is_watched() {
            return;
        }
        let mut content = std::mem::take(&mut self.native.segment.content);
        content.clear();
        self.look_at_memory(&mut |piece| {
            content.extend_from_slice(piece);
            true
        });
        self.native.segment = super::Segment {
            is_known: true,
            content,
        };
    }

    /// Another thread may run next.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_segment(&mut self) {
        if self.config.native.is_none() {
            return self.end_heap_segment();
        }
        match HAS_CALLED_UNKNOWN.load(Relaxed) {
            true => self.thread().laps.take_effect(),
            // If the segment has not begun, the thread has not run since it came to the place where it is.
            false => self.note_changes(),
        }
        self.native.segment.forget();
    }

    /// A change of memory in this segment, if it is known, is an effect of the thread that runs.
    pub(super) fn note_changes(&mut self) {
        let is_known = self.native.segment.is_known && self.thread().laps.is_watched();
        if is_known && self.has_changed_memory() {
            self.thread().laps.take_effect();
        }
    }

    /// Whether the thread that runs has changed memory in this segment. Its own stack does not count.
    fn has_changed_memory(&self) -> bool {
        let mut rest = &self.native.segment.content[..];
        let is_same = self.look_at_memory(&mut |piece| match rest.split_at_checked(piece.len()) {
            Some((before, behind)) if before == piece => {
                rest = behind;
                true
            }
            Some(_) | None => false,
        });
        !is_same || !rest.is_empty()
    }

    /// Shows the memory that the thread that runs shares with others, until one says that it has seen enough: then gives false.
    fn look_at_memory(&self, look: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let Some(native) = self.config.native else {
            return true;
        };
        native.memory.look(look)
            && self.born().iter().all(|&id| {
                let fibre = &self.threads[id.index()].fibre;
                // SAFETY: the thread is suspended, and the slice is not kept.
                id == self.running || look(unsafe { fibre.in_use() })
            })
    }

    /// The thread that runs writes here, not to its own stack. This is an effect if it would not be found by a comparison.
    #[inline(always)]
    pub(super) fn writes_memory(&mut self, address: usize) {
        if !self.thread().laps.is_watched() {
            self.thread().laps.write_plainly();
        } else if !self.is_looked_at(address) {
            self.thread().laps.take_effect();
        }
    }

    #[cold]
    #[inline(never)]
    fn is_looked_at(&self, address: usize) -> bool {
        let mut is_outside = |piece: &[u8]| !piece.as_ptr_range().contains(&(address as *const u8));
        !self.look_at_memory(&mut is_outside)
    }
}
