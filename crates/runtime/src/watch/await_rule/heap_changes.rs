//! The changes that a thread makes to the heap between two hints.
//!
//! Memory that a thread allocates and frees within a segment does not count as a change. Memory
//! that comes from other allocators is not compared.

use super::segment::Segment;
use crate::engine::Engine;
use crate::memory::arena::Span;
use std::slice;

/// The parts of the heap in use at the beginning of a segment.
#[derive(Default)]
pub(super) struct HeapInUse {
    spans: Vec<Span>,
    /// The number of spans that are large objects. These spans come first. Every change of a large
    /// object is an effect.
    large: usize,
    /// The number of objects that have not been freed.
    live: u32,
}

impl Engine {
    /// Copies the heap at the beginning of a segment.
    pub(super) fn copy_heap(&mut self, segment: &mut Segment) {
        let heap = &mut segment.heap;
        heap.spans.clear();
        heap.large = self.guests.residents.large_objects().count();
        heap.live = self.add_heap_spans(&mut heap.spans);
        for &(start, length) in &heap.spans {
            // SAFETY: the span is in use in this execution, and only this thread runs.
            let bytes = unsafe { slice::from_raw_parts(start as *const u8, length) };
            segment.content.extend_from_slice(bytes);
        }
    }

    /// Records the changes of the heap in this segment.
    pub(super) fn record_changes_of_heap(&mut self) {
        let mut spans = Vec::new();
        let live = self.add_heap_spans(&mut spans);
        let segment = std::mem::take(&mut self.guests.segment);
        let heap = &segment.heap;
        let round = &mut self.thread().life.guests.round;
        // A large object that no longer exists must not be read. Its size is part of the list.
        let is_there = |span: &Span| {
            let same = |now: &Span| now.0 == span.0 && now.1 >= span.1;
            spans.iter().any(same)
        };
        if !heap.spans.iter().all(is_there) {
            round.take_effect();
        } else {
            round.at_hints.makes(live.wrapping_sub(heap.live));
            let mut rest = &segment.content[..];
            for (index, &(start, length)) in heap.spans.iter().enumerate() {
                let (before, behind) = rest.split_at(length);
                rest = behind;
                // SAFETY: as in `copy_heap`.
                let now = unsafe { slice::from_raw_parts(start as *const u8, length) };
                if before != now && index < heap.large {
                    round.take_effect();
                } else if before != now {
                    for (at, (&before, &now)) in before.iter().zip(now).enumerate() {
                        if before != now {
                            round.at_hints.changes(start + at, before, now);
                        }
                    }
                }
            }
        }
        let is_restored = !round.at_hints.has_changed_heap();
        self.guests.segment = segment;
        if is_restored && self.was_published() {
            self.thread().life.guests.round.effects.record_observed();
        }
    }

    /// Adds the parts of the heap in use. Returns the number of objects that are not freed.
    fn add_heap_spans(&self, spans: &mut Vec<Span>) -> u32 {
        let large = self.guests.residents.large_objects();
        spans.extend(large);
        let mut live = spans.len() as u32;
        for &id in self.started() {
            live = live.wrapping_add(self.threads[id.index()].guests.heap.add_spans(spans));
        }
        live
    }
}
