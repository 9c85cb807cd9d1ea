//! The heap of the program. Each thread has an arena at a fixed address, so that addresses depend
//! neither on the schedule nor on the process. Without `--reuse`, no memory is reused within an
//! execution, so that accesses to freed memory are detected.

use crate::allocator::Allocator;
use crate::gate::{self, Own, close, code, is_inside};
use crate::library_calls::last_call;
use crate::{image, own_memory, threads};
use libc::c_void;
use report::FailureKind;
use runtime::native::{self, Frame};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Address of the first arena; the others follow it.
const REGION: usize = 1 << 40;
const ARENA: usize = 256 << 20;
const ARENAS: usize = 1024;
/// Address of the states: a byte for each granule of the region.
const STATES: usize = 1 << 39;
pub(crate) const GRANULE: usize = 16;

/// Mask in a state: the number of the granule's bytes that may be accessed.
const BYTES: u8 = 0x1f;
/// Flag in a state: a block begins here.
const FIRST: u8 = 0x20;
/// Flag in a state: the block was freed.
const FREED: u8 = 0x40;

/// The header in front of each block.
#[repr(C)]
struct Header {
    size: u32,
    allocator: Allocator,
    /// The code that allocated the block.
    site: usize,
}

const HEADER: usize = size_of::<Header>();

/// Number of bytes in use, for each arena.
static USED: Own<[usize; ARENAS]> = Own::new([0; ARENAS]);
/// Index of the first arena that has not been used.
static HIGHEST: Own<usize> = Own::new(0);
/// The memory that constructors have allocated, with which each execution begins.
static PREFIX: Own<Vec<u8>> = Own::new(Vec::new());
/// The states of the memory in `PREFIX`.
static PREFIX_STATES: Own<Vec<u8>> = Own::new(Vec::new());

/// Whether constructors run, before the program's `main`.
static IS_CONSTRUCTING: AtomicBool = AtomicBool::new(false);

/// Reserves the addresses of the heap and of its states.
pub(crate) fn reserve() -> Result<(), String> {
    for (start, size) in [(REGION, ARENA * ARENAS), (STATES, ARENA * ARENAS / GRANULE)] {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE
            | libc::MAP_ANONYMOUS
            | libc::MAP_NORESERVE
            | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: a fresh private mapping where none exists.
        let mapped = unsafe { libc::mmap(start as *mut c_void, size, access, flags, -1, 0) };
        if mapped as usize != start {
            let error = std::io::Error::last_os_error();
            return Err(format!(
                "cannot reserve {} GiB of addresses for the program's heap: {error}",
                size >> 30
            ));
        }
    }
    Ok(())
}

/// Starts or stops allocation for constructors.
pub(crate) fn construct(is_constructing: bool) {
    IS_CONSTRUCTING.store(is_constructing, Relaxed);
}

/// Returns the blocks that the execution has allocated and not freed, in ascending order. Blocks of
/// constructors do not count.
pub(crate) fn live_blocks() -> Vec<usize> {
    let mut blocks = Vec::new();
    for (index, &used) in USED.get()[..*HIGHEST.get()].iter().enumerate() {
        let start = if index == 0 { PREFIX.get().len() } else { 0 };
        let arena = REGION + index * ARENA;
        for granule in (arena + start..arena + used).step_by(GRANULE) {
            // SAFETY: the address is in the region.
            let state = unsafe { *state(granule) };
            if state & FIRST != 0 && state & FREED == 0 {
                blocks.push(granule);
            }
        }
    }
    blocks
}

/// Returns the address and length of the memory allocated by constructors.
pub(crate) fn prefix() -> Option<(usize, usize)> {
    let length = PREFIX.get().len();
    (length > 0).then_some((REGION, length))
}

/// Returns the place where a lost block was allocated, and a description of the leak.
pub(crate) fn lost(block: usize) -> (usize, String) {
    // SAFETY: every block has a header.
    let header = unsafe { &*((block - HEADER) as *const Header) };
    let size = header.size;
    (
        header.site,
        format!("a block of size {size} is never freed, and nothing points to it any more"),
    )
}

