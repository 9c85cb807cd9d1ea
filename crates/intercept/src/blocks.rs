//! The thread-local memory of the program's threads.
//!
//! Threads of the program are coroutines. Each of them gets the thread-local memory of a thread of the operating
//! system that was started for nothing else and sleeps for good: its thread pointer is set while the program's
//! thread runs. So `errno`, exceptions and `thread_local` work, at addresses of their own. Programs without any
//! thread-local memory are spared that.

use crate::gate::{self, Own, thread_pointer};
use crate::{image, own_memory, pages, threads};
use libc::{c_int, c_void, pthread_attr_t, pthread_t};
use runtime::native;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// The thread-local memory of an image.
struct Block {
    /// How far below the thread pointer it begins.
    below: usize,
    /// As a thread finds it when it starts.
    content: Vec<u8>,
    /// As the program's `main` finds it.
    main: Vec<u8>,
    /// The image is a library of the system: what a thread finds is known when there is one.
    is_of_system: bool,
    /// An address in the image.
    image: usize,
}

static BLOCKS: Own<Vec<Block>> = Own::new(Vec::new());

/// Notes what there is. What the program has in `errno` is 0 when it starts.
pub(crate) fn save(uses_thread_state: bool) {
    // SAFETY: errno is always there.
    unsafe { *libc::__errno_location() = 0 };
    let mut blocks: Vec<Block> = Vec::new();
    image::for_each(|info| blocks.extend(of_image(info)));
    blocks.extend(in_description());
    *ARE_THERE.get() = blocks.iter().any(|block| !block.is_of_system) || uses_thread_state;
    *BLOCKS.get() = blocks;
}

/// What functions of the C library keep in its description of a thread, and the table of the thread's thread-local memory.
/// Where that is depends on the version, so the functions are called and what they change is looked for.
fn in_description() -> Vec<Block> {
    const NO_ERROR: c_int = 54_321;
    unsafe extern "C" {
        fn strsignal(signal: c_int) -> *mut libc::c_char;
    }
    let (start, end) = (thread_pointer(), image::thread_block().end);
    let words = (end - start) / 8;
    // SAFETY: the description of this thread; the functions give strings that nobody uses.
    unsafe {
        let description = std::ptr::with_exposed_provenance_mut::<usize>(start);
        let read = || -> Vec<usize> {
            (0..words)
                .map(|word| description.add(word).read_volatile())
                .collect()
        };
        // The kernel writes there the number of the processor.
        let restartable = restartable();
        let before = read();
        libc::strerror(NO_ERROR);
        strsignal(NO_ERROR);
        let after = read();
        let is_kernels = |&word: &usize| restartable.contains(&(start + word * 8));
        let changed = (0..words).filter(|word| !is_kernels(word));
        let changed = changed.filter(|&word| before[word] != after[word] || word * 8 == TABLE);
        let blocks = changed.map(|word| {
            description.add(word).write_volatile(before[word]);
            Block {
                below: 0usize.wrapping_sub(word * 8),
                content: vec![0; 8],
                main: before[word].to_ne_bytes().to_vec(),
                is_of_system: true,
                image: 0,
            }
        });
        blocks.collect()
    }
}

/// What the calling thread shares with the kernel for restartable sequences, if the C library has registered that.
fn restartable() -> std::ops::Range<usize> {
    const SIZE: usize = 32;
    // SAFETY: a valid name; the C library has the distance from the thread pointer there since glibc 2.35.
    let offset = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr()) };
    // SAFETY: as above.
    let Some(offset) = (unsafe { offset.cast::<isize>().as_ref() }) else {
        return 0..0;
    };
    let start = thread_pointer().wrapping_add_signed(*offset);
    start..start + SIZE
}

/// Where the description of a thread has the address of that table, by the ABI of x86-64.
const TABLE: usize = 8;

/// The tables of the thread-local memory of threads that sleep, as they were when these were started: by thread pointer,
/// address and content.
static TABLES: Own<Vec<(usize, usize, Vec<u8>)>> = Own::new(Vec::new());

/// Whether the program has thread-local memory, or uses what the C library has for each thread (but for `errno`).
pub(crate) fn are_there() -> bool {
    *ARE_THERE.get()
}

static ARE_THERE: Own<bool> = Own::new(false);

