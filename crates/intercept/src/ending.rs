//! How programs end: `exit`, `abort`, failed assertions and exit handlers.

use crate::destructors;
use crate::gate::{Own, close, code, is_inside};
use crate::threads::{self, Destructor};
use crate::{image, library_calls};
use libc::{c_char, c_int, c_uint, c_void};
use report::FailureKind;
use runtime::native;
use std::ffi::CStr;
use std::ptr;

/// Results of C11 functions.
pub(crate) const THRD_BUSY: c_int = 1;
pub(crate) const THRD_ERROR: c_int = 2;
pub(crate) const THRD_TIMEDOUT: c_int = 4;

/// Functions that will run when this execution ends, with their arguments. The last function runs
/// first.
static AT_EXIT: Own<Vec<(Destructor, *mut c_void)>> = Own::new(Vec::new());

/// Whether exit handlers have begun to run.
static HAS_BEGUN: Own<bool> = Own::new(false);

/// The exit handlers at the beginning of `main`: the destructors of images, and the functions
/// registered by constructors.
static REGISTERED: Own<Vec<(Destructor, *mut c_void)>> = Own::new(Vec::new());

/// Saves the functions registered so far, with which every execution begins. They run before the
/// destructors of images.
pub(crate) fn save() {
    let of_images = destructors::of_images().into_iter();
    let registered = REGISTERED.get();
    registered.clear();
    registered.extend(of_images.map(|destructor| (destructor, ptr::null_mut())));
    registered.extend_from_slice(AT_EXIT.get());
}

/// Begins an execution. The previous execution has removed the functions that it ran.
pub(crate) fn begin() {
    AT_EXIT.get().clone_from(REGISTERED.get());
    *HAS_BEGUN.get() = false;
}

/// Checks whether exit handlers have begun to run.
pub(crate) fn has_begun() -> bool {
    *HAS_BEGUN.get()
}

/// A copy of the registered functions, and whether they had begun to run.
pub(crate) type Saved = (Vec<(Destructor, *mut c_void)>, bool);

/// Copies the registered functions.
pub(crate) fn save_to(copy: &mut Saved) {
    copy.0.clone_from(AT_EXIT.get());
    copy.1 = has_begun();
}

/// Restores the registered functions from a copy.
pub(crate) fn restore_from(copy: &Saved) {
    AT_EXIT.get().clone_from(&copy.0);
    *HAS_BEGUN.get() = copy.1;
}

/// Runs the exit handlers in reverse order of their registration.
pub(crate) fn run_handlers() {
    *HAS_BEGUN.get() = true;
    while let Some((handler, argument)) = AT_EXIT.get().pop() {
        // SAFETY: the program registered the pair.
        unsafe { threads::call(handler, argument) };
    }
}

/// Handles the end of the main thread in a program that continues with other threads. If there are
/// exit handlers, waits for the end of all other threads and then runs the handlers.
pub(crate) fn outlive_others(code: usize) {
    if AT_EXIT.get().is_empty() {
        return;
    }
    native::end_for_others();
    native::outlive_twins();
    while let Some(thread) = native::living_other() {
        // The value is not used, and a failure of the thread has been reported.
        drop(native::at(code, || runtime::join(thread)));
    }
    run_handlers();
}

/// Performs the end of the program in the running thread: destroys the thread's `thread_local`
/// objects, runs the exit handlers, and fails if the status indicates an error.
pub(crate) fn finish(status: c_int, code: usize) {
    threads::destroy_objects(threads::own_index());
    run_handlers();
    end_with(status, code);
}

/// Fails if the status indicates an error.
fn end_with(status: c_int, code: usize) {
    if status != 0 {
        let message = format!("the program ends with status {}", status & 0xff);
        native::fail(code, FailureKind::ExitStatus, message);
    }
}

fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: the program passes a terminated string.
    unsafe { CStr::from_ptr(pointer) }
        .to_string_lossy()
        .into_owned()
}

export! {
    placed fn __assert_fail(assertion: *const c_char, file: *const c_char, line: c_uint, function: *const c_char) {
        if !is_inside() {
            return real!(__assert_fail(assertion, file, line, function):
                fn(*const c_char, *const c_char, c_uint, *const c_char));
        }
        let (code, _closed) = (code(), close());
        let message = native::privately(|| {
            let function = text(function);
            // In C++, and in C by clang, the name includes the parameters.
            let call = if function.ends_with(')') { "" } else { "()" };
            format!("`{}` in {function}{call}", text(assertion))
        });
        native::fail(code, FailureKind::Assertion, message);
    }

    placed fn abort() {
        if !is_inside() {
            return real!(abort(): fn());
        }
        let (code, _closed) = (code(), close());
        native::fail(code, FailureKind::Abort, "the program aborts".to_owned());
    }

    placed fn exit(status: c_int) {
        if !is_inside() {
            return real!(exit(status): fn(c_int));
        }
        let (code, _closed) = (code(), close());
        finish(status, code);
        native::exit_program();
    }

    placed fn _exit(status: c_int) {
        if !is_inside() {
            return real!(_exit(status): fn(c_int));
        }
        let (code, _closed) = (code(), close());
        end_with(status, code);
        native::exit_program();
    }

    placed fn _Exit(status: c_int) {
        if !is_inside() {
            return real!(_Exit(status): fn(c_int));
        }
        let (code, _closed) = (code(), close());
        end_with(status, code);
        native::exit_program();
    }

    placed fn atexit(handler: extern "C" fn()) -> c_int {
        // A handler without a parameter can be called with an argument.
        // SAFETY: in the ABI of x86-64 an additional argument is harmless.
        let handler: Destructor = unsafe { std::mem::transmute(handler) };
        register(handler, std::ptr::null_mut(), std::ptr::null_mut())
    }

    placed fn __cxa_atexit(handler: Destructor, argument: *mut c_void, object: *mut c_void) -> c_int {
        register(handler, argument, object)
    }

    placed fn __cxa_thread_atexit(destructor: Destructor, object: *mut c_void, image: *mut c_void) -> c_int {
        if !is_inside() {
            return real!(__cxa_thread_atexit_impl(destructor, object, image): fn(Destructor, *mut c_void, *mut c_void) -> c_int);
        }
        let _closed = close();
        threads::at_exit(destructor, object);
        0
    }
}

/// Registers a function for the end of the program.
fn register(handler: Destructor, argument: *mut c_void, object: *mut c_void) -> c_int {
    // While a library is loaded, its constructors must not let other threads run: they might load
    // libraries, too.
    if object.is_null() || image::is_in_program(object.addr()) {
        library_calls::register_handler();
    }
    if is_inside() {
        let _closed = close();
        native::privately(|| AT_EXIT.get().push((handler, argument)));
        return 0;
    }
    if crate::heap::is_constructing() {
        AT_EXIT.get().push((handler, argument));
        return 0;
    }
    real!(__cxa_atexit(handler, argument, object): fn(Destructor, *mut c_void, *mut c_void) -> c_int)
}
