//! Allocation from the heap of the running thread.

use crate::engine::Engine;
use crate::engine::perform;
use std::alloc::Layout;
use std::ptr::NonNull;

/// Returns memory from the heap of the running thread, if code of a program under test runs.
#[inline]
pub(crate) fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    let engine = perform::current()?;
    // SAFETY: the engine is alive while its threads run, and so is the heap of the running thread.
    // Nothing else uses the heap.
    let arena = unsafe { (*(*engine.as_ptr()).guests.heap).arena(layout) };
    let memory = match arena.allocate(layout) {
        Some(memory) => Some(memory),
        None => allocate_anew(engine, layout),
    };
    // SAFETY: the engine is alive while its threads run.
    if unsafe { (*engine.as_ptr()).watch.compares } {
        record_allocation(engine, memory, layout);
    }
    memory
}

#[cold]
#[inline(never)]
fn record_allocation(engine: NonNull<Engine>, memory: Option<NonNull<u8>>, layout: Layout) {
    let Some(memory) = memory else {
        return;
    };
    // Memory for the record comes from the system.
    perform::enter_root();
    // SAFETY: the engine is alive while its threads run, and nothing else uses it.
    let engine_at_hand = unsafe { &mut *engine.as_ptr() };
    let thread = engine_at_hand.running;
    let address = memory.addr().get();
    engine_at_hand
        .guests
        .hidden
        .allocated(address, layout.size(), thread);
    perform::leave(engine);
}

#[cold]
#[inline(never)]
fn allocate_anew(engine: NonNull<Engine>, layout: Layout) -> Option<NonNull<u8>> {
    // Memory that the arena itself allocates comes from the system.
    perform::enter_root();
    // SAFETY: as in `allocate`.
    let memory = unsafe {
        let memory = (*(*engine.as_ptr()).guests.heap)
            .arena(layout)
            .allocate_anew(layout);
        memory.or_else(|| (*engine.as_ptr()).allocate_large(layout))
    };
    perform::leave(engine);
    memory
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
