//! The stacks of threads.
//!
//! In a native program, objects are named by their addresses, and these names must mean the same in
//! other processes. So the stack of each thread lies at a fixed *place*, which depends only on the
//! thread's id, unless the stack is larger than its place or other memory is already there. Stacks
//! of Rust programs have no fixed place.

use corosensei::stack::{Stack, StackPointer};
use explore::ThreadId;
use std::io::{Error, Result};
use std::num::NonZeroUsize;
use std::ptr;

/// The number of bytes of a guard page.
pub(crate) const GUARD: usize = 4096;

/// The address of the first place. It is far from the system's other mappings.
const PLACES: usize = 1 << 44;

/// The number of bytes of each place, including the guard page. Larger stacks lie elsewhere.
const PLACE: usize = 1 << 30;

/// Extra bytes in the stack of each native thread. The checker's hooks use them.
pub const SPARE_STACK: usize = 64 << 10;

/// A stack with a guard page at its lowest address.
pub(crate) struct Room {
    start: usize,
    length: usize,
}

impl Room {
    /// Creates a stack of the given number of bytes. If `thread` is given, and its place is free
    /// and large enough, the stack lies at this place.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no memory.
    pub(crate) fn new(bytes: usize, thread: Option<ThreadId>) -> Result<Room> {
        let length = bytes.next_multiple_of(GUARD) + GUARD;
        let place = thread.filter(|_| length <= PLACE).map(|thread| {
            let end = PLACES + (thread.index() + 1) * PLACE;
            end - length
        });
        let at_place = place.and_then(|place| map(place, length).ok());
        let start = at_place.map_or_else(|| map(0, length), Ok)?;
        let room = Room { start, length };
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let lowest = ptr::with_exposed_provenance_mut(start + GUARD);
        // SAFETY: a fresh mapping.
        match unsafe { libc::mprotect(lowest, length - GUARD, access) } {
            0 => Ok(room),
            _ => Err(Error::last_os_error()),
        }
    }
}

/// Reserves addresses from `start` on, which must be free, or anywhere if `start` is 0.
fn map(start: usize, length: usize) -> Result<usize> {
    #[cfg(target_os = "linux")]
    let exactly = libc::MAP_FIXED_NOREPLACE;
    #[cfg(not(target_os = "linux"))]
    let exactly = 0;
    let exactly = if start == 0 { 0 } else { exactly };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | exactly;
    let address = ptr::without_provenance_mut(start);
    // SAFETY: a fresh private mapping in a free range.
    let mapped = unsafe { libc::mmap(address, length, libc::PROT_NONE, flags, -1, 0) };
    match mapped == libc::MAP_FAILED {
        true => Err(Error::last_os_error()),
        false => Ok(mapped.expose_provenance()),
    }
}

// SAFETY: the range is mapped as long as this value lives, and nothing else uses the range. Its
// ends are multiples of a page.
unsafe impl Stack for Room {
    fn base(&self) -> StackPointer {
        NonZeroUsize::new(self.start + self.length).expect("a mapping has an end")
    }

    fn limit(&self) -> StackPointer {
        NonZeroUsize::new(self.start).expect("a mapping begins behind the first page")
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let start = ptr::with_exposed_provenance_mut(self.start);
        // SAFETY: this mapping belongs to the stack, and no code runs on it any more.
        let result = unsafe { libc::munmap(start, self.length) };
        debug_assert_eq!(result, 0, "a stack is given back");
    }
}
