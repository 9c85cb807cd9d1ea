//! The global allocator, which gives heap objects addresses that do not depend on the schedule.

use crate::engine::perform;
use crate::memory::allocate;
use crate::memory::arena;
use crate::memory::region;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;

/// Allocates from per-thread arenas inside a model, and from the system elsewhere.
///
/// Declare the allocator as `#[global_allocator]`. Models also run without it, but then pointers in
/// a compare-exchange can differ between executions, and objects cannot [settle](crate::Settle) in
/// place. Objects of more than 63 KiB come from the system.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: runtime::ModelAllocator = runtime::ModelAllocator;
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct ModelAllocator;

// SAFETY: memory comes from the system or from an arena, in which live objects never overlap. The
// address of an object shows its origin. No call unwinds.
unsafe impl GlobalAlloc for ModelAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match allocate::allocate(layout) {
            Some(memory) => memory,
            // SAFETY: the caller upholds the contract of `alloc`.
            None => unsafe { System.alloc(layout) },
        }
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if region::contains(pointer.addr()) {
            // SAFETY: the caller owns the object, and only arenas give out memory of the region.
            unsafe { arena::free(pointer.addr()) };
        } else {
            allocate::forget_large(pointer.addr());
            // SAFETY: the caller upholds the contract of `dealloc`. The object is the system's.
            unsafe { System.dealloc(pointer, layout) };
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match allocate::allocate(layout) {
            Some(memory) => {
                if !memory.is_null() {
                    // SAFETY: the memory has this size and belongs to the new object alone.
                    unsafe { ptr::write_bytes(memory, 0, layout.size()) };
                }
                memory
            }
            // SAFETY: the caller upholds the contract of `alloc_zeroed`.
            None => unsafe { System.alloc_zeroed(layout) },
        }
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !region::contains(pointer.addr()) && !allocate::is_large(pointer.addr()) {
            // SAFETY: the caller upholds the contract of `realloc`. The object is the system's.
            return unsafe { System.realloc(pointer, layout, size) };
        }
        if allocate::extend(pointer.addr(), layout, size) {
            return pointer;
        }
        if perform::current().is_some() && arena::outlives(pointer.addr()) {
            // The object outlives executions, for example the captured output of a test. The object
            // moves to the system's heap. Its old place stays allocated, because a change of the
            // model's heap would count as an effect of the thread. SAFETY: the layout and both
            // objects are valid, as in the case below.
            return unsafe {
                let new = System.alloc(Layout::from_size_align_unchecked(size, layout.align()));
                if !new.is_null() {
                    ptr::copy_nonoverlapping(pointer, new, layout.size().min(size));
                }
                new
            };
        }
        // SAFETY: the caller upholds the contract of `realloc`. So the layout is valid, the old
        // object is as long as `layout` says, and the new object does not overlap it.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                ptr::copy_nonoverlapping(pointer, new, layout.size().min(size));
                self.dealloc(pointer, layout);
            }
            new
        }
    }
}