/// Checks whether constructors run.
pub(crate) fn is_constructing() -> bool {
    IS_CONSTRUCTING.load(Relaxed)
}

/// Saves the memory allocated so far, with which each execution begins.
pub(crate) fn save() {
    let used = USED.get()[0];
    // SAFETY: this part of the region is in use.
    let (prefix, states) = unsafe { (bytes(REGION, used), bytes(STATES, used / GRANULE)) };
    *PREFIX.get() = prefix.to_vec();
    *PREFIX_STATES.get() = states.to_vec();
}

/// Restores the heap for the beginning of an execution.
pub(crate) fn restore() {
    for (index, used) in USED.get()[..*HIGHEST.get()].iter_mut().enumerate() {
        if *used > 0 {
            let states = (STATES + index * ARENA / GRANULE) as *mut u8;
            // SAFETY: the states of memory that was in use.
            unsafe { states.write_bytes(0, *used / GRANULE) };
            *used = 0;
        }
    }
    let (prefix, states) = (PREFIX.get(), PREFIX_STATES.get());
    // SAFETY: the saved content fits into the region and the states; no thread of the program runs.
    unsafe {
        std::ptr::copy_nonoverlapping(prefix.as_ptr(), REGION as *mut u8, prefix.len());
        std::ptr::copy_nonoverlapping(states.as_ptr(), STATES as *mut u8, states.len());
    }
    USED.get()[0] = prefix.len();
}

/// A copy of the heap.
#[derive(Default)]
pub(crate) struct Saved {
    /// Number of bytes in use, for each arena.
    used: Vec<usize>,
    /// For each arena, the memory in use and its states.
    content: Vec<u8>,
}

/// Returns the number of bytes in use.
pub(crate) fn size() -> usize {
    USED.get()[..*HIGHEST.get()].iter().sum()
}

/// Passes the memory in use of each arena to `visit`, until it returns false.
pub(crate) fn visit(visit: &mut dyn FnMut(&[u8]) -> bool) -> bool {
    let mut used = USED.get()[..*HIGHEST.get()].iter().enumerate();
    // SAFETY: this part of the arena is in use.
    used.all(|(index, &used)| visit(unsafe { bytes(REGION + index * ARENA, used) }))
}

/// Copies the heap.
pub(crate) fn save_to(copy: &mut Saved) {
    copy.used.clear();
    copy.used.extend_from_slice(&USED.get()[..*HIGHEST.get()]);
    copy.content.clear();
    for (index, &used) in copy.used.iter().enumerate() {
        // SAFETY: this part of the arena is in use.
        unsafe {
            let content = bytes(REGION + index * ARENA, used);
            copy.content.extend_from_slice(content);
            let states = bytes(STATES + index * ARENA / GRANULE, used / GRANULE);
            copy.content.extend_from_slice(states);
        }
    }
}

/// Restores the heap from a copy.
pub(crate) fn restore_from(copy: &Saved) {
    let mut content = &copy.content[..];
    for (index, now) in USED.get()[..*HIGHEST.get()].iter_mut().enumerate() {
        let used = copy.used.get(index).copied().unwrap_or_default();
        let (memory, rest) = content.split_at(used);
        let (states, rest) = rest.split_at(used / GRANULE);
        content = rest;
        let arena = (REGION + index * ARENA) as *mut u8;
        let target = (STATES + index * ARENA / GRANULE) as *mut u8;
        // SAFETY: the memory is in the arena or its states; no thread of the program runs.
        unsafe {
            arena.copy_from_nonoverlapping(memory.as_ptr(), used);
            target.copy_from_nonoverlapping(states.as_ptr(), states.len());
            let more = (*now / GRANULE).saturating_sub(states.len());
            target.add(states.len()).write_bytes(0, more);
        }
        *now = used;
    }
}

