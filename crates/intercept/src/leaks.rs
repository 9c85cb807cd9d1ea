//! Leaks: blocks of the heap that nothing points to when the program has ended and all its threads have.

use crate::{blocks, gate, heap, image, keys, pages, threads};
use std::collections::BTreeSet;

/// A block that is lost: where it begins.
pub(crate) fn find() -> Option<usize> {
    let live = heap::live_blocks();
    if live.is_empty() {
        return None;
    }
    let mut reached: BTreeSet<usize> = BTreeSet::new();
    let mut ranges: Vec<(usize, usize)> = image::parts().chain(pages::parts()).collect();
    ranges.extend(blocks::ranges(gate::checker()));
    // What the C library keeps for a thread it gives back when the thread ends.
    ranges.extend(threads::pointers().flat_map(blocks::of_system));
    ranges.extend(heap::prefix());
    // The main thread keeps its values when the program ends; others have destroyed theirs.
    ranges.push(keys::values_of_main());
    while let Some((start, length)) = ranges.pop() {
        for word in (start.next_multiple_of(8)..(start + length) & !7).step_by(8) {
            // SAFETY: the ranges are memory of the program.
            let value = unsafe { *(word as *const usize) };
            if let Some((block, size, _)) = heap::block(value)
                && live.contains(&block)
                && reached.insert(block)
            {
                ranges.push((block, size));
            }
        }
    }
    live.difference(&reached).next().copied()
}
