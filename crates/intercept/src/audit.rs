//! What audits need to know about the program's memory.

use crate::gate::{self, Own};
use crate::shared_exceptions::shares_exceptions;
use crate::unknown_calls::{self, Detours};
use crate::{heap, image};
use runtime::native::HAS_CALLED_LIBRARY;
use std::ops::Range;

/// Variables of the system's libraries that the linker has put into the program: sorted, known when first asked for.
static COPIED: Own<Option<Vec<Range<usize>>>> = Own::new(None);

/// The instructions that note calls of libraries of compilers, made when first needed.
static STEPS: Own<Option<Detours>> = Own::new(None);

/// Whether the next execution is audited.
pub(crate) fn switch(is_on: bool) {
    gate::audit(is_on);
    if let (Some(steps), false) = (STEPS.get(), is_on) {
        steps.switch(false);
    }
}

/// An execution begins, and the memory of the program is as it was at its start.
pub(crate) fn begin() {
    if gate::is_audited() {
        let make = || Detours::with_flag(&HAS_CALLED_LIBRARY).ok();
        if let Some(steps) = STEPS.get().take().or_else(make) {
            steps.switch(true);
            *STEPS.get() = Some(steps);
        }
    }
}

/// Shows the memory of the program and its libraries, and its heap, until `look` returns false.
pub(crate) fn look_at_shared(look: &mut dyn FnMut(&[u8]) -> bool) -> bool {
    let copied = COPIED.get().get_or_insert_with(|| {
        let mut copied = unknown_calls::copied_variables();
        copied.sort_by_key(|range| range.start);
        copied.dedup();
        copied
    });
    image::look(&mut |piece| look_around(piece, copied, look)) && heap::look(look)
}

/// Whether a library of the system has asked for the block that the address is in. Where threads share exceptions, libstdc++
/// writes to blocks of the program, too, in order: nothing is known there.
pub(crate) fn is_of_system(address: usize) -> bool {
    shares_exceptions()
        || heap::block(address).is_some_and(|(_, _, site)| image::is_in_library(site))
}

/// Shows the parts of a piece of memory that are in none of the ranges.
fn look_around(piece: &[u8], ranges: &[Range<usize>], look: &mut dyn FnMut(&[u8]) -> bool) -> bool {
    let start = piece.as_ptr().addr();
    let mut shown = 0;
    let within = |range: &&Range<usize>| (start..start + piece.len()).contains(&range.start);
    for range in ranges.iter().filter(within) {
        if !look(&piece[shown..range.start - start]) {
            return false;
        }
        shown = (range.end - start).min(piece.len());
    }
    look(&piece[shown..])
}