/// # Safety
///
/// The memory must be in the region or its states.
unsafe fn bytes<'m>(start: usize, length: usize) -> &'m [u8] {
    // SAFETY: as promised by the caller.
    unsafe { std::slice::from_raw_parts(start as *const u8, length) }
}

/// Returns the address ranges of the heap and of its states.
pub(crate) fn regions() -> [Range<usize>; 2] {
    let states = STATES..STATES + ARENA * ARENAS / GRANULE;
    [REGION..REGION + ARENA * ARENAS, states]
}

#[inline(always)]
pub(crate) fn contains(address: usize) -> bool {
    address.wrapping_sub(REGION) < ARENA * ARENAS
}

#[inline(always)]
fn state(address: usize) -> *mut u8 {
    (STATES + (address - REGION) / GRANULE) as *mut u8
}

/// Returns whether the access lies in one granule of an allocated block, or outside the heap.
#[inline(always)]
pub(crate) fn is_simple(address: usize, length: usize) -> bool {
    if !contains(address) {
        return true;
    }
    // SAFETY: the address is in the region.
    let state = unsafe { *state(address) };
    state & FREED == 0 && address % GRANULE + length <= usize::from(state & BYTES)
}

/// Checks an access of the program. Fails in three cases: the memory is in the heap but not
/// allocated, it belongs to a local variable of a function that has returned, or it belongs to a
/// thread-local variable of a thread that has ended.
#[inline(always)]
pub(crate) fn check(address: usize, length: usize, frame: *const Frame) {
    if contains(address) {
        // SAFETY: the frame is that of the program's call.
        check_block(address, length, unsafe { (*frame).code() });
    } else if native::is_in_ended_frame(address, frame) {
        // SAFETY: as above.
        fail_in_ended_frame(unsafe { (*frame).code() });
    } else if own_memory::contains(address) && threads::is_local_of_ended(address) {
        // SAFETY: as above.
        fail_in_ended_thread(unsafe { (*frame).code() });
    }
}

/// Checks the use of a synchronization object or a stream, like [`check`]. The program's current
/// call must have recorded its frame.
#[inline]
pub(crate) fn check_object(address: usize, code: usize) {
    if contains(address) {
        check_block(address, 1, code);
    } else if native::is_in_ended_frame(address, gate::frame()) {
        fail_in_ended_frame(code);
    } else if own_memory::contains(address) && threads::is_local_of_ended(address) {
        fail_in_ended_thread(code);
    }
}

#[cold]
fn fail_in_ended_frame(code: usize) -> ! {
    let message = "access to a local variable whose function has returned".to_owned();
    native::fail(code, FailureKind::UseAfterFree, message)
}

#[cold]
fn fail_in_ended_thread(code: usize) -> ! {
    let message = "access to a thread-local variable whose thread has ended".to_owned();
    native::fail(code, FailureKind::UseAfterFree, message)
}

fn check_block(address: usize, length: usize, code: usize) {
    let end = address + length;
    let mut start = address;
    while start < end {
        let stop = end.min((start / GRANULE + 1) * GRANULE);
        // SAFETY: the address is in the region.
        let state = unsafe { *state(start) };
        let last = (stop - 1) % GRANULE;
        if state & FREED != 0 || usize::from(state & BYTES) <= last {
            not_owned(start, state, code);
        }
        start = stop;
    }
}

#[cold]
fn not_owned(address: usize, state: u8, code: usize) -> ! {
    let (kind, what) = match state & FREED {
        0 => (
            FailureKind::OutOfBounds,
            "access outside all blocks of the heap",
        ),
        _ => (
            FailureKind::UseAfterFree,
            "use after free: the memory was freed",
        ),
    };
    let message = match block_of(address) {
        Some(block) => format!("{what}; {}", described(block, address)),
        None => what.to_owned(),
    };
    native::fail(code, kind, message)
}

