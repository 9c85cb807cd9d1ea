//! Leaks: heap blocks to which nothing points when the program and all its threads have ended.

use crate::{blocks, gate, heap, image, keys, pages, threads};

/// Returns the start of a lost block, if there is one.
pub(crate) fn find() -> Option<usize> {
    let live = heap::live_blocks();
    if live.is_empty() {
        return None;
    }
    let mut is_reached = vec![false; live.len()];
    let mut ranges: Vec<(usize, usize)> = image::parts().chain(pages::parts()).collect();
    ranges.extend(blocks::ranges(gate::checker()));
    // Blocks that the C library keeps for a thread are not lost: it frees them when the thread
    // ends.
    ranges.extend(threads::pointers().flat_map(blocks::of_system));
    ranges.extend(heap::prefix());
    // The main thread keeps its values when the program ends; other threads have destroyed theirs.
    ranges.push(keys::values_of_main());
    while let Some((start, length)) = ranges.pop() {
        for word in (start.next_multiple_of(8)..(start + length) & !7).step_by(8) {
            // SAFETY: the ranges are memory of the program.
            let value = unsafe { *(word as *const usize) };
            if let Some((block, size, _)) = heap::block(value)
                && let Ok(index) = live.binary_search(&block)
                && !std::mem::replace(&mut is_reached[index], true)
            {
                ranges.push((block, size));
            }
        }
    }
    let lost = is_reached.iter().position(|is_reached| !is_reached);
    lost.map(|index| live[index])
}