/// Threads that sleep and have not been used yet: numbers of the program's threads and thread pointers.
static SPARE: Own<Vec<(usize, usize)>> = Own::new(Vec::new());

/// Starts threads that sleep for the first threads of the program.
pub(crate) fn park_some() {
    if are_there() {
        let some = [1, 2].map(|thread| (thread, park(thread)));
        SPARE.get().extend(some);
    }
}

/// The thread-local memory at this thread pointer is as new.
pub(crate) fn begin(pointer: usize) {
    let is_main = pointer == gate::checker();
    // Each thread has a table of its own.
    for block in BLOCKS
        .get()
        .iter()
        .filter(|block| is_main || block.below != TABLE.wrapping_neg())
    {
        let start = pointer.wrapping_sub(block.below);
        let content = match is_main {
            true => &block.main,
            false => &block.content,
        };
        // SAFETY: the memory belongs to a thread of the program that has not begun.
        unsafe {
            std::ptr::copy_nonoverlapping(content.as_ptr(), start as *mut u8, content.len());
        }
    }
    let mut tables = TABLES.get().iter();
    if let Some((_, table, content)) = tables.find(|(owner, ..)| *owner == pointer) {
        // SAFETY: as above.
        unsafe {
            *std::ptr::with_exposed_provenance_mut(pointer + TABLE) = *table;
            (*table as *mut u8).copy_from_nonoverlapping(content.as_ptr(), content.len());
        }
    }
}

/// Bytes of the thread-local memory of a thread.
pub(crate) fn size() -> usize {
    BLOCKS.get().iter().map(|block| block.content.len()).sum()
}

/// Shows the thread-local memory of all threads, until `look` has seen enough.
pub(crate) fn look(look: &mut dyn FnMut(&[u8]) -> bool) -> bool {
    let mut pointers = std::iter::once(gate::checker()).chain(threads::pointers());
    !are_there()
        || pointers.all(|pointer| {
            ranges(pointer).all(|(start, length)| {
                // SAFETY: the memory belongs to a thread of the program, none of which runs.
                look(unsafe { std::slice::from_raw_parts(start as *const u8, length) })
            })
        })
}

/// Copies the thread-local memory at this thread pointer behind what was copied before.
pub(crate) fn save_to(pointer: usize, copy: &mut Vec<u8>) {
    for (start, length) in ranges(pointer) {
        // SAFETY: the memory belongs to a thread of the program, none of which runs.
        copy.extend_from_slice(unsafe { std::slice::from_raw_parts(start as *const u8, length) });
    }
}

/// Puts back what was copied; gives what was copied behind it.
pub(crate) fn restore_from(pointer: usize, mut copy: &[u8]) -> &[u8] {
    for (start, length) in ranges(pointer) {
        let (content, rest) = copy.split_at(length.min(copy.len()));
        // SAFETY: as above.
        unsafe { (start as *mut u8).copy_from_nonoverlapping(content.as_ptr(), content.len()) };
        copy = rest;
    }
    copy
}

/// The thread-local memory at this thread pointer.
pub(crate) fn ranges(pointer: usize) -> impl Iterator<Item = (usize, usize)> {
    let blocks = BLOCKS.get().iter();
    blocks.map(move |block| (pointer.wrapping_sub(block.below), block.content.len()))
}

/// The part of it that libraries of the system have.
pub(crate) fn of_system(pointer: usize) -> impl Iterator<Item = (usize, usize)> {
    let blocks = BLOCKS.get().iter().filter(|block| block.is_of_system);
    blocks.map(move |block| (pointer.wrapping_sub(block.below), block.content.len()))
}

/// The image that has a thread-local address, by an address in it, and where in its part of the memory that is.
pub(crate) fn within(address: usize) -> Option<(usize, usize)> {
    let pointers = std::iter::once(gate::checker()).chain(threads::pointers());
    let mut starts = pointers.flat_map(|pointer| {
        let blocks = BLOCKS.get().iter();
        blocks.map(move |block| (pointer.wrapping_sub(block.below), block))
    });
    starts.find_map(|(start, block)| {
        let offset = address.checked_sub(start)?;
        (offset < block.content.len()).then_some((block.image, offset))
    })
}

