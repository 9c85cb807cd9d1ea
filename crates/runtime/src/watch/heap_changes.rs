//! Finds the changes that a thread makes to the heap between two hints, by comparing values.
//!
//! Between two switches only one thread runs. So this thread has made all changes between the
//! beginning and the end of such a segment. Segments are compared only for threads that have
//! reached a hint and have had no effect since. Memory that a thread allocates and frees within a
//! segment does not count as a change. Memory that comes from other allocators is not compared.

use crate::engine::Engine;
use crate::memory::arena::Span;
use std::slice;

/// The heap at the beginning of the current segment.
#[derive(Default)]
pub(crate) struct HeapSegment {
    is_known: bool,
    spans: Vec<Span>,
    content: Vec<u8>,
    /// The number of spans that are large objects. Other threads may free these objects, so they
    /// are not read again.
    large: usize,
    /// The number of objects that have not been freed.
    live: u32,
}

impl HeapSegment {
    /// Ends the segment.
    #[inline(always)]
    pub(crate) fn forget(&mut self) {
        self.is_known = false;
    }
}

impl Engine {
    /// Begins a segment: the running thread returns to code of the program.
    #[cold]
    #[inline(never)]
    pub(crate) fn begin_heap_segment(&mut self) {
        if self.guests.heap_segment.is_known || !self.thread().life.guests.round.is_watched() {
            return;
        }
        let mut segment = std::mem::take(&mut self.guests.heap_segment);
        segment.spans.clear();
        segment.content.clear();
        segment.large = self.guests.residents.large_objects().count();
        segment.live = self.look_at_heap(&mut segment.spans);
        for &(start, length) in &segment.spans {
            // SAFETY: the span is in use in this execution, and only this thread runs.
            let bytes = unsafe { slice::from_raw_parts(start as *const u8, length) };
            segment.content.extend_from_slice(bytes);
        }
        segment.is_known = true;
        self.guests.heap_segment = segment;
    }

    /// Ends a segment: another thread may run next, or a round is over.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_heap_segment(&mut self) {
        if !self.guests.heap_segment.is_known {
            return;
        }
        let mut spans = Vec::new();
        let live = self.look_at_heap(&mut spans);
        let mut segment = std::mem::take(&mut self.guests.heap_segment);
        segment.is_known = false;
        let large = segment.large;
        let round = &mut self.thread().life.guests.round;
        // A large object that no longer exists must not be read. Its size is part of the list.
        let is_there = |span: &Span| {
            let same = |now: &Span| now.0 == span.0 && now.1 >= span.1;
            spans.iter().any(same)
        };
        if !segment.spans.iter().all(is_there) {
            round.take_effect();
        } else {
            round.makes(live.wrapping_sub(segment.live));
            let mut rest = &segment.content[..];
            for (index, &(start, length)) in segment.spans.iter().enumerate() {
                let (before, behind) = rest.split_at(length);
                rest = behind;
                // SAFETY: as in `begin_heap_segment`.
                let now = unsafe { slice::from_raw_parts(start as *const u8, length) };
                if before != now && index < large {
                    round.take_effect();
                } else if before != now {
                    for (at, (&before, &now)) in before.iter().zip(now).enumerate() {
                        if before != now {
                            round.changes(start + at, before, now);
                        }
                    }
                }
            }
        }
        let is_restored = !round.has_changed_heap();
        self.guests.heap_segment = segment;
        if is_restored && self.was_published() {
            self.thread().life.guests.round.at_hints.0.effects.notice();
        }
    }

    /// Adds the parts of the heap in use. Returns the number of objects that are not freed.
    fn look_at_heap(&self, spans: &mut Vec<Span>) -> u32 {
        let large = self.guests.residents.large_objects();
        spans.extend(large);
        let mut live = spans.len() as u32;
        for &id in self.started() {
            live = live.wrapping_add(self.threads[id.index()].guests.heap.look(spans));
        }
        live
    }
}