/// Returns the start of the block that contains the address, or of the last block before the
/// address. Returns `None` if the arena has no such block.
fn block_of(address: usize) -> Option<usize> {
    let arena = REGION + (address - REGION) / ARENA * ARENA;
    let mut start = address / GRANULE * GRANULE;
    while start > arena {
        // SAFETY: the address is in the region.
        if unsafe { *state(start) } & FIRST != 0 {
            return Some(start);
        }
        start -= GRANULE;
    }
    None
}

/// Finds the block that contains the address, or the last block before the address. Returns its
/// start, its size, and the code that allocated it.
pub(crate) fn block(address: usize) -> Option<(usize, usize, usize)> {
    let start = contains(address).then(|| block_of(address)).flatten()?;
    // SAFETY: every block has a header.
    let header = unsafe { &*((start - HEADER) as *const Header) };
    Some((start, header.size as usize, header.site))
}

/// Checks whether a freed block begins with the address of the code that freed it. A block that
/// begins with a whole page does not, because the program may have protected the page.
fn remembers_end(block: usize, size: usize) -> bool {
    const PAGE: usize = 4096;
    !block.is_multiple_of(PAGE) || size < PAGE
}

fn described(block: usize, address: usize) -> String {
    // SAFETY: every block has a header.
    let header = unsafe { &*((block - HEADER) as *const Header) };
    let site =
        crate::source_map::place(header.site).unwrap_or_else(|| "an unknown place".to_owned());
    // SAFETY: the address is in the region.
    let is_freed = unsafe { *state(block) } & FREED != 0;
    let remembers = is_freed && remembers_end(block, header.size as usize);
    // SAFETY: in this case the block begins with the code that freed it.
    let freed = remembers.then(|| unsafe { (block as *const usize).read() });
    let freed = freed.and_then(crate::source_map::place);
    let freed = freed.map_or_else(String::new, |place| format!(" and freed at {place}"));
    format!(
        "byte {} of a block of {} bytes that was allocated at {site}{freed}",
        address - block,
        header.size
    )
}

/// The requested properties of a block.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) size: usize,
    pub(crate) align: usize,
    pub(crate) allocator: Allocator,
    /// Initial value of each byte.
    pub(crate) fill: u8,
}

/// Initial value of bytes that need not be zero. This value makes uses of uninitialized objects
/// visible.
pub(crate) const FILL: u8 = 0xbe;
/// Eight bytes of [`FILL`].
pub(crate) const UNWRITTEN: u64 = u64::from_ne_bytes([FILL; 8]);

/// Allocates memory from the arena of a thread. Returns null if the arena has no room or the thread
/// has no arena.
fn allocate(thread: usize, asked: Asked, site: usize) -> *mut c_void {
    let Asked { size, align, .. } = asked;
    if thread >= ARENAS || size >= ARENA || align >= ARENA {
        return std::ptr::null_mut();
    }
    let arena = REGION + thread * ARENA;
    let align = align.max(GRANULE);
    let highest = HIGHEST.get();
    *highest = (*highest).max(thread + 1);
    let used = &mut USED.get()[thread];
    // SAFETY: the block is in the arena and does not overlap another.
    unsafe {
        let start = (arena + *used + HEADER).next_multiple_of(align);
        let end = (start + size.max(1)).next_multiple_of(GRANULE);
        if end > arena + ARENA {
            return std::ptr::null_mut();
        }
        *used = end - arena;
        give_out(start, asked, site)
    }
}

/// Returns the number of granules of a block of `size` bytes.
fn granules(size: usize) -> usize {
    size.max(1).div_ceil(GRANULE)
}

/// Turns memory into a block.
///
/// # Safety
///
/// The memory must be in the region, have the requested size, and not belong to another block.
unsafe fn give_out(start: usize, asked: Asked, site: usize) -> *mut c_void {
    let Asked {
        size, allocator, ..
    } = asked;
    let granules = granules(size);
    // SAFETY: as promised by the caller.
    unsafe {
        ((start - HEADER) as *mut Header).write(Header {
            size: size as u32,
            allocator,
            site,
        });
        // The content must be the same in every execution.
        (start as *mut u8).write_bytes(asked.fill, granules * GRANULE);
        let states = state(start);
        states.write_bytes(GRANULE as u8, granules);
        *states.add(granules - 1) = (size - (granules - 1) * GRANULE) as u8;
        *states |= FIRST;
        start as *mut c_void
    }
}

