//! Finds the call in the program's own source that led to code of a library or its headers. Reports
//! name this call.

use crate::gate::Own;
use crate::mappings;
use crate::source_map::images;
use crate::tries::code_of;
use runtime::native::Frame;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;

/// Cached results about return addresses.
#[derive(Default)]
struct Known {
    /// Whether the address belongs to the program's own source.
    is_own: FxHashMap<usize, bool>,
    /// The program's own call that led to a return address, by this address and a digest of the
    /// stack above it.
    calls: FxHashMap<(usize, u64), usize>,
    /// Whether `std::lock` made a call, by the return address and a digest of the stack above it.
    locks_several: FxHashMap<(usize, u64), bool>,
}

static KNOWN: Own<Option<Known>> = Own::new(None);

/// Number of words of the stack above a return address that are examined for the digest.
const WORDS: u64 = 48;

/// Returns the program's own call that led to a return address on its stack. Returns the address
/// itself if it is the program's own, or if no call is found.
pub(crate) fn own_call(code: usize, stack_top: usize) -> usize {
    let known = KNOWN.get().get_or_insert_default();
    let is_own = known.is_own.entry(code);
    if *is_own.or_insert_with(|| images().is_own(code as u64 - 1)) {
        return code;
    }
    let Some(slot) = slot_of(code, stack_top) else {
        return code;
    };
    let way = (code, returns_above(slot, stack_top as u64));
    let call = known.calls.entry(way).or_insert_with(|| {
        let found = images().outside_libraries(code as u64, slot, &mappings::read);
        found.map_or(code, |caller| caller as usize)
    });
    *call
}

/// Returns the names of the functions that wait for the call with this return address, the
/// innermost first. `stack_top` is the top of the stack that contains the return address.
pub(crate) fn functions(code: usize, stack_top: usize) -> Vec<String> {
    let Some(slot) = slot_of(code, stack_top) else {
        return Vec::new();
    };
    let callers = images().callers(code as u64, slot, &mappings::read);
    callers.filter_map(|frame| frame.function).collect()
}

/// Returns the address at which a stack contains a return address. Returns `None` if the stack does
/// not contain it.
fn slot_of(code: usize, stack_top: usize) -> Option<u64> {
    mappings::refresh_for(stack_top as u64 - 8);
    // The search begins at the top, because remains of earlier calls are further down.
    let slots = (1..).map_while(|words| (stack_top as u64).checked_sub(8 * words));
    let mut words = slots.map_while(|slot| Some((slot, mappings::read(slot)?)));
    words
        .find(|&(_, word)| word == code as u64)
        .map(|(slot, _)| slot)
}

/// Checks whether `std::lock` of the C++ library makes the call with this frame, without program
/// code in between.
pub(crate) fn is_of_std_lock(frame: *const Frame) -> bool {
    let code = code_of(frame);
    let slot = (frame.addr() + size_of::<Frame>() - size_of::<usize>()) as u64;
    mappings::refresh_for(slot);
    let way = (code, returns_above(slot, slot + 8 * WORDS));
    let known = &mut KNOWN.get().get_or_insert_default().locks_several;
    *known.entry(way).or_insert_with(|| {
        images().is_called_by(is_std_lock_of_std, code as u64, slot, &mappings::read)
    })
}

/// Checks whether a function is `std::lock` with locks of the C++ library only. The program's own
/// locks may do anything.
fn is_std_lock_of_std(function: &str) -> bool {
    let inner = function.strip_prefix("std::");
    let inner = inner.map(|inner| inner.strip_prefix("__1::").unwrap_or(inner));
    let Some(locks) = inner.and_then(|inner| inner.strip_prefix("lock<")) else {
        return false;
    };
    let mut words = locks.split(['<', '>', ',', ' ']);
    words.all(|word| word.is_empty() || word.starts_with("std::"))
}

/// Returns a digest of the stack above a slot: of those among the next [`WORDS`] words that look
/// like addresses of code.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_of_the_program_are_not_of_the_library() {
        assert!(is_std_lock_of_std(
            "std::lock<std::mutex, std::recursive_mutex>"
        ));
        assert!(is_std_lock_of_std(
            "std::__1::lock<std::__1::unique_lock<std::__1::mutex>, std::__1::mutex>"
        ));
        assert!(!is_std_lock_of_std("std::lock<std::mutex, counted>"));
        assert!(!is_std_lock_of_std(
            "std::lock<std::unique_lock<counted>, std::mutex>"
        ));
        assert!(!is_std_lock_of_std("std::try_lock<std::mutex, std::mutex>"));
        assert!(!is_std_lock_of_std("mine::lock<std::mutex, std::mutex>"));
    }
}
