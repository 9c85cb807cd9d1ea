//! A copy of the memory that threads may share. Each difference between the memory and the copy is
//! a change since the last comparison.

use crate::memory::arena::Span;
use rustc_hash::FxHashMap;

/// The size of a granule in bytes.
pub(super) const GRANULE: usize = 8;

/// The maximum number of bytes in one comparison.
const LARGEST: usize = 1 << 20;

/// The memory at the last comparison.
#[derive(Default)]
pub(super) struct Copy {
    pieces: FxHashMap<usize, Piece>,
    /// The number of comparisons.
    round: u32,
    size: usize,
}

struct Piece {
    start: usize,
    content: Vec<u8>,
    /// The last comparison in which the piece existed.
    round: u32,
}

/// The changes of a granule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Change {
    /// The number of the granule.
    pub(super) granule: usize,
    /// The changed bytes. Bit i stands for byte i.
    pub(super) bytes: u8,
    /// The granule's bytes before and after the change.
    pub(super) values: [u64; 2],
}

impl Copy {
    /// Forgets the memory.
    pub(super) fn clear(&mut self) {
        self.pieces.clear();
        self.round = 0;
    }

    /// Begins a comparison.
    pub(super) fn begin(&mut self) {
        self.round += 1;
        self.size = 0;
    }

    /// Compares a piece of memory with its copy, passes the changes to `report`, and updates the
    /// copy. The key of a piece stays the same when the piece grows or shrinks.
    ///
    /// # Safety
    ///
    /// The memory must be readable, and must not be written meanwhile.
    pub(super) unsafe fn compare(
        &mut self,
        key: usize,
        (start, length): Span,
        mut report: impl FnMut(Change),
    ) {
        let start = start.next_multiple_of(GRANULE);
        let end = (start + length.min(LARGEST - self.size)) & !(GRANULE - 1);
        if start >= end {
            return;
        }
        self.size += end - start;
        // SAFETY: as promised by the caller.
        let now = unsafe { std::slice::from_raw_parts(start as *const u8, end - start) };
        let piece = self.pieces.entry(key).or_insert_with(|| Piece {
            start,
            content: Vec::new(),
            round: 0,
        });
        // A piece that was missing in between is a new piece.
        if piece.round + 1 != self.round {
            piece.content.clear();
        }
        piece.round = self.round;
        let old = piece.start..piece.start + piece.content.len();
        let both = old.start.max(start)..old.end.min(end);
        if !both.is_empty() {
            let before = &piece.content[both.start - old.start..both.end - old.start];
            let after = &now[both.start - start..both.end - start];
            if before != after {
                differences(both.start, before, after, &mut report);
            } else if old == (start..end) {
                return;
            }
        }
        piece.start = start;
        piece.content.clear();
        piece.content.extend_from_slice(now);
    }

    /// Returns the number of bytes compared.
    pub(super) fn size(&self) -> usize {
        self.size
    }
}

/// Passes the granules that differ to `report`.
fn differences(start: usize, before: &[u8], after: &[u8], report: &mut impl FnMut(Change)) {
    let granules = before
        .chunks_exact(GRANULE)
        .zip(after.chunks_exact(GRANULE));
    for (index, (before, after)) in granules.enumerate() {
        if before == after {
            continue;
        }
        let differ = before
            .iter()
            .zip(after)
            .map(|(before, after)| before != after);
        let bytes = differ
            .enumerate()
            .fold(0, |mask, (byte, differs)| mask | u8::from(differs) << byte);
        let value = |bytes: &[u8]| {
            let bytes = bytes.try_into().expect("a granule has eight bytes");
            u64::from_ne_bytes(bytes)
        };
        report(Change {
            granule: start / GRANULE + index,
            bytes,
            values: [before, after].map(value),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(copy: &mut Copy, memory: &[u64]) -> Vec<Change> {
        let mut changes = Vec::new();
        let span = (memory.as_ptr().addr(), size_of_val(memory));
        copy.begin();
        // SAFETY: the memory is that of the slice.
        unsafe { copy.compare(1, span, |change| changes.push(change)) };
        changes
    }

    #[test]
    fn changes_are_reported_once_and_growth_is_no_change() {
        let mut memory = [1_u64, 2, 3, 4];
        let mut copy = Copy::default();
        let first = memory.as_ptr().addr() / GRANULE;
        assert_eq!(compare(&mut copy, &memory[..2]), []);
        memory[3] = 7;
        assert_eq!(compare(&mut copy, &memory[..3]), []);
        memory[1] = 0x0102;
        let change = Change {
            granule: first + 1,
            bytes: 0b10,
            values: [2, 0x0102],
        };
        assert_eq!(compare(&mut copy, &memory), [change]);
        assert_eq!(compare(&mut copy, &memory), []);
        memory[2] = 0;
        let granule = |change: &Change| change.granule;
        let changed = compare(&mut copy, &memory[1..]);
        assert_eq!(changed.iter().map(granule).collect::<Vec<_>>(), [first + 2]);
    }

    #[test]
    fn memory_that_was_absent_once_counts_as_new() {
        let mut memory = [1_u64, 2];
        let mut copy = Copy::default();
        compare(&mut copy, &memory);
        copy.begin();
        memory[0] = 9;
        assert_eq!(compare(&mut copy, &memory), []);
    }
}
