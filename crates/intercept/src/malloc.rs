//! `malloc` and its family: memory of the program is of its own heap, that of others of the C library.

use crate::gate::{self, close, code, is_inside};
use crate::heap::{self, Allocator, Asked, GRANULE};
use crate::image;
use libc::{c_int, c_void, size_t};
use report::FailureKind;
use runtime::native;

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
            // SAFETY: passed on.
            None => unsafe { __libc_malloc(size) },
        }
    }

    placed fn calloc(count: size_t, size: size_t) -> *mut c_void {
        let Some(bytes) = count.checked_mul(size) else {
            return no_memory();
        };
        match allocated(bytes, GRANULE) {
            Some(pointer) => or_no_memory(pointer),
            // SAFETY: passed on.
            None => unsafe { __libc_calloc(count, size) },
        }
    }

    placed fn realloc(pointer: *mut c_void, size: size_t) -> *mut c_void {
        if !is_inside() && !heap::is_constructing() {
            // SAFETY: passed on.
            return unsafe { __libc_realloc(pointer, size) };
        }
        reallocate(pointer, size)
    }

    placed fn reallocarray(pointer: *mut c_void, count: size_t, size: size_t) -> *mut c_void {
        let Some(bytes) = count.checked_mul(size) else {
            return no_memory();
        };
        if !is_inside() && !heap::is_constructing() {
            // SAFETY: passed on.
            return unsafe { __libc_realloc(pointer, bytes) };
        }
        reallocate(pointer, bytes)
    }

    placed fn free(pointer: *mut c_void) {
        // The C library does so some twenty times where a thread starts.
        if !pointer.is_null() {
            release(pointer);
        }
    }

    placed fn memalign(align: size_t, size: size_t) -> *mut c_void {
        match allocated(size, align) {
            Some(pointer) => or_no_memory(pointer),
            // SAFETY: passed on.
            None => unsafe { __libc_memalign(align, size) },
        }
    }

    placed fn aligned_alloc(align: size_t, size: size_t) -> *mut c_void {
        match allocated(size, align) {
            Some(pointer) => or_no_memory(pointer),
            // SAFETY: passed on.
            None => unsafe { __libc_memalign(align, size) },
        }
    }

    placed fn valloc(size: size_t) -> *mut c_void {
        match allocated(size, 4096) {
            Some(pointer) => or_no_memory(pointer),
            // SAFETY: passed on.
            None => unsafe { __libc_memalign(4096, size) },
        }
    }

    placed fn posix_memalign(result: *mut *mut c_void, align: size_t, size: size_t) -> c_int {
        if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
            return libc::EINVAL;
        }
        // SAFETY: passed on, or written as the program asked.
        unsafe {
            let pointer = match allocated(size, align) {
                Some(pointer) => pointer,
                None => __libc_memalign(align, size),
            };
            if pointer.is_null() {
                return libc::ENOMEM;
            }
            *result = pointer;
        }
        0
    }

    placed fn malloc_usable_size(pointer: *mut c_void) -> size_t {
        if heap::contains(pointer.addr()) {
            return heap::size_of_block(pointer.addr());
        }
        real!(malloc_usable_size(pointer): fn(*mut c_void) -> size_t)
    }
}

/// Whether `malloc` is another one than that of here: one of the program, or of a library that takes its place.
pub(crate) fn is_replaced() -> bool {
    // SAFETY: a valid name.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"malloc".as_ptr()) };
    image_of(found) != image_of(is_replaced as *const c_void)
}

/// Where the image begins that an address is in; none if that is unknown.
fn image_of(address: *const c_void) -> Option<usize> {
    // SAFETY: zero is valid for this plain structure, which the call fills.
    let (is_known, found) = unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        (libc::dladdr(address, &raw mut found) != 0, found)
    };
    is_known.then(|| found.dli_fbase.addr())
}

/// What `free` does to memory.
#[inline(never)]
fn release(pointer: *mut c_void) {
    match (heap::contains(pointer.addr()), is_inside()) {
        (true, true) => {
            let (code, _closed) = (code(), close());
            heap::give_back(pointer, Allocator::Malloc, code);
        }
        // What others allocated is there in the next execution, too.
        (false, true) => {
            let (code, _closed) = (code(), close());
            if is_of_variable(pointer.addr()) {
                let message = "free of memory that is a variable's".to_owned();
                native::fail(code, FailureKind::DoubleFree, message);
            }
        }
        (true, false) => {}
        // SAFETY: passed on.
        (false, false) => unsafe { __libc_free(pointer) },
    }
}

/// What `realloc` does to the program's memory.
fn reallocate(pointer: *mut c_void, size: usize) -> *mut c_void {
    let code = gate::code();
    if size == 0 && heap::contains(pointer.addr()) && is_inside() {
        let _closed = close();
        heap::give_back(pointer, Allocator::Malloc, code);
        return std::ptr::null_mut();
    }
    let Some(new) = allocated(size, GRANULE) else {
        return no_memory();
    };
    if new.is_null() || pointer.is_null() {
        return or_no_memory(new);
    }
    let known = heap::contains(pointer.addr());
    let old = match known {
        true => heap::size_of_block(pointer.addr()),
        false => real!(malloc_usable_size(pointer): fn(*mut c_void) -> size_t),
    };
    // SAFETY: both blocks are as long as that.
    unsafe { std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), new.cast::<u8>(), old.min(size)) };
    if known && is_inside() {
        let _closed = close();
        heap::give_back(pointer, Allocator::Malloc, code);
    }
    new
}

/// Memory of this size for the program or its constructors.
fn allocated(size: usize, align: usize) -> Option<*mut c_void> {
    heap::allocate_here(Asked {
        size,
        align,
        allocator: Allocator::Malloc,
    })
}

/// Whether this is a static variable, or on the stack of the thread that runs. Null is neither.
fn is_of_variable(address: usize) -> bool {
    let is_static = || {
        let mut parts = image::parts().into_iter();
        parts.any(|(start, size)| (start..start + size).contains(&address))
    };
    native::own_stack().contains(&address) || native::privately(is_static)
}

fn no_memory() -> *mut c_void {
    // SAFETY: errno is always there.
    unsafe { *libc::__errno_location() = libc::ENOMEM };
    std::ptr::null_mut()
}

fn or_no_memory(pointer: *mut c_void) -> *mut c_void {
    match pointer.is_null() {
        true => no_memory(),
        false => pointer,
    }
}
