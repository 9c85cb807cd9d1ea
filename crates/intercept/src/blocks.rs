//! The thread-local memory of the program's threads.
//!
//! Threads of the program are coroutines. Each of them gets the thread-local memory of a thread of the operating
//! system that was started for nothing else and sleeps for good: its thread pointer is set while the program's
//! thread runs. So `errno`, exceptions and `thread_local` work, at addresses of their own. Programs without any
//! thread-local memory are spared that.

use crate::gate::{self, Own, thread_pointer};
use crate::{image, threads};
use libc::{c_int, c_void, pthread_attr_t, pthread_t};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// The thread-local memory of an image, as a thread finds it when it starts.
struct Block {
    /// How far below the thread pointer it begins.
    below: usize,
    content: Vec<u8>,
    /// An address in the image.
    image: usize,
}

static BLOCKS: Own<Vec<Block>> = Own::new(Vec::new());

/// Bytes of the stack of a thread that sleeps.
const STACK: usize = 64 * 1024;

/// Notes what there is.
pub(crate) fn save() {
    let mut blocks: Vec<Block> = Vec::new();
    // SAFETY: the callback gets what it is given here.
    unsafe { libc::dl_iterate_phdr(Some(add_image), (&raw mut blocks).cast()) };
    *BLOCKS.get() = blocks;
}

/// Whether the program has thread-local memory.
pub(crate) fn are_there() -> bool {
    !BLOCKS.get().is_empty()
}

/// The thread-local memory at this thread pointer is as new.
pub(crate) fn begin(pointer: usize) {
    for block in BLOCKS.get() {
        let start = pointer - block.below;
        // SAFETY: the memory belongs to a thread of the program that has not begun.
        unsafe {
            std::ptr::copy_nonoverlapping(
                block.content.as_ptr(),
                start as *mut u8,
                block.content.len(),
            );
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
    blocks.map(move |block| (pointer - block.below, block.content.len()))
}

/// The image that has a thread-local address, by an address in it, and where in its part of the memory that is.
pub(crate) fn within(address: usize) -> Option<(usize, usize)> {
    let pointers = std::iter::once(gate::checker()).chain(threads::pointers());
    let mut starts = pointers.flat_map(|pointer| {
        let blocks = BLOCKS.get().iter();
        blocks.map(move |block| (pointer - block.below, block))
    });
    starts.find_map(|(start, block)| {
        let offset = address.checked_sub(start)?;
        (offset < block.content.len()).then_some((block.image, offset))
    })
}

/// The thread pointer of a fresh thread that sleeps.
pub(crate) fn park() -> usize {
    let slot = AtomicUsize::new(0);
    let mut thread: pthread_t = 0;
    let mut attributes = MaybeUninit::<pthread_attr_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: calls of the C library with valid arguments.
    unsafe {
        let mut all = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        libc::pthread_attr_init(attributes.as_mut_ptr());
        libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), STACK);
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
    slot.load(SeqCst)
}

extern "C" fn sleep(slot: *mut c_void) -> *mut c_void {
    // SAFETY: the one who started this thread waits for the slot.
    unsafe { &*slot.cast::<AtomicUsize>() }.store(thread_pointer(), SeqCst);
    loop {
        // SAFETY: waits for a signal, all of which are blocked.
        unsafe { libc::pause() };
    }
}

unsafe extern "C" fn add_image(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    data: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes what is valid, and our own data.
    let (info, blocks) = unsafe { (&*info, &mut *data.cast::<Vec<Block>>()) };
    if image::is_left_alone(info) || info.dlpi_tls_data.is_null() {
        return 0;
    }
    // SAFETY: the loader passes as many headers.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    if let Some(header) = headers.iter().find(|header| header.p_type == libc::PT_TLS) {
        let start = (info.dlpi_addr + header.p_vaddr) as *const u8;
        // SAFETY: the image is loaded.
        let initial = unsafe { std::slice::from_raw_parts(start, header.p_filesz as usize) };
        let mut content = initial.to_vec();
        content.resize(header.p_memsz as usize, 0);
        blocks.push(Block {
            below: thread_pointer() - info.dlpi_tls_data as usize,
            content,
            image: start as usize,
        });
    }
    0
}
