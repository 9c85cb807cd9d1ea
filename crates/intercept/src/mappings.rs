//! Which memory of the process can be read: code, stacks, data. Asked only where an execution is shown.

use crate::gate::Own;
use std::ops::Range;

/// In ascending order; as they were when an address was met that was in none of them.
static MAPPINGS: Own<Vec<Range<u64>>> = Own::new(Vec::new());

/// Notes the mappings, if this address is not in one that is known.
pub(crate) fn refresh_for(address: u64) {
    if !MAPPINGS.get().iter().any(|known| known.contains(&address)) {
        let text = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        *MAPPINGS.get() = text.lines().filter_map(readable).collect();
    }
}

/// Eight bytes, if they can be read.
pub(crate) fn read(address: u64) -> Option<u64> {
    let last = address.checked_add(7)?;
    let mut mappings = MAPPINGS.get().iter();
    mappings.find(|known| known.contains(&address) && known.contains(&last))?;
    let place = std::ptr::with_exposed_provenance::<[u8; 8]>(usize::try_from(address).ok()?);
    // SAFETY: the memory is mapped and can be read; stacks, images and heaps stay as long as the process. What is read
    // may be this function's own stack, which changes meanwhile: any value will do then.
    Some(u64::from_le_bytes(unsafe { place.read_volatile() }))
}

/// `7f12a000-7f12c000 rw-p 00000000 00:00 0`
fn readable(line: &str) -> Option<Range<u64>> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    rest.starts_with('r')
        .then_some(number(start)?..number(end)?)
}
