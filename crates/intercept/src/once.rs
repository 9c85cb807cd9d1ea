//! One-time initialization: by POSIX, by C11, and for the local statics of C++.

use crate::clock;
use crate::gate::{self, close, code, is_inside};
use crate::image;
use crate::threads;
use libc::c_int;
use runtime::Entry;
use runtime::native::{self, at};

export! {
    placed fn pthread_once(control: *mut c_int, initialize: extern "C-unwind" fn()) -> c_int {
        if !is_inside() {
            return real!(pthread_once(control, initialize): fn(*mut c_int, extern "C-unwind" fn()) -> c_int);
        }
        let (code, _closed) = (code(), close());
        once(control.addr(), code, initialize);
        0
    }

    placed fn call_once(control: *mut c_int, initialize: extern "C-unwind" fn()) {
        if !is_inside() {
            return real!(call_once(control, initialize): fn(*mut c_int, extern "C-unwind" fn()));
        }
        let (code, _closed) = (code(), close());
        once(control.addr(), code, initialize);
    }

    placed fn __cxa_guard_acquire(guard: *mut u8) -> c_int {
        if !is_inside() {
            return real!(__cxa_guard_acquire(guard): fn(*mut u8) -> c_int);
        }
        let (code, _closed) = (code(), close());
        if image::is_compilers(guard.addr()) {
            return native::begins_library_once(guard.addr()).into();
        }
        let once = native::once_at(guard.addr(), code);
        match at(code, || once.enter()) {
            Entry::Initialize { .. } => 1,
            Entry::Done => {
                clock::acquire(guard.addr());
                0
            }
        }
    }

    placed fn __cxa_guard_release(guard: *mut u8) {
        if !is_inside() {
            return real!(__cxa_guard_release(guard): fn(*mut u8));
        }
        let (code, _closed) = (code(), close());
        if image::is_compilers(guard.addr()) {
            // SAFETY: the first byte of a guard records whether the initialization is done.
            return unsafe { *guard = 1 };
        }
        // Compiled code first reads this byte with an acquire load, and does not call this library
        // if the byte is set. So this store is a release.
        // SAFETY: the first byte of a guard records whether the initialization is done.
        unsafe { native::store(guard, 1, std::sync::atomic::Ordering::Release, code) };
        clock::release_write(guard.addr());
        clock::release(guard.addr());
        let once = native::once_at(guard.addr(), code);
        at(code, || once.done());
    }

    placed fn __cxa_guard_abort(guard: *mut u8) {
        if !is_inside() {
            return real!(__cxa_guard_abort(guard): fn(*mut u8));
        }
        let (code, _closed) = (code(), close());
        let once = native::once_at(guard.addr(), code);
        at(code, || once.fail());
    }
}

/// The content of a control variable after the C library has run the initializer, which it does
/// only before `main`.
const DONE_BEFORE_MAIN: c_int = 2;

/// Runs the initializer, or waits for the thread that runs it. Does neither if the initialization
/// is done. If an exception or the end of the thread unwinds the initializer, the next caller runs
/// it again.
fn once(control: usize, code: usize, initialize: extern "C-unwind" fn()) {
    if image::is_compilers(control) {
        return library_once(control, initialize);
    }
    // SAFETY: the program passed the control variable.
    if unsafe { *(control as *const c_int) } == DONE_BEFORE_MAIN {
        return;
    }
    let once = native::once_at(control, code);
    if let Entry::Initialize { .. } = at(code, || once.enter()) {
        let attempt = Attempt { once, code };
        // SAFETY: the program passed the function.
        unsafe { gate::run(threads::own_pointer(), initialize as usize, [0; 3]) };
        std::mem::forget(attempt);
        clock::release(control);
        at(code, || once.done());
    }
    clock::acquire(control);
}

/// A running initializer. Dropping this value reports that the initializer was unwound.
struct Attempt {
    once: runtime::Once,
    code: usize,
}

impl Drop for Attempt {
    fn drop(&mut self) {
        at(self.code, || self.once.fail());
    }
}

/// Runs an initializer of a compiler's library (its unwinder or its streams). Such an initializer
/// shares nothing with the program and calls no hook. Therefore the call is not an event, and the
/// order of threads is irrelevant.
fn library_once(control: usize, initialize: extern "C-unwind" fn()) {
    if native::begins_library_once(control) {
        // SAFETY: the library passed the function.
        unsafe { gate::run(threads::own_pointer(), initialize as usize, [0; 3]) };
    }
}
