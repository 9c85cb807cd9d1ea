//! Functions of the C++ library that a program lacks if it is statically linked with the C++
//! library: the linker uses the functions of the same names in the runtime library, and omits the
//! originals. Outside a check, the functions here do the work of the originals.

use libc::{c_int, c_void, size_t};
use std::sync::atomic::{AtomicU8, Ordering::*};

/// Returns the function that replaces the C++ library's function, if there is one.
pub(crate) fn function(name: &str) -> Option<usize> {
    let function = match name {
        "_Znwm" | "_Znam" => new as *const (),
        "_ZnwmRKSt9nothrow_t" | "_ZnamRKSt9nothrow_t" => malloc as *const (),
        "_ZnwmSt11align_val_t" | "_ZnamSt11align_val_t" => new_aligned as *const (),
        "_ZnwmSt11align_val_tRKSt9nothrow_t" | "_ZnamSt11align_val_tRKSt9nothrow_t" => {
            aligned as *const ()
        }
        "__cxa_guard_acquire" => acquire as *const (),
        "__cxa_guard_release" => release as *const (),
        "__cxa_guard_abort" => give_up as *const (),
        name if name.starts_with("_Zdl") || name.starts_with("_Zda") => delete as *const (),
        _ => return None,
    };
    Some(function.addr())
}

extern "C" fn malloc(size: size_t) -> *mut c_void {
    // SAFETY: the call has no conditions.
    unsafe { libc::malloc(size.max(1)) }
}

extern "C" fn aligned(size: size_t, align: size_t) -> *mut c_void {
    // SAFETY: `new` is called with the alignment of a type.
    unsafe { libc::aligned_alloc(align, size.max(1).next_multiple_of(align)) }
}

extern "C" fn new(size: size_t) -> *mut c_void {
    or_end(malloc(size))
}

extern "C" fn new_aligned(size: size_t, align: size_t) -> *mut c_void {
    or_end(aligned(size, align))
}

extern "C" fn delete(block: *mut c_void) {
    // SAFETY: the program frees a block of the functions above.
    unsafe { libc::free(block) };
}

/// Ends the program if there is no memory, because the exception of the library is unavailable.
fn or_end(block: *mut c_void) -> *mut c_void {
    if block.is_null() {
        eprintln!("operator new: there is no memory");
        std::process::abort();
    }
    block
}

/// Value of a guard's second byte while a thread initializes the variable.
const UNDER_WAY: u8 = 1;

/// Returns the first two bytes of a guard. The ABI defines that the first byte says whether the
/// variable is initialized. The second byte is free for the library.
unsafe fn parts<'g>(guard: *mut u8) -> (&'g AtomicU8, &'g AtomicU8) {
    // SAFETY: a guard has eight bytes, which only these functions and loads of the program access.
    unsafe { (AtomicU8::from_ptr(guard), AtomicU8::from_ptr(guard.add(1))) }
}

extern "C" fn acquire(guard: *mut u8) -> c_int {
    // SAFETY: the program passes a guard, here and below.
    let (is_done, state) = unsafe { parts(guard) };
    loop {
        if is_done.load(Acquire) != 0 {
            return 0;
        }
        if state.swap(UNDER_WAY, Acquire) == 0 {
            if is_done.load(Acquire) == 0 {
                return 1;
            }
            state.store(0, Release);
        }
        std::thread::yield_now();
    }
}

extern "C" fn release(guard: *mut u8) {
    // SAFETY: as above.
    let (is_done, state) = unsafe { parts(guard) };
    is_done.store(1, Release);
    state.store(0, Release);
}

extern "C" fn give_up(guard: *mut u8) {
    // SAFETY: as above.
    unsafe { parts(guard) }.1.store(0, Release);
}
