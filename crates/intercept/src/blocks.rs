//! The thread-local memory of the program's threads. An *image* is the program's executable file or
//! a shared library, as loaded into the process.
//!
//! Threads of the program are coroutines. Each of them uses the thread-local memory of a thread of
//! the operating system, which exists only for this purpose and sleeps forever. While the program's
//! thread runs, the thread pointer is that of the sleeping thread. So each thread of the program
//! has its own `errno`, exceptions and `thread_local` variables. Programs without thread-local
//! memory do not need these threads.

use crate::gate::{self, Own, thread_pointer};
use crate::{image, own_memory, pages, threads};
use libc::{c_int, c_void, pthread_attr_t, pthread_t};
use runtime::native;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// The thread-local memory of an image.
struct Block {
    /// Offset of its start below the thread pointer.
    below: usize,
    /// Content when a thread starts.
    content: Vec<u8>,
    /// Content when the program's `main` begins.
    main: Vec<u8>,
    /// Whether the image is a system library, whose content is known once a new thread exists.
    is_of_system: bool,
    /// An address in the image.
    image: usize,
}

static BLOCKS: Own<Vec<Block>> = Own::new(Vec::new());

/// Records the thread-local memory of all images except this library, with its content at the
/// beginning of `main`. Sets `errno` to 0, as at the start of a program.
pub(crate) fn save(uses_thread_state: bool) {
    // SAFETY: every thread has an errno.
    unsafe { *libc::__errno_location() = 0 };
    let mut blocks: Vec<Block> = Vec::new();
    image::for_each(|info| blocks.extend(of_image(info)));
    blocks.extend(in_thread_descriptor());
    *ARE_THERE.get() = blocks.iter().any(|block| !block.is_of_system) || uses_thread_state;
    *BLOCKS.get() = blocks;
}

/// Finds the words of the C library's thread descriptor that must be restored: the state of
/// `strerror` and `strsignal`, and the address of the dynamic thread vector. The offsets of the
/// state depend on the version of the C library. So this function calls `strerror` and `strsignal`,
/// and finds the words that they change.
fn in_thread_descriptor() -> Vec<Block> {
    const NO_ERROR: c_int = 54_321;
    unsafe extern "C" {
        fn strsignal(signal: c_int) -> *mut libc::c_char;
    }
    let (start, end) = (thread_pointer(), image::thread_block().end);
    let words = (end - start) / 8;
    // SAFETY: the words are in this thread's descriptor; the functions return strings that are not
    // used.
    unsafe {
        let description = std::ptr::with_exposed_provenance_mut::<usize>(start);
        let read = || -> Vec<usize> {
            (0..words)
                .map(|word| description.add(word).read_volatile())
                .collect()
        };
        // The kernel writes the number of the processor to these words at any time.
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

/// Returns the memory that the calling thread shares with the kernel for restartable sequences. The
/// range is empty if the C library has no such memory.
fn restartable() -> std::ops::Range<usize> {
    const SIZE: usize = 32;
    // SAFETY: a valid name; since glibc 2.35 the offset from the thread pointer is there.
    let offset = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr()) };
    // SAFETY: as above.
    let Some(offset) = (unsafe { offset.cast::<isize>().as_ref() }) else {
        return 0..0;
    };
    let start = thread_pointer().wrapping_add_signed(*offset);
    start..start + SIZE
}

/// Offset of a word in the thread descriptor, by the ABI of x86-64. The word contains the address
/// of the thread's *table*: its dynamic thread vector (DTV).
const TABLE: usize = 8;

/// The tables of the sleeping threads, as they were when these threads started: thread pointer,
/// address and content.
static TABLES: Own<Vec<(usize, usize, Vec<u8>)>> = Own::new(Vec::new());

/// Checks whether the program has thread-local memory or uses state per thread other than `errno`.
pub(crate) fn are_there() -> bool {
    *ARE_THERE.get()
}

static ARE_THERE: Own<bool> = Own::new(false);

/// Sleeping threads that are not used yet, each with the number of the program's thread for which
/// it is reserved, and with its thread pointer.
static SPARE: Own<Vec<(usize, usize)>> = Own::new(Vec::new());

/// Starts sleeping threads for the first threads of the program.
pub(crate) fn park_some() {
    if are_there() {
        let some = [1, 2].map(|thread| (thread, park(thread)));
        SPARE.get().extend(some);
    }
}

