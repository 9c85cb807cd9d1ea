//! Allocation from the heap of the running thread.

use crate::engine::Engine;
use crate::engine::perform;
use std::alloc::Layout;
use std::ptr::{self, NonNull};

/// If code of a program under test runs, allocates memory from the heap of the running thread, and
/// returns null if there is no memory. Otherwise returns `None`.
#[inline]
pub(crate) fn allocate(layout: Layout) -> Option<*mut u8> {
    let engine = perform::current()?;
    // SAFETY: the engine is alive while its threads run, and so is the heap of the running thread.
    // Nothing else uses the heap.
    unsafe {
        if !(*engine.as_ptr()).watch.compares
            && let arena = (*(*engine.as_ptr()).guests.heap).arena(layout)
            && let Some(memory) = arena.allocate(layout)
        {
            return Some(memory.as_ptr());
        }
    }
    Some(allocate_anew(engine, layout))
}

/// Allocates memory that does not fit into the current window of its arena, or any memory while
/// memory is compared (`Watch::compares`).
#[cold]
#[inline(never)]
fn allocate_anew(engine: NonNull<Engine>, layout: Layout) -> *mut u8 {
    // Memory for the checker's own data comes from the system.
    perform::enter_root();
    // SAFETY: as in `allocate`.
    let engine_at_hand = unsafe { &mut *engine.as_ptr() };
    // SAFETY: as in `allocate`.
    let arena = unsafe { (*engine_at_hand.guests.heap).arena(layout) };
    let memory = arena
        .allocate(layout)
        .or_else(|| arena.allocate_anew(layout))
        .or_else(|| engine_at_hand.allocate_large(layout));
    if let Some(memory) = memory
        && engine_at_hand.watch.compares
    {
        let (address, thread) = (memory.addr().get(), engine_at_hand.running);
        engine_at_hand
            .guests
            .hidden
            .allocated(address, layout.size(), thread);
    }
    perform::leave(engine);
    memory.map_or(ptr::null_mut(), NonNull::as_ptr)
}

/// Extends an object in place, if possible.
#[inline]
pub(crate) fn extend(address: usize, layout: Layout, new: usize) -> bool {
    // SAFETY: as in `allocate`.
    perform::current().is_some_and(|engine| unsafe {
        let arena = (*(*engine.as_ptr()).guests.heap).arena(layout);
        arena.extend(address, layout.size(), new)
    })
}

/// Checks whether the address is that of recorded memory that is too large for the arenas.
#[inline]
pub(crate) fn is_large(address: usize) -> bool {
    // SAFETY: as in `allocate`.
    perform::current()
        .is_some_and(|engine| unsafe { (*engine.as_ptr()).guests.residents.is_large(address) })
}

/// Discards the record of memory outside of the arenas, because the memory is being freed.
#[inline]
pub(crate) fn forget_large(address: usize) {
    if let Some(engine) = perform::current() {
        // SAFETY: as in `allocate`.
        unsafe { (*engine.as_ptr()).guests.residents.remove_large(address) };
    }
}
