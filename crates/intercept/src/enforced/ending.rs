//! Failures, and ends of the process that run no handlers.

use libc::{c_char, c_int, c_uint};

enforced! {
    fn _exit(status: c_int) {
        enforce::leave();
        original!(_exit(status): fn(c_int))
    }

    fn abort() {
        enforce::record();
        original!(abort(): fn())
    }

    fn __assert_fail(assertion: *const c_char, file: *const c_char, line: c_uint, function: *const c_char) {
        enforce::record();
        original!(__assert_fail(assertion, file, line, function):
            fn(*const c_char, *const c_char, c_uint, *const c_char))
    }
}
