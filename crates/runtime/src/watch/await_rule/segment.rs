//! Finds changes that a thread makes to memory, by comparing values.
//!
//! Only one thread runs between two switches, in a *segment*. So every difference between the
//! beginning and the end of a segment is a change by that thread. Segments are compared only for
//! *watched* threads, which might return to an earlier state and have had no effect since. For a
//! Rust program the memory is its heap ([`heap_changes`](super::heap_changes)). For a native
//! program it is all memory that threads share, and each change is an effect.

use super::heap_changes::HeapInUse;
use super::round::forget_unknown_calls;
use crate::engine::Engine;
use crate::native::HAS_CALLED_UNKNOWN;
use std::sync::atomic::Ordering::Relaxed;

/// The memory at the beginning of the current segment.
#[derive(Default)]
pub(crate) struct Segment {
    is_known: bool,
    pub(crate) content: Vec<u8>,
    /// The parts of the heap that `content` contains.
    pub(super) heap: HeapInUse,
}

impl Segment {
    /// Ends the segment.
    #[inline(always)]
    pub(crate) fn forget(&mut self) {
        self.is_known = false;
        forget_unknown_calls();
    }

    /// Checks whether the memory at the beginning of the segment is known.
    pub(crate) fn is_known(&self) -> bool {
        self.is_known
    }
}

impl Engine {
    /// Begins a segment, because the running thread continues with its code.
    #[cold]
    #[inline(never)]
    pub(crate) fn begin_segment(&mut self) {
        if self.guests.segment.is_known || !self.thread().life.guests.round.is_watched() {
            return;
        }
        let mut segment = std::mem::take(&mut self.guests.segment);
        segment.content.clear();
        match self.config.native {
            None => self.copy_heap(&mut segment),
            Some(_) => self.copy_memory(&mut segment.content),
        }
        segment.is_known = true;
        self.guests.segment = segment;
    }

    /// Ends the segment, because another thread may run next or a round is over.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_segment(&mut self) {
        match HAS_CALLED_UNKNOWN.load(Relaxed) {
            true => self.thread().life.guests.round.take_effect(),
            // If no segment is known, there is nothing to compare: the thread is not watched, or it
            // has not run since it reached its present place.
            false => self.record_changes(),
        }
        self.guests.segment.forget();
    }

    /// Records the changes that the running thread has made in this segment, if it is known.
    pub(crate) fn record_changes(&mut self) {
        if !self.guests.segment.is_known {
            return;
        }
        match self.config.native {
            None => self.record_changes_of_heap(),
            Some(_) => self.record_changes_of_memory(),
        }
    }
}
