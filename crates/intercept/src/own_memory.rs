//! The checker's own memory, separate from that of the C library, whose state belongs to the
//! program.
//!
//! Blocks come from a reserved region, in size classes, each with a list of free blocks. The thread
//! that runs the program has its own lists, which need no lock.

use crate::gate::{self, thread_pointer};
use crate::system_calls;
use libc::c_void;
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering::*};

/// Address and size of the region.
const REGION: usize = 3 << 38;
const SIZE: usize = 192 << 30;

/// Size of the part of the region for blocks of other threads, at its end.
const OTHERS: usize = 32 << 30;

/// Size of the part before [`OTHERS`]: a stack for each sleeping thread (`blocks`).
const STACKS: usize = SLEEPERS * STACK;
const SLEEPERS: usize = 1 << 16;

/// Size in bytes of the stack of a sleeping thread.
pub(crate) const STACK: usize = 64 * 1024;

/// Header in front of each block. A block has the alignment of the header, or the requested
/// alignment.
#[repr(C, align(16))]
struct Header {
    /// Offset of the block from the start of its memory.
    offset: usize,
    /// The size class of the memory.
    class: usize,
}

const HEADER: usize = size_of::<Header>();

/// Up to this size, classes are multiples of 16 bytes. Above it, each doubling has four classes.
const SMALL: usize = 1024;
const SMALL_CLASSES: usize = SMALL / 16 + 1;
const CLASSES: usize = SMALL_CLASSES + 4 * 28;

/// Blocks of at least this size return their memory to the system when they are freed.
const LARGE: usize = 1 << 20;

struct Lists {
    free: [*mut u8; CLASSES],
    /// The part of the region from `next` to `end` is unused.
    next: usize,
    end: usize,
}

struct Heap(UnsafeCell<Lists>);

// SAFETY: one heap is used by one thread only, the other heap under a lock.
unsafe impl Sync for Heap {}

impl Heap {
    const fn new(start: usize, end: usize) -> Heap {
        Heap(UnsafeCell::new(Lists {
            free: [ptr::null_mut(); CLASSES],
            next: start,
            end,
        }))
    }
}

/// The heap of the thread that runs the program.
static RUNNERS: Heap = Heap::new(REGION, REGION + SIZE - OTHERS - STACKS);
/// The heap of all other threads, used under the lock `IS_LOCKED`.
static SHARED: Heap = Heap::new(REGION + SIZE - OTHERS, REGION + SIZE);
static IS_LOCKED: AtomicBool = AtomicBool::new(false);

/// Reserves the region once. Returns whether the region is there. Runs before all code of this
/// library.
pub(crate) fn reserve() -> bool {
    static IS_RESERVED: AtomicBool = AtomicBool::new(false);
    if !IS_RESERVED.load(Relaxed) {
        IS_RESERVED.store(system_calls::map_at(REGION, SIZE), Relaxed);
    }
    IS_RESERVED.load(Relaxed)
}

/// Returns the stack of the sleeping thread for the program's thread with this number. The
/// thread-local memory of the program's thread is on this stack. So its addresses are the same in
/// all processes that run the program.
pub(crate) fn stack_of(thread: usize) -> *mut c_void {
    assert!(thread < SLEEPERS, "a program has fewer than 65,536 threads");
    ptr::with_exposed_provenance_mut(REGION + SIZE - OTHERS - STACKS + thread * STACK)
}

/// Returns the thread of the program whose sleeping thread has this address on its stack.
pub(crate) fn thread_of_stack(address: usize) -> Option<usize> {
    let offset = address.checked_sub(REGION + SIZE - OTHERS - STACKS)?;
    (offset < STACKS).then_some(offset / STACK)
}

/// Checks whether the address is in the region.
#[inline(always)]
pub(crate) fn contains(address: usize) -> bool {
    address.wrapping_sub(REGION) < SIZE
}

pub(crate) fn region() -> (usize, usize) {
    (REGION, REGION + SIZE)
}

/// Runs a closure on the lists that the calling thread uses.
#[inline(always)]
fn with<R>(does: impl FnOnce(&mut Lists) -> R) -> R {
    if gate::is_runner(thread_pointer()) {
        // SAFETY: only the calling thread uses this heap.
        return does(unsafe { &mut *RUNNERS.0.get() });
    }
    while IS_LOCKED.swap(true, Acquire) {
        std::hint::spin_loop();
    }
    // SAFETY: the lock is held.
    let result = does(unsafe { &mut *SHARED.0.get() });
    IS_LOCKED.store(false, Release);
    result
}

/// Returns the class of blocks with room for `size` bytes.
#[inline(always)]
fn class_of(size: usize) -> usize {
    if size <= SMALL {
        return size.div_ceil(16);
    }
    let doubling = (size - 1).ilog2() as usize;
    let quarter = (size - 1 - (1 << doubling)) >> (doubling - 2);
    SMALL_CLASSES + 4 * (doubling - 10) + quarter
}

