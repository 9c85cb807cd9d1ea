//! The mappings of the process: the readable mappings (queried when a stack is examined), the
//! writable mappings, and the mappings of the checker.

use crate::gate::Own;
use crate::system_calls;
use libc::{c_int, c_void, off_t, size_t};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Readable mappings in ascending order, as they were at the last lookup of an address outside
/// them.
static MAPPINGS: Own<Vec<Range<u64>>> = Own::new(Vec::new());

/// Reads the mappings again if the address is not in a known mapping.
pub(crate) fn refresh_for(address: u64) {
    if !MAPPINGS.get().iter().any(|known| known.contains(&address)) {
        *MAPPINGS.get() = shown().lines().filter_map(readable).collect();
    }
}

/// Forgets the mappings after some memory was unmapped.
pub(crate) fn forget() {
    MAPPINGS.get().clear();
}

/// Reads eight bytes, if they are readable.
pub(crate) fn read(address: u64) -> Option<u64> {
    let last = address.checked_add(7)?;
    let mappings = MAPPINGS.get();
    let after = mappings.partition_point(|known| known.start <= address);
    let known = mappings.get(after.checked_sub(1)?)?;
    known.contains(&last).then_some(())?;
    let place = std::ptr::with_exposed_provenance::<[u8; 8]>(usize::try_from(address).ok()?);
    // SAFETY: the memory was readable when the mappings were listed, and `forget` drops the list
    // when memory is unmapped. The memory may be this function's own stack, which changes; any
    // value is acceptable then.
    Some(u64::from_le_bytes(unsafe { place.read_volatile() }))
}

/// Parses a line of `/proc/self/maps`, such as `7f12a000-7f12c000 rw-p 00000000 00:00 0`. Returns
/// `None` if the memory may be unreadable, like that of `[vvar]`.
fn readable(line: &str) -> Option<Range<u64>> {
    if line.ends_with(']') && !line.ends_with("[heap]") && !line.ends_with("[stack]") {
        return None;
    }
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    rest.starts_with('r')
        .then_some(number(start)?..number(end)?)
}

/// Mappings of the checker.
static OWN: Mutex<Vec<Range<usize>>> = Mutex::new(Vec::new());

/// Replaces `mmap` where this library calls it in a check.
pub(crate) extern "C" fn map(
    address: *mut c_void,
    length: size_t,
    access: c_int,
    flags: c_int,
    descriptor: c_int,
    offset: off_t,
) -> *mut c_void {
    let arguments = [
        address.addr(),
        length,
        access as usize,
        flags as usize,
        descriptor as usize,
        offset as usize,
    ];
    // SAFETY: the caller makes the promises that `mmap` requires.
    let result = unsafe { system_calls::call(libc::SYS_mmap, arguments) };
    if (-4095..0).contains(&result) {
        // SAFETY: every thread has an errno.
        unsafe { *libc::__errno_location() = -result as c_int };
        return libc::MAP_FAILED;
    }
    let start = result as usize;
    let mut mappings = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    mappings.push(start..start + length.next_multiple_of(4096));
    std::ptr::with_exposed_provenance_mut(start)
}

/// Returns the mappings of the checker. Some mappings may already be unmapped.
pub(crate) fn own() -> Vec<Range<usize>> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Returns the private writable memory, except for the stack of the first thread.
pub(crate) fn writable() -> Vec<Range<usize>> {
    let text = shown();
    let lines = text.lines().filter(|line| !line.ends_with("[stack]"));
    let ranges = lines.filter_map(|line| {
        let (place, rest) = line.split_once(' ')?;
        let is_writable = rest.starts_with("rw") && rest.as_bytes().get(3) == Some(&b'p');
        is_writable.then(|| range(place)).flatten()
    });
    ranges.collect()
}

/// Returns the mapping of an address in private writable memory that belongs to no file and is not
/// the stack of the first thread.
pub(crate) fn anonymous_at(address: usize) -> Option<Range<usize>> {
    let shown = shown();
    let mut lines = shown.lines().map(str::split_whitespace);
    lines.find_map(|mut fields| {
        let place = range(fields.next()?).filter(|place| place.contains(&address))?;
        let access = fields.next()?;
        let has_name = !matches!(fields.nth(3), None | Some("[heap]"));
        let is_private = access.starts_with("rw") && access.ends_with('p');
        (is_private && !has_name).then_some(place)
    })
}

/// Returns the parts of a range that are mapped, with the accesses (`PROT_READ`, `PROT_WRITE`) that
/// they permit.
pub(crate) fn permitted(pages: &Range<usize>) -> Vec<(Range<usize>, c_int)> {
    let text = shown();
    let parts = text.lines().filter_map(|line| {
        let (place, rest) = line.split_once(' ')?;
        let place = range(place)?;
        let part = place.start.max(pages.start)..place.end.min(pages.end);
        let reads = rest.starts_with('r').then_some(libc::PROT_READ);
        let writes = (rest.as_bytes().get(1) == Some(&b'w')).then_some(libc::PROT_WRITE);
        let permitted = reads.unwrap_or(0) | writes.unwrap_or(0);
        (!part.is_empty()).then_some((part, permitted))
    });
    parts.collect()
}

/// Checks whether the program may execute code on its stack.
pub(crate) fn has_executable_stack() -> bool {
    let shown = shown();
    let mut lines = shown.lines();
    lines.any(|line| line.ends_with("[stack]") && line.contains(" rwxp "))
}

/// Returns the mappings as the system prints them.
pub(crate) fn shown() -> String {
    std::fs::read_to_string("/proc/self/maps").unwrap_or_default()
}

/// Parses all mappings except those of the kernel and the stack of the first thread.
pub(crate) fn all(shown: &str) -> Vec<Range<usize>> {
    let lines = shown
        .lines()
        .filter(|line| !line.ends_with(']') || line.ends_with("[heap]"));
    lines
        .filter_map(|line| range(line.split_once(' ')?.0))
        .collect()
}

/// Parses `7f12a000-7f12c000`.
fn range(text: &str) -> Option<Range<usize>> {
    let (start, end) = text.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    Some(number(start)?..number(end)?)
}
