//! The checker's own memory, apart from that of the C library, whose state is the program's.
//!
//! Blocks come from a reserved region of their own, in classes of sizes, each with a list of free blocks. The thread that
//! runs the program has lists of its own and needs no lock.

use crate::gate::{self, thread_pointer};
use crate::system_calls;
use libc::c_void;
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering::*};

/// Where the region begins, and its size.
const REGION: usize = 3 << 38;
const SIZE: usize = 192 << 30;

/// The part of the region that other threads take their blocks from, at its end.
const OTHERS: usize = 32 << 30;

/// The part in front of that: a stack for each thread that sleeps.
const STACKS: usize = SLEEPERS * STACK;
const SLEEPERS: usize = 1 << 16;

/// Bytes of the stack of a thread that sleeps.
pub(crate) const STACK: usize = 64 * 1024;

/// In front of each block. The alignment of a block is that of this, or what was asked for.
#[repr(C, align(16))]
struct Header {
    /// How far behind the beginning of its memory the block begins.
    offset: usize,
    class: usize,
}

const HEADER: usize = size_of::<Header>();

/// Classes up to here are multiples of 16 bytes; each doubling behind it has four.
const SMALL: usize = 1024;
const SMALL_CLASSES: usize = SMALL / 16 + 1;
const CLASSES: usize = SMALL_CLASSES + 4 * 28;

/// From this size on, memory goes back to the system when a block is freed.
const LARGE: usize = 1 << 20;

struct Lists {
    free: [*mut u8; CLASSES],
    next: usize,
    end: usize,
}

struct Heap(UnsafeCell<Lists>);

// SAFETY: one heap is used by one thread only, the other one under a lock.
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

static RUNNERS: Heap = Heap::new(REGION, REGION + SIZE - OTHERS - STACKS);
static SHARED: Heap = Heap::new(REGION + SIZE - OTHERS, REGION + SIZE);
static IS_LOCKED: AtomicBool = AtomicBool::new(false);

/// Reserves the region, unless that was done; whether it is there. Runs before anything else of this library.
pub(crate) fn reserve() -> bool {
    static IS_RESERVED: AtomicBool = AtomicBool::new(false);
    if !IS_RESERVED.load(Relaxed) {
        IS_RESERVED.store(system_calls::map_at(REGION, SIZE), Relaxed);
    }
    IS_RESERVED.load(Relaxed)
}

/// The stack of the thread that sleeps for the program's thread with this number. Thread-local memory lies on it and is named by its
/// address, which is the same in all processes that run the program.
pub(crate) fn stack_of(thread: usize) -> *mut c_void {
    assert!(thread < SLEEPERS, "a program has fewer than 65,536 threads");
    ptr::with_exposed_provenance_mut(REGION + SIZE - OTHERS - STACKS + thread * STACK)
}

/// The thread of the program on whose stack of that kind this is.
pub(crate) fn thread_of_stack(address: usize) -> Option<usize> {
    let offset = address.checked_sub(REGION + SIZE - OTHERS - STACKS)?;
    (offset < STACKS).then_some(offset / STACK)
}

/// Whether the block is one of these.
#[inline(always)]
pub(crate) fn contains(address: usize) -> bool {
    address.wrapping_sub(REGION) < SIZE
}

/// The region.
pub(crate) fn region() -> (usize, usize) {
    (REGION, REGION + SIZE)
}

/// Uses the lists of the calling thread.
#[inline(always)]
fn with<R>(does: impl FnOnce(&mut Lists) -> R) -> R {
    if gate::is_runner(thread_pointer()) {
        // SAFETY: the calling thread is the only one that uses this heap.
        return does(unsafe { &mut *RUNNERS.0.get() });
    }
    while IS_LOCKED.swap(true, Acquire) {
        std::hint::spin_loop();
    }
    // SAFETY: under the lock.
    let result = does(unsafe { &mut *SHARED.0.get() });
    IS_LOCKED.store(false, Release);
    result
}

/// The class of blocks with room for so many bytes.
#[inline(always)]
fn class_of(size: usize) -> usize {
    if size <= SMALL {
        return size.div_ceil(16);
    }
    let doubling = (size - 1).ilog2() as usize;
    let quarter = (size - 1 - (1 << doubling)) >> (doubling - 2);
    SMALL_CLASSES + 4 * (doubling - 10) + quarter
}

/// Bytes of the blocks of a class.
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

/// A block of at least so many bytes, and whether its bytes are zero; null if there is no memory.
#[inline(always)]
fn take(size: usize) -> (*mut u8, bool) {
    let class = class_of(size.max(1));
    with(|lists| {
        if class >= CLASSES {
            return (ptr::null_mut(), false);
        }
        let first = lists.free[class];
        if !first.is_null() {
            // SAFETY: a free block begins with the address of the next one.
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
/// The block is one of this allocator.
#[inline(always)]
unsafe fn header<'h>(block: *mut u8) -> &'h Header {
    // SAFETY: blocks have headers.
    unsafe { &*block.sub(HEADER).cast() }
}

/// As `malloc`.
pub(crate) extern "C" fn allocate(size: usize) -> *mut c_void {
    take(size).0.cast()
}

/// As `calloc`.
pub(crate) extern "C" fn allocate_zeroed(count: usize, size: usize) -> *mut c_void {
    let Some(bytes) = count.checked_mul(size) else {
        return ptr::null_mut();
    };
    let (block, is_zero) = take(bytes);
    if !block.is_null() && !is_zero {
        // SAFETY: the block is as long as that.
        unsafe { block.write_bytes(0, bytes) };
    }
    block.cast()
}

/// As `free`.
pub(crate) extern "C" fn free(block: *mut c_void) {
    let block = block.cast::<u8>();
    if !contains(block.addr()) {
        return;
    }
    // SAFETY: blocks have headers; behind that of an aligned block is the one that it lies in.
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

/// As `realloc`.
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
        // SAFETY: both blocks are as long as that.
        unsafe { new.copy_from_nonoverlapping(block, room.min(size)) };
        free(block);
    }
    new
}

/// A block at a multiple of a power of two.
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
        // SAFETY: both are multiples of 16, so that there is room for a header; the memory ends behind the block.
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

/// As `posix_memalign`.
pub(crate) extern "C" fn allocate_at(
    result: *mut *mut c_void,
    align: usize,
    size: usize,
) -> libc::c_int {
    let block = allocate_aligned(align, size);
    if block.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the caller passes a place for the result.
    unsafe { result.write(block) };
    0
}

/// Bytes that a block has room for.
pub(crate) fn usable(block: *mut c_void) -> usize {
    // SAFETY: blocks have headers.
    let header = unsafe { header(block.cast()) };
    room_of(header.class) - (header.offset - HEADER)
}
