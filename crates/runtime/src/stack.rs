//! The stacks of threads.
//!
//! A native program has addresses of its stacks as names of objects, which other processes must understand: so each thread has a
//! place for its stack that depends on nothing but its id.

use corosensei::stack::{Stack, StackPointer};
use explore::ThreadId;
use std::io::{Error, Result};
use std::num::NonZeroUsize;
use std::ptr;

/// Bytes of a guard page.
pub(crate) const GUARD: usize = 4096;

/// Where the places for stacks begin: far from what the system maps elsewhere.
const PLACES: usize = 1 << 44;

/// Bytes of each of them. Larger stacks lie anywhere.
const PLACE: usize = 1 << 30;

/// A stack with a guard page at its lowest address.
pub(crate) struct Room {
    start: usize,
    length: usize,
}

impl Room {
    /// A stack of so many bytes, at the place of the thread if that is given and nothing lies there.
    ///
    /// # Errors
    ///
    /// If there is no memory.
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

/// Reserves addresses from `start` on, where nothing may lie yet, or anywhere for 0.
fn map(start: usize, length: usize) -> Result<usize> {
    #[cfg(target_os = "linux")]
    let exactly = libc::MAP_FIXED_NOREPLACE;
    #[cfg(not(target_os = "linux"))]
    let exactly = 0;
    let exactly = if start == 0 { 0 } else { exactly };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | exactly;
    let address = ptr::without_provenance_mut(start);
    // SAFETY: a fresh private mapping where nothing is.
    let mapped = unsafe { libc::mmap(address, length, libc::PROT_NONE, flags, -1, 0) };
    match mapped == libc::MAP_FAILED {
        true => Err(Error::last_os_error()),
        false => Ok(mapped.expose_provenance()),
    }
}

// SAFETY: the range is mapped as long as this lives, and nobody else uses it; its ends are multiples of a page.
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
        // SAFETY: the mapping is this one's, and no code runs there any more.
        let result = unsafe { libc::munmap(start, self.length) };
        debug_assert_eq!(result, 0, "a stack is given back");
    }
}