/// Returns the size in bytes of the blocks of a class.
#[inline(always)]
fn room_of(class: usize) -> usize {
    if class < SMALL_CLASSES {
        return class * 16;
    }
    let (doubling, quarter) = (
        (class - SMALL_CLASSES) / 4 + 10,
        (class - SMALL_CLASSES) % 4,
    );
    (1 << doubling) + ((quarter + 1) << (doubling - 2))
}

/// Returns a block of at least `size` bytes, or null, and whether its bytes are zero.
#[inline(always)]
fn take(size: usize) -> (*mut u8, bool) {
    let class = class_of(size.max(1));
    with(|lists| {
        if class >= CLASSES {
            return (ptr::null_mut(), false);
        }
        let first = lists.free[class];
        if !first.is_null() {
            // SAFETY: a free block begins with the address of the next free block.
            lists.free[class] = unsafe { first.cast::<*mut u8>().read() };
            return (first, false);
        }
        let total = room_of(class) + HEADER;
        if lists.end - lists.next < total {
            return (ptr::null_mut(), false);
        }
        let start = lists.next as *mut u8;
        lists.next += total;
        // SAFETY: the memory is in the region and belongs to no other block.
        unsafe {
            let header = Header {
                offset: HEADER,
                class,
            };
            start.cast::<Header>().write(header);
            (start.add(HEADER), true)
        }
    })
}

/// # Safety
///
/// The block must belong to this allocator.
#[inline(always)]
unsafe fn header<'h>(block: *mut u8) -> &'h Header {
    // SAFETY: every block has a header.
    unsafe { &*block.sub(HEADER).cast() }
}

/// Allocates like `malloc`.
pub(crate) extern "C" fn allocate(size: usize) -> *mut c_void {
    take(size).0.cast()
}

/// Allocates like `calloc`.
pub(crate) extern "C" fn allocate_zeroed(count: usize, size: usize) -> *mut c_void {
    let Some(bytes) = count.checked_mul(size) else {
        return ptr::null_mut();
    };
    let (block, is_zero) = take(bytes);
    if !block.is_null() && !is_zero {
        // SAFETY: the block has this size.
        unsafe { block.write_bytes(0, bytes) };
    }
    block.cast()
}

/// Frees like `free`. Ignores blocks that are not in the region.
pub(crate) extern "C" fn free(block: *mut c_void) {
    let block = block.cast::<u8>();
    if !contains(block.addr()) {
        return;
    }
    // SAFETY: every block has a header. Its offset leads to the block before alignment, which has a
    // header, too.
    unsafe {
        let block = block.sub(header(block).offset - HEADER);
        let class = header(block).class;
        let room = room_of(class);
        if room >= LARGE {
            let start = (block.addr() + 8).next_multiple_of(4096);
            system_calls::give_back(start, (block.addr() + room) & !4095);
        }
        with(|lists| {
            block.cast::<*mut u8>().write(lists.free[class]);
            lists.free[class] = block;
        });
    }
}

/// Reallocates like `realloc`. If the block is not in the region, allocates a block without
/// copying.
pub(crate) extern "C" fn reallocate(block: *mut c_void, size: usize) -> *mut c_void {
    if !contains(block.addr()) {
        return allocate(size);
    }
    let room = usable(block);
    if size <= room && (room < LARGE || size > room / 2) {
        return block;
    }
    let new = allocate(size);
    if !new.is_null() {
        // SAFETY: both blocks have this size.
        unsafe { new.copy_from_nonoverlapping(block, room.min(size)) };
        free(block);
    }
    new
}

/// Allocates a block at a multiple of a power of two.
pub(crate) fn allocate_aligned(align: usize, size: usize) -> *mut c_void {
    if align <= HEADER {
        return allocate(size);
    }
    let Some(all) = size.checked_add(align) else {
        return ptr::null_mut();
    };
    let block = take(all).0;
    if block.is_null() {
        return ptr::null_mut();
    }
    let aligned = block.map_addr(|address| address.next_multiple_of(align));
    if aligned != block {
        // SAFETY: both are multiples of 16, so a header fits in between; the memory ends with the
        // block.
        unsafe {
            let header = Header {
                offset: HEADER + aligned.offset_from_unsigned(block),
                class: header(block).class,
            };
            aligned.sub(HEADER).cast::<Header>().write(header);
        }
    }
    aligned.cast()
}

/// Allocates like `posix_memalign`.
pub(crate) extern "C" fn allocate_at(
    result: *mut *mut c_void,
    align: usize,
    size: usize,
) -> libc::c_int {
    let block = allocate_aligned(align, size);
    if block.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the caller passes a pointer for the result.
    unsafe { result.write(block) };
    0
}

/// Returns the number of bytes that fit into a block.
pub(crate) fn usable(block: *mut c_void) -> usize {
    // SAFETY: every block has a header.
    let header = unsafe { header(block.cast()) };
    room_of(header.class) - (header.offset - HEADER)
}
