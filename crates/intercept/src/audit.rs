//! Queries about the program's memory in audited executions, in which the runtime looks for writes
//! that no hook reports (`runtime::native::audit`).

use crate::gate::{self, Own};
use crate::shared_exceptions::shares_exceptions;
use crate::unknown_calls::{self, Detours};
use crate::{heap, image};
use runtime::native::HAS_CALLED_LIBRARY;
use std::ops::Range;

/// The variables of system libraries that the linker has copied into the program, sorted by
/// address. They are found at the first use.
static COPIED: Own<Option<Vec<Range<usize>>>> = Own::new(None);

/// The instructions that record calls to the compilers' runtime libraries. They are generated at
/// the first use.
static STEPS: Own<Option<Detours>> = Own::new(None);

/// Sets whether the next execution is audited.
pub(crate) fn switch(is_on: bool) {
    gate::audit(is_on);
    if let (Some(steps), false) = (STEPS.get(), is_on) {
        steps.switch(false);
    }
}

/// Begins an execution. Before an audited execution, the instructions that record calls must be
/// enabled again, because restoring the program's memory may have reset its slots (the words with
/// the addresses of called functions).
pub(crate) fn begin() {
    if gate::is_audited() {
        let make = || Detours::with_flag(&HAS_CALLED_LIBRARY).ok();
        if let Some(steps) = STEPS.get().take().or_else(make) {
            steps.switch(true);
            *STEPS.get() = Some(steps);
        }
    }
}

/// Passes the variables and the heap of the program and its libraries to `visit`, until `visit`
/// returns false. Leaves out the copied variables of system libraries. Returns false if `visit`
/// did.
pub(crate) fn visit_shared(visit: &mut dyn FnMut(&[u8]) -> bool) -> bool {
    let copied = COPIED.get().get_or_insert_with(|| {
        let mut copied = unknown_calls::copied_variables();
        copied.sort_by_key(|range| range.start);
        copied.dedup();
        copied
    });
    image::visit(&mut |piece| visit_outside(piece, copied, visit)) && heap::visit(visit)
}

/// Checks whether a library of the system or of a compiler allocated the block that contains this
/// address. Also returns true if threads share exceptions, because libstdc++ then writes to blocks
/// of the program and orders these writes itself.
pub(crate) fn is_of_system(address: usize) -> bool {
    shares_exceptions()
        || heap::block(address).is_some_and(|(_, _, site)| image::is_in_library(site))
}

/// Passes those parts of a piece of memory that are outside the ranges to `visit`, until `visit`
/// returns false. Returns false if `visit` did.
fn visit_outside(
    piece: &[u8],
    ranges: &[Range<usize>],
    visit: &mut dyn FnMut(&[u8]) -> bool,
) -> bool {
    let start = piece.as_ptr().addr();
    let mut shown = 0;
    let within = |range: &&Range<usize>| (start..start + piece.len()).contains(&range.start);
    for range in ranges.iter().filter(within) {
        let begin = range.start - start;
        // Ranges of variables that share memory may overlap.
        if begin > shown && !visit(&piece[shown..begin]) {
            return false;
        }
        shown = shown.max(range.end - start).min(piece.len());
    }
    visit(&piece[shown..])
}
