//! Copies of structures by gcc. The compiled code calls the write hook, then the read hook, and
//! only then copies. If plain accesses are events, the copy is a single event at the second hook.

use crate::gate::Own;
use crate::image;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Whether plain accesses are events.
static IS_ENABLED: AtomicBool = AtomicBool::new(false);

/// Whether a write hook begins a copy, by the hook's return address.
static KNOWN: Own<FxHashMap<usize, bool>> = Own::new(FxHashMap::with_hasher(FxBuildHasher));

/// Target and length of the copy whose first hook was called last. The target is 0 after the second
/// hook of this copy.
static TARGET: AtomicUsize = AtomicUsize::new(0);
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// Starts looking for copies.
pub(crate) fn enable() {
    IS_ENABLED.store(true, Relaxed);
}

/// Handles a call to a write hook. Returns whether the call begins a copy.
#[inline]
pub(crate) fn begin(to: usize, length: usize, code: usize) -> bool {
    let begins =
        IS_ENABLED.load(Relaxed) && *KNOWN.get().entry(code).or_insert_with(|| is_copy(code));
    if begins {
        TARGET.store(to, Relaxed);
        LENGTH.store(length, Relaxed);
    }
    begins
}

/// Checks whether a copy is pending: its first hook was called, and its second hook was not.
#[inline(always)]
pub(crate) fn has_begun() -> bool {
    TARGET.load(Relaxed) != 0
}

/// Handles a call to a read hook. Returns the target if this is the second hook of a copy.
#[inline]
pub(crate) fn end(length: usize) -> Option<usize> {
    let to = TARGET.load(Relaxed);
    if to == 0 {
        return None;
    }
    TARGET.store(0, Relaxed);
    debug_assert_eq!(length, LENGTH.load(Relaxed), "a copy has one length");
    Some(to)
}

/// Checks whether the next call in the code after a write hook is a call of a read hook, before the
/// code writes.
fn is_copy(code: usize) -> bool {
    let next = image::code_around(code).and_then(|(bytes, position)| {
        let slot = native::slot_of_next_call(bytes, position)?;
        Some(bytes.as_ptr().expose_provenance().wrapping_add(slot))
    });
    // SAFETY: the slot of a call that the program is about to make; the loader has filled it.
    next.is_some_and(|slot| is_read_hook(unsafe { *std::ptr::with_exposed_provenance(slot) }))
}

fn is_read_hook(function: usize) -> bool {
    // SAFETY: zero is valid for this plain structure, which the call fills.
    let name = unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        let address = std::ptr::with_exposed_provenance(function);
        if libc::dladdr(address, &raw mut found) == 0 || found.dli_sname.is_null() {
            return false;
        }
        CStr::from_ptr(found.dli_sname).to_bytes()
    };
    name.starts_with(b"__tsan_read") || name.starts_with(b"__tsan_unaligned_read")
}
