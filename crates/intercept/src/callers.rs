//! The program's own calls, where code of libraries and their headers does what a report tells of.

use crate::gate::Own;
use crate::mappings;
use crate::source_map::images;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;

/// What is known of addresses of code.
#[derive(Default)]
struct Known {
    /// Whether the program's own source has them.
    is_own: FxHashMap<usize, bool>,
    /// The own calls of others, by what is on the stack above them.
    calls: FxHashMap<(usize, u64), usize>,
}

static KNOWN: Own<Option<Known>> = Own::new(None);

/// Words of the stack above a return address that tell one way to it from another.
const WORDS: u64 = 48;

/// The program's own call behind which a return address of its stack comes; the address itself if that is its own, or none
/// is found.
pub(crate) fn own_call(code: usize, stack_top: usize) -> usize {
    let known = KNOWN.get().get_or_insert_default();
    let is_own = known.is_own.entry(code);
    if *is_own.or_insert_with(|| images().is_own(code as u64 - 1)) {
        return code;
    }
    mappings::refresh_for(stack_top as u64 - 8);
    // From the top: what is left of earlier calls is further down.
    let slots = (1..).map_while(|words| (stack_top as u64).checked_sub(8 * words));
    let mut words = slots.map_while(|slot| Some((slot, mappings::read(slot)?)));
    let Some((slot, _)) = words.find(|(_, word)| *word == code as u64) else {
        return code;
    };
    let way = (code, returns_above(slot, stack_top as u64));
    let call = known.calls.entry(way).or_insert_with(|| {
        let own = images().outside_libraries(code as u64, slot, &mappings::read);
        own.map_or(code, |own| own as usize)
    });
    *call
}

/// A digest of the words above a slot that look like addresses of code.
fn returns_above(slot: u64, stack_top: u64) -> u64 {
    let mut hasher = FxHasher::default();
    let above = (slot + 8..stack_top.min(slot + 8 * WORDS)).step_by(8);
    for word in above.filter_map(mappings::read) {
        if images().has_code(word) {
            hasher.write_u64(word);
        }
    }
    hasher.finish()
}