/// The thread with this thread pointer ends, whose function begins at `code`: its thread-local memory is given back.
pub(crate) fn end(pointer: usize, code: usize) {
    let of_program = BLOCKS.get().iter().filter(|block| !block.is_of_system);
    for block in of_program {
        native::release(pointer.wrapping_sub(block.below), block.main.len(), code);
    }
}

/// The thread pointer of a thread that sleeps for this thread of the program, and is not used.
pub(crate) fn take_parked(thread: usize) -> usize {
    let spare = SPARE.get();
    match spare.iter().position(|&(number, _)| number == thread) {
        Some(position) => spare.swap_remove(position).1,
        None => park(thread),
    }
}

/// The thread pointer of a fresh thread that sleeps for this thread of the program. Its stack is the checker's memory.
fn park(number: usize) -> usize {
    let slot = AtomicUsize::new(0);
    let mut thread: pthread_t = 0;
    let mut attributes = MaybeUninit::<pthread_attr_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    pages::open_lists_of_threads();
    // SAFETY: calls of the C library with valid arguments.
    unsafe {
        let mut all = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigfillset(all.as_mut_ptr());
        // The first write to a page of the libraries is noticed by it.
        libc::sigdelset(all.as_mut_ptr(), libc::SIGSEGV);
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        libc::pthread_attr_init(attributes.as_mut_ptr());
        let stack = own_memory::stack_of(number);
        libc::pthread_attr_setstack(attributes.as_mut_ptr(), stack, own_memory::STACK);
    }
    let argument = (&raw const slot).cast_mut().cast();
    // The slot outlives the wait for it.
    let error = real!(pthread_create(&raw mut thread, attributes.as_ptr(), sleep, argument):
        fn(*mut pthread_t, *const pthread_attr_t, extern "C" fn(*mut c_void) -> *mut c_void, *mut c_void) -> c_int);
    // SAFETY: as above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    assert!(
        error == 0,
        "no thread for the thread-local memory of one more thread: error {error}"
    );
    while slot.load(SeqCst) == 0 {
        std::thread::yield_now();
    }
    let pointer = slot.load(SeqCst);
    // SAFETY: the table of a thread that sleeps: in front of its first entry is the number of entries, of two words each.
    unsafe {
        let table = *std::ptr::with_exposed_provenance::<usize>(pointer + TABLE);
        let entries = *std::ptr::with_exposed_provenance::<usize>(table - 16) + 1;
        let content =
            std::slice::from_raw_parts(std::ptr::with_exposed_provenance(table), entries * 16);
        TABLES.get().push((pointer, table, content.to_vec()));
    }
    for block in BLOCKS.get().iter_mut().filter(|block| block.is_of_system) {
        let start = pointer.wrapping_sub(block.below);
        // SAFETY: the memory of a thread that sleeps for good.
        let fresh = unsafe { std::slice::from_raw_parts(start as *const u8, block.main.len()) };
        block.content.copy_from_slice(fresh);
    }
    pointer
}

extern "C" fn sleep(slot: *mut c_void) -> *mut c_void {
    // SAFETY: the one who started this thread waits for the slot.
    unsafe { &*slot.cast::<AtomicUsize>() }.store(thread_pointer(), SeqCst);
    loop {
        // SAFETY: waits for a signal, all of which are blocked.
        unsafe { libc::pause() };
    }
}

/// The thread-local memory of an image, if it has any.
fn of_image(info: &libc::dl_phdr_info) -> Option<Block> {
    if image::is_own(info) || info.dlpi_tls_data.is_null() {
        return None;
    }
    let mut headers = image::headers(info).iter();
    let header = headers.find(|header| header.p_type == libc::PT_TLS)?;
    let start = (info.dlpi_addr + header.p_vaddr) as *const u8;
    // SAFETY: the image is loaded.
    let initial = unsafe { std::slice::from_raw_parts(start, header.p_filesz as usize) };
    let mut content = initial.to_vec();
    content.resize(header.p_memsz as usize, 0);
    // SAFETY: the memory of this thread, of which nothing runs meanwhile.
    let main =
        unsafe { std::slice::from_raw_parts(info.dlpi_tls_data.cast::<u8>(), content.len()) };
    Some(Block {
        below: thread_pointer() - info.dlpi_tls_data as usize,
        content,
        main: main.to_vec(),
        is_of_system: image::is_of_system(info),
        image: start as usize,
    })
}
