//! Sleep. A thread publishes all its performed events before it sleeps, so that other threads can
//! continue.

use libc::{c_int, c_uint, clockid_t, timespec};

enforced! {
    fn sleep(seconds: c_uint) -> c_uint {
        enforce::publish();
        original!(sleep(seconds): fn(c_uint) -> c_uint)
    }

    fn usleep(microseconds: c_uint) -> c_int {
        enforce::publish();
        original!(usleep(microseconds): fn(c_uint) -> c_int)
    }

    fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int {
        enforce::publish();
        original!(nanosleep(time, left): fn(*const timespec, *mut timespec) -> c_int)
    }

    fn clock_nanosleep(clock: clockid_t, flags: c_int, time: *const timespec, left: *mut timespec) -> c_int {
        enforce::publish();
        original!(clock_nanosleep(clock, flags, time, left):
            fn(clockid_t, c_int, *const timespec, *mut timespec) -> c_int)
    }

    fn thrd_sleep(time: *const timespec, left: *mut timespec) -> c_int {
        enforce::publish();
        original!(thrd_sleep(time, left): fn(*const timespec, *mut timespec) -> c_int)
    }
}
