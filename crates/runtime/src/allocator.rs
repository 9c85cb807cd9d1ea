//! The allocator that gives heap objects addresses which do not depend on the schedule.

use crate::perform;
use crate::{arena, region};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;

/// Allocates from an arena of its own for each thread inside a model, from the system elsewhere.
///
/// To be declared as `#[global_allocator]`. Without it everything works, but a pointer that a
/// compare-exchange meets may differ from one execution to the next, and objects must not be used that [settle](crate::Settle)
/// where they are. Objects of more than 63 KiB come from the system.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: runtime::ModelAllocator = runtime::ModelAllocator;
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct ModelAllocator;

// SAFETY: memory is the system's, or of an arena, where live objects never overlap. Which of them an
// object came from is told by its address. No call unwinds.
unsafe impl GlobalAlloc for ModelAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match perform::allocate(layout) {
            Some(memory) => memory.as_ptr(),
            // SAFETY: the caller keeps the contract of `alloc`.
            None => unsafe { System.alloc(layout) },
        }
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if region::contains(pointer.addr()) {
            // SAFETY: the caller owns the object, and only arenas give out memory of the region.
            unsafe { arena::free(pointer.addr()) };
        } else {
            perform::forget_large(pointer.addr());
            // SAFETY: the caller keeps the contract of `dealloc`, and the object is the system's.
            unsafe { System.dealloc(pointer, layout) };
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match perform::allocate(layout) {
            Some(memory) => {
                // SAFETY: the memory has this size and is nobody else's.
                unsafe { ptr::write_bytes(memory.as_ptr(), 0, layout.size()) };
                memory.as_ptr()
            }
            // SAFETY: the caller keeps the contract of `alloc_zeroed`.
            None => unsafe { System.alloc_zeroed(layout) },
        }
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !region::contains(pointer.addr()) && !perform::is_large(pointer.addr()) {
            // SAFETY: the caller keeps the contract of `realloc`, and the object is the system's.
            return unsafe { System.realloc(pointer, layout, size) };
        }
        if perform::extend(pointer.addr(), layout, size) {
            return pointer;
        }
        if perform::current().is_some() && arena::outlives(pointer.addr()) {
            // The process keeps this object, for example the captured output of a test. It moves to the system's heap, and
            // its old place stays allocated: a change of the model's heap would count as an effect of the thread.
            // SAFETY: the layout is valid as in the case below, and so are the two objects.
            return unsafe {
                let new = System.alloc(Layout::from_size_align_unchecked(size, layout.align()));
                if !new.is_null() {
                    ptr::copy_nonoverlapping(pointer, new, layout.size().min(size));
                }
                new
            };
        }
        // SAFETY: the caller keeps the contract of `realloc`; so the layout is valid, the old object is
        // as long as `layout` says, and the new one does not overlap it.
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