/// Allocates memory for the program or its constructors. Returns `None` for other callers.
pub(crate) fn allocate_here(asked: Asked) -> Option<*mut c_void> {
    if is_inside() {
        let (code, _closed) = (code(), close());
        let thread = native::begin_allocation();
        let is_usual = asked.align <= GRANULE && !is_of_library(code);
        let again = is_usual.then(|| native::allocate_again(granules(asked.size), code));
        let block = match again.flatten() {
            // SAFETY: this is a freed block with the same number of granules.
            Some(block) => unsafe { give_out(block, asked, code) },
            None => allocate(thread, asked, code),
        };
        let is_for_program = || !is_of_library(code) || last_call::allocates_for_program();
        if !block.is_null() && is_for_program() {
            native::fill_block(block.addr(), asked.size, code);
        }
        return Some(block);
    }
    is_constructing().then(|| allocate(0, asked, code()))
}

/// Frees a block for the program.
pub(crate) fn give_back(pointer: *mut c_void, by: Allocator, code: usize) {
    let address = pointer.addr();
    // SAFETY: the address is in the region.
    let found = unsafe { *state(address) };
    if found & FIRST == 0 || !address.is_multiple_of(GRANULE) {
        let message = "free of an address at which no block starts".to_owned();
        native::fail(code, FailureKind::DoubleFree, message);
    }
    if found & FREED != 0 {
        let message = format!("double free: {}", described(address, address));
        native::fail(code, FailureKind::DoubleFree, message);
    }
    // SAFETY: every block has a header.
    let header = unsafe { &*((address - HEADER) as *const Header) };
    if header.allocator != by {
        taken_by_another(address, header.allocator, by, code);
    }
    let size = header.size as usize;
    if native::is_condvar_waited_for_within(address, size) {
        let message = "the memory of a condition variable is freed while a thread waits for it";
        native::fail(code, FailureKind::Misuse, message.to_owned());
    }
    if is_of_library(code) {
        native::end_shares(address);
    }
    native::release(address, size, code);
    for granule in 0..granules(size) {
        // SAFETY: the states of the block.
        unsafe { *state(address).add(granule) |= FREED };
    }
    if remembers_end(address, size) {
        // SAFETY: the block is no longer used, and has at least one granule.
        unsafe { (address as *mut usize).write(code) };
    }
    if !is_of_library(code) {
        native::free_for_others(address, granules(size), code);
    }
}

/// Checks whether the code is in a library of the system or of a compiler. Threads are not switched
/// within calls to these libraries.
fn is_of_library(code: usize) -> bool {
    static KNOWN: Own<Option<FxHashMap<usize, bool>>> = Own::new(None);
    let known = KNOWN.get().get_or_insert_default().entry(code);
    *known.or_insert_with(|| image::is_in_library(code))
}

/// Records a read of this value if the value is the address of a block, perhaps with tags in its
/// lowest bits.
#[inline(always)]
pub(crate) fn record_read(value: u64, is_atomic: bool) {
    let block = value as usize / GRANULE * GRANULE;
    // SAFETY: the address is in the region.
    if contains(block) && unsafe { *state(block) } & FIRST != 0 {
        native::record_address(block, is_atomic);
    }
}

#[cold]
fn taken_by_another(address: usize, from: Allocator, by: Allocator, code: usize) -> ! {
    let message = format!(
        "memory of `{}` is freed by `{}`: {}",
        from.gives(),
        by.takes(),
        described(address, address)
    );
    native::fail(code, FailureKind::Misuse, message)
}

/// Returns the size of an allocated block in bytes.
pub(crate) fn size_of_block(address: usize) -> usize {
    // SAFETY: blocks have headers.
    unsafe { (*((address - HEADER) as *const Header)).size as usize }
}
