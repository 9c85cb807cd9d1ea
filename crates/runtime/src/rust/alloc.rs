//! Memory and values that the program must free or drop. If it does not, they are leaks.

use crate::engine::Engine;
use crate::engine::perform::{self, silently};
use crate::rust::outside::outside;
use std::alloc::Layout;
use std::fmt;
use std::panic::Location;

/// Allocates like `std::alloc::alloc`. Records that [`dealloc`] must free the memory.
///
/// # Safety
///
/// As for `std::alloc::alloc`, the size of the layout must not be 0.
#[track_caller]
pub unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: as promised by the caller.
    recorded(unsafe { std::alloc::alloc(layout) })
}

/// Allocates like `std::alloc::alloc_zeroed`. Records that [`dealloc`] must free the memory.
///
/// # Safety
///
/// As for `std::alloc::alloc_zeroed`, the size of the layout must not be 0.
#[track_caller]
pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: as promised by the caller.
    recorded(unsafe { std::alloc::alloc_zeroed(layout) })
}

/// Frees memory of [`alloc`] or [`alloc_zeroed`] like `std::alloc::dealloc`. Freeing other memory,
/// or freeing memory twice, is reported as misuse and frees nothing.
///
/// # Safety
///
/// As for `std::alloc::dealloc`, the layout must be that of the allocation.
#[track_caller]
pub unsafe fn dealloc(pointer: *mut u8, layout: Layout) {
    // SAFETY: as promised by the caller.
    outside!(unsafe { std::alloc::dealloc(pointer, layout) });
    let location = Location::caller();
    let end = |engine: &mut Engine| match engine.guests.raw_memory.remove(&pointer.addr()) {
        Some(number) => engine.disown(number),
        None => {
            engine.thread().life.location = location;
            engine.misuse("freed memory was not allocated by mazurka::alloc, or was already freed");
            false
        }
    };
    if silently(end) {
        // SAFETY: as promised by the caller. The memory is from `std::alloc` and was not freed
        // before.
        unsafe { std::alloc::dealloc(pointer, layout) };
    }
}

#[track_caller]
fn recorded(pointer: *mut u8) -> *mut u8 {
    outside!(pointer);
    let location = Location::caller();
    silently(|engine| {
        let number = engine.own("memory", location);
        engine.guests.raw_memory.insert(pointer.addr(), number);
    });
    pointer
}

/// A value that has to be dropped, like `loom::alloc::Track`.
pub struct Track<T> {
    value: T,
    _end: End,
}

/// Reports the end of a value to the model when dropped.
struct End(u32);

impl Drop for End {
    fn drop(&mut self) {
        let end = |engine: &mut Engine| engine.disown(self.0);
        if perform::current().is_some() {
            silently(end);
        }
    }
}

impl<T> Track<T> {
    /// Tracks a value, which has to be dropped from now on.
    #[track_caller]
    pub fn new(value: T) -> Track<T> {
        outside!(Track {
            value,
            _end: End(u32::MAX),
        });
        let location = Location::caller();
        Track {
            value,
            _end: End(silently(|engine| engine.own("a tracked value", location))),
        }
    }

    /// Returns the value.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// Returns the value.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// Returns the value and stops tracking it.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Track<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Track").field(&self.value).finish()
    }
}
