//! `malloc` and its family. In a check, the calls of the program and of its constructors use the
//! program's heap (`heap`). All other calls, such as those of the C library on behalf of the
//! checker, use the checker's memory (`own_memory`). Without a check, and before the process is
//! prepared for one, calls go to the C library.

use crate::allocator::Allocator;
use crate::gate::{self, Own, close, code, is_inside};
use crate::heap::{self, Asked, GRANULE};
use crate::{image, mappings, own_memory};
use libc::{c_int, c_void, size_t};
use report::FailureKind;
use runtime::native;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

unsafe extern "C" {
    fn __libc_malloc(size: size_t) -> *mut c_void;
    fn __libc_calloc(count: size_t, size: size_t) -> *mut c_void;
    fn __libc_realloc(pointer: *mut c_void, size: size_t) -> *mut c_void;
    fn __libc_memalign(align: size_t, size: size_t) -> *mut c_void;
    fn __libc_free(pointer: *mut c_void);
}

export! {
    placed fn malloc(size: size_t) -> *mut c_void {
        match allocated(size, GRANULE) {
            Some(pointer) => or_no_memory(pointer),
            None if is_apart() => own_memory::allocate(size),
            // SAFETY: the call is passed on.
            None => unsafe { __libc_malloc(size) },
        }
    }

    placed fn calloc(count: size_t, size: size_t) -> *mut c_void {
        let Some(bytes) = count.checked_mul(size) else {
            return no_memory();
        };
        match filled(bytes, GRANULE, 0) {
            Some(pointer) => or_no_memory(pointer),
            None if is_apart() => own_memory::allocate_zeroed(count, size),
            // SAFETY: the call is passed on.
            None => unsafe { __libc_calloc(count, size) },
        }
    }

    placed fn realloc(pointer: *mut c_void, size: size_t) -> *mut c_void {
        if !is_inside() && !heap::is_constructing() {
            return reallocate_outside(pointer, size);
        }
        reallocate(pointer, size)
    }

    placed fn reallocarray(pointer: *mut c_void, count: size_t, size: size_t) -> *mut c_void {
        let Some(bytes) = count.checked_mul(size) else {
            return no_memory();
        };
        if !is_inside() && !heap::is_constructing() {
            return reallocate_outside(pointer, bytes);
        }
        reallocate(pointer, bytes)
    }

    placed fn free(pointer: *mut c_void) {
        // The C library frees null about twenty times at the start of a thread.
        if !pointer.is_null() {
            release(pointer);
        }
    }

    placed fn memalign(align: size_t, size: size_t) -> *mut c_void {
        match allocated(size, align) {
            Some(pointer) => or_no_memory(pointer),
            None => align_outside(align, size),
        }
    }

    placed fn aligned_alloc(align: size_t, size: size_t) -> *mut c_void {
        match allocated(size, align) {
            Some(pointer) => or_no_memory(pointer),
            None => align_outside(align, size),
        }
    }

    placed fn valloc(size: size_t) -> *mut c_void {
        match allocated(size, 4096) {
            Some(pointer) => or_no_memory(pointer),
            None => align_outside(4096, size),
        }
    }

    placed fn posix_memalign(result: *mut *mut c_void, align: size_t, size: size_t) -> c_int {
        if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
            return libc::EINVAL;
        }
        let pointer = match allocated(size, align) {
            Some(pointer) => pointer,
            None => align_outside(align, size),
        };
        if pointer.is_null() {
            return libc::ENOMEM;
        }
        // SAFETY: the program passed the pointer.
        unsafe { *result = pointer };
        0
    }

    placed fn malloc_usable_size(pointer: *mut c_void) -> size_t {
        if heap::contains(pointer.addr()) {
            return heap::size_of_block(pointer.addr());
        }
        if own_memory::contains(pointer.addr()) {
            return own_memory::usable(pointer);
        }
        real!(malloc_usable_size(pointer): fn(*mut c_void) -> size_t)
    }
}

/// Checks whether `malloc` is a function of the program or of a library that replaces it.
pub(crate) fn is_replaced() -> bool {
    // SAFETY: a valid name.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"malloc".as_ptr()) };
    image_of(found) != image_of(is_replaced as *const c_void)
}

/// Returns the start of the image that contains an address, or `None` if the image is unknown.
fn image_of(address: *const c_void) -> Option<usize> {
    // SAFETY: zero is valid for this plain structure, which the call fills.
    let (is_known, found) = unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        (libc::dladdr(address, &raw mut found) != 0, found)
    };
    is_known.then(|| found.dli_fbase.addr())
}

/// Performs `free`.
#[inline(never)]
fn release(pointer: *mut c_void) {
    match (heap::contains(pointer.addr()), is_inside()) {
        (true, true) => {
            let (code, _closed) = (code(), close());
            heap::give_back(pointer, Allocator::Malloc, code);
        }
        // Memory that is not from the program's heap is not freed, because it must also exist in
        // the next execution.
        (false, true) => {
            let (code, _closed) = (code(), close());
            check_block(pointer.addr(), "free", code);
        }
        (true, false) => {}
        (false, false) if own_memory::contains(pointer.addr()) => own_memory::free(pointer),
        // Memory that the C library allocated before the program began is part of its state, which
        // stays unchanged.
        (false, false) if is_apart() => {}
        // SAFETY: the call is passed on.
        (false, false) => unsafe { __libc_free(pointer) },
    }
}