/// Resets the thread-local memory at this thread pointer.
pub(crate) fn begin(pointer: usize) {
    let is_main = pointer == gate::checker();
    // The table of a sleeping thread is restored below, because each thread has a different table.
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

/// Returns the size of a thread's thread-local memory in bytes.
pub(crate) fn size() -> usize {
    BLOCKS.get().iter().map(|block| block.content.len()).sum()
}

/// Passes the thread-local memory of all threads to `visit`, until it returns false.
pub(crate) fn visit(visit: &mut dyn FnMut(&[u8]) -> bool) -> bool {
    let mut pointers = std::iter::once(gate::checker()).chain(threads::pointers());
    !are_there()
        || pointers.all(|pointer| {
            ranges(pointer).all(|(start, length)| {
                // SAFETY: the memory belongs to a thread of the program, and no thread of the
                // program runs.
                visit(unsafe { std::slice::from_raw_parts(start as *const u8, length) })
            })
        })
}

/// Appends the thread-local memory at this thread pointer to the copy.
pub(crate) fn save_to(pointer: usize, copy: &mut Vec<u8>) {
    for (start, length) in ranges(pointer) {
        // SAFETY: the memory belongs to a thread of the program, and no thread of the program runs.
        copy.extend_from_slice(unsafe { std::slice::from_raw_parts(start as *const u8, length) });
    }
}

/// Restores thread-local memory from the start of the copy. Returns the rest of the copy.
pub(crate) fn restore_from(pointer: usize, mut copy: &[u8]) -> &[u8] {
    for (start, length) in ranges(pointer) {
        let (content, rest) = copy.split_at(length.min(copy.len()));
        // SAFETY: as above.
        unsafe { (start as *mut u8).copy_from_nonoverlapping(content.as_ptr(), content.len()) };
        copy = rest;
    }
    copy
}

/// Returns the address and the length of each part of the thread-local memory at this thread
/// pointer.
pub(crate) fn ranges(pointer: usize) -> impl Iterator<Item = (usize, usize)> {
    let blocks = BLOCKS.get().iter();
    blocks.map(move |block| (pointer.wrapping_sub(block.below), block.content.len()))
}

/// Returns the thread-local memory of system libraries at this thread pointer.
pub(crate) fn of_system(pointer: usize) -> impl Iterator<Item = (usize, usize)> {
    let blocks = BLOCKS.get().iter().filter(|block| block.is_of_system);
    blocks.map(move |block| (pointer.wrapping_sub(block.below), block.content.len()))
}

/// Finds the thread-local variable at an address. Returns an address in the image of the variable,
/// and the variable's offset in the thread-local memory of the image.
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

/// Reports that the thread-local memory of a thread is freed, because the thread ends. Reports show
/// `code` as the place.
pub(crate) fn end(pointer: usize, code: usize) {
    let of_program = BLOCKS.get().iter().filter(|block| !block.is_of_system);
    for block in of_program {
        native::release(pointer.wrapping_sub(block.below), block.main.len(), code);
    }
}

/// Provides a sleeping thread for this thread of the program, which does not have one yet. Returns
/// the thread pointer of the sleeping thread.
pub(crate) fn take_parked(thread: usize) -> usize {
    let spare = SPARE.get();
    match spare.iter().position(|&(number, _)| number == thread) {
        Some(position) => spare.swap_remove(position).1,
        None => park(thread),
    }
}

/// Starts a sleeping thread with a stack in the checker's memory. Records the initial content of
/// the thread-local memory of system libraries. Returns the thread pointer of the sleeping thread.
fn park(number: usize) -> usize {
    let slot = AtomicUsize::new(0);
    let mut thread: pthread_t = 0;
    let mut attributes = MaybeUninit::<pthread_attr_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    pages::open_lists_of_threads();
    // SAFETY: calls to the C library with valid arguments.
    unsafe {
        let mut all = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigfillset(all.as_mut_ptr());
        // This signal reports the first write to a page of the libraries.
        libc::sigdelset(all.as_mut_ptr(), libc::SIGSEGV);
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        libc::pthread_attr_init(attributes.as_mut_ptr());
        let stack = own_memory::stack_of(number);
        libc::pthread_attr_setstack(attributes.as_mut_ptr(), stack, own_memory::STACK);
    }
    let argument = (&raw const slot).cast_mut().cast();
    // The slot lives until the wait below has ended.
    let error = real!(pthread_create(&raw mut thread, attributes.as_ptr(), sleep, argument):
        fn(*mut pthread_t, *const pthread_attr_t, extern "C" fn(*mut c_void) -> *mut c_void, *mut c_void) -> c_int);
    // SAFETY: as above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    assert!(
        error == 0,
        "cannot start the thread that provides thread-local memory for another thread: error {error}"
    );
    while slot.load(SeqCst) == 0 {
        std::thread::yield_now();
    }
    let pointer = slot.load(SeqCst);
    // SAFETY: the table of a sleeping thread. The number of entries, of two words each, precedes
    // the first entry.
    unsafe {
        let table = *std::ptr::with_exposed_provenance::<usize>(pointer + TABLE);
        let entries = *std::ptr::with_exposed_provenance::<usize>(table - 16) + 1;
        let content =
            std::slice::from_raw_parts(std::ptr::with_exposed_provenance(table), entries * 16);
        TABLES.get().push((pointer, table, content.to_vec()));
    }
    for block in BLOCKS.get().iter_mut().filter(|block| block.is_of_system) {
        let start = pointer.wrapping_sub(block.below);
        // SAFETY: the memory of a thread that sleeps forever.
        let fresh = unsafe { std::slice::from_raw_parts(start as *const u8, block.main.len()) };
        block.content.copy_from_slice(fresh);
    }
    pointer
}

extern "C" fn sleep(slot: *mut c_void) -> *mut c_void {
    // SAFETY: the thread that started this thread waits for the slot.
    unsafe { &*slot.cast::<AtomicUsize>() }.store(thread_pointer(), SeqCst);
    loop {
        // SAFETY: the call waits for a signal. All signals are blocked except `SIGSEGV`, which
        // never arrives while the thread sleeps.
        unsafe { libc::pause() };
    }
}

/// Returns the thread-local memory of an image. Returns `None` if the image has none or is this
/// library.
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
    // SAFETY: the memory belongs to this thread, which does not change it meanwhile.
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