/// Whether the allocator of the C library is no longer used.
static IS_APART: AtomicBool = AtomicBool::new(false);

#[inline(always)]
fn is_apart() -> bool {
    IS_APART.load(Relaxed)
}

/// Stops the use of the allocator of the C library.
pub(crate) fn set_apart() {
    IS_APART.store(true, Relaxed);
}

fn align_outside(align: usize, size: usize) -> *mut c_void {
    match is_apart() {
        true => own_memory::allocate_aligned(align, size),
        // SAFETY: the call is passed on.
        false => unsafe { __libc_memalign(align, size) },
    }
}

fn reallocate_outside(pointer: *mut c_void, size: usize) -> *mut c_void {
    if !is_apart() {
        // SAFETY: the call is passed on.
        return unsafe { __libc_realloc(pointer, size) };
    }
    if pointer.is_null() || own_memory::contains(pointer.addr()) {
        return own_memory::reallocate(pointer, size);
    }
    let new = own_memory::allocate(size);
    if !new.is_null() {
        let old = real!(malloc_usable_size(pointer): fn(*mut c_void) -> size_t);
        // SAFETY: both blocks have at least this size.
        unsafe { new.copy_from_nonoverlapping(pointer, old.min(size)) };
    }
    new
}

/// Performs `realloc` for the program's memory.
fn reallocate(pointer: *mut c_void, size: usize) -> *mut c_void {
    let code = gate::code();
    if size == 0 && heap::contains(pointer.addr()) && is_inside() {
        let _closed = close();
        heap::give_back(pointer, Allocator::Malloc, code);
        return std::ptr::null_mut();
    }
    let known = heap::contains(pointer.addr());
    if !known && is_inside() {
        let _closed = close();
        check_block(pointer.addr(), "realloc", code);
    }
    let Some(new) = allocated(size, GRANULE) else {
        return no_memory();
    };
    if new.is_null() || pointer.is_null() {
        return or_no_memory(new);
    }
    let old = match known {
        true => heap::size_of_block(pointer.addr()),
        false if own_memory::contains(pointer.addr()) => own_memory::usable(pointer),
        false => real!(malloc_usable_size(pointer): fn(*mut c_void) -> size_t),
    };
    // SAFETY: both blocks have at least this size.
    unsafe { std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), new.cast::<u8>(), old.min(size)) };
    if known && is_inside() {
        let _closed = close();
        heap::give_back(pointer, Allocator::Malloc, code);
    }
    new
}

/// Allocates memory for the program or its constructors. Returns `None` for other callers.
fn allocated(size: usize, align: usize) -> Option<*mut c_void> {
    filled(size, align, heap::FILL)
}

/// Like [`allocated`], for memory that is filled with the byte `fill`.
fn filled(size: usize, align: usize, fill: u8) -> Option<*mut c_void> {
    heap::allocate_here(Asked {
        size,
        align,
        allocator: Allocator::Malloc,
        fill,
    })
}

/// The mappings that contain blocks allocated before the program began. A mapping is added when the
/// program first frees a block in it.
static EARLY_BLOCKS: Own<Vec<Range<usize>>> = Own::new(Vec::new());

/// Checks the address of a block outside the program's heap. The block may have been allocated
/// before the program began, or by a library. Fails if it is neither.
fn check_block(address: usize, function: &str, code: usize) {
    let is_block = address == 0
        || own_memory::contains(address) && own_memory::thread_of_stack(address).is_none()
        || EARLY_BLOCKS
            .get()
            .iter()
            .any(|known| known.contains(&address));
    if is_block {
        return;
    }
    let what = if native::own_stack().contains(&address) || is_of_variable(address) {
        "belongs to a variable"
    } else if let Some(memory) = native::privately(|| mappings::anonymous_at(address)) {
        native::privately(|| EARLY_BLOCKS.get().push(memory));
        return;
    } else {
        "was not allocated"
    };
    let message = format!("{function} of memory that {what}");
    native::fail(code, FailureKind::DoubleFree, message);
}

/// Checks whether this is the address of a static or thread-local variable, or on the stack of
/// another thread.
fn is_of_variable(address: usize) -> bool {
    native::privately(|| {
        let mut parts = image::parts();
        own_memory::thread_of_stack(address).is_some()
            || image::thread_block().contains(&address)
            || parts.any(|(start, size)| (start..start + size).contains(&address))
            || mappings::own().iter().any(|own| own.contains(&address))
    })
}

fn no_memory() -> *mut c_void {
    // SAFETY: every thread has an errno.
    unsafe { *libc::__errno_location() = libc::ENOMEM };
    std::ptr::null_mut()
}

fn or_no_memory(pointer: *mut c_void) -> *mut c_void {
    match pointer.is_null() {
        true => no_memory(),
        false => pointer,
    }
}
