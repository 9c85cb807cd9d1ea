//! Condition variables, and futexes, which are similar.

use super::mutexes::mutex;
use super::refuse;
use crate::ending::{THRD_ERROR, THRD_TIMEDOUT};
use enforce::blocking::{Condvar, Deadline, Waited, futex_wait, futex_wake};
use libc::{c_int, c_long, clockid_t, pthread_cond_t, pthread_mutex_t, timespec};
use std::sync::atomic::AtomicU32;

/// Converts a time of this clock.
pub(super) fn deadline(clock: clockid_t, until: *const timespec) -> Deadline {
    // SAFETY: the program passed the pointer.
    let until = unsafe { &*until };
    Deadline {
        is_monotonic: clock == libc::CLOCK_MONOTONIC,
        seconds: until.tv_sec,
        nanoseconds: until.tv_nsec,
    }
}

/// Converts a time of the default clock.
pub(super) fn realtime(until: *const timespec) -> Deadline {
    deadline(libc::CLOCK_REALTIME, until)
}

/// Returns the clock of a condition variable, which the C library has stored in it.
fn clock_of(condition: *mut pthread_cond_t) -> clockid_t {
    const FLAGS: usize = 9;
    const MONOTONIC: u32 = 2;
    // SAFETY: the program's condition variable has this layout.
    let flags = unsafe { condition.cast::<u32>().add(FLAGS).read() };
    match flags & MONOTONIC {
        0 => libc::CLOCK_REALTIME,
        _ => libc::CLOCK_MONOTONIC,
    }
}

fn condvar<'c>(condition: *mut pthread_cond_t) -> &'c Condvar {
    // SAFETY: the program passed the object; all functions for condition variables are ours.
    unsafe { Condvar::at(condition) }
}

fn wait(
    condition: *mut pthread_cond_t,
    lock: *mut pthread_mutex_t,
    until: Option<Deadline>,
) -> c_int {
    let lock = mutex(lock);
    if lock.refuses_wait() {
        return libc::EPERM;
    }
    match condvar(condition).wait(lock, until) {
        true => 0,
        false => libc::ETIMEDOUT,
    }
}

/// Destroys a condition variable. Does nothing in a forked process, where the variable may list a
/// waiter that does not exist.
fn destroy(condition: *mut pthread_cond_t) {
    if enforce::is_thread_enforced() {
        condvar(condition).destroy();
    }
}

enforced! {
    fn pthread_cond_wait(condition: *mut pthread_cond_t, lock: *mut pthread_mutex_t) -> c_int {
        wait(condition, lock, None)
    }

    fn pthread_cond_timedwait(
        condition: *mut pthread_cond_t, lock: *mut pthread_mutex_t, until: *const timespec,
    ) -> c_int {
        wait(condition, lock, Some(deadline(clock_of(condition), until)))
    }

    fn pthread_cond_clockwait(
        condition: *mut pthread_cond_t, lock: *mut pthread_mutex_t, clock: clockid_t, until: *const timespec,
    ) -> c_int {
        wait(condition, lock, Some(deadline(clock, until)))
    }

    fn pthread_cond_signal(condition: *mut pthread_cond_t) -> c_int {
        condvar(condition).signal();
        0
    }

    fn pthread_cond_broadcast(condition: *mut pthread_cond_t) -> c_int {
        condvar(condition).broadcast();
        0
    }

    fn pthread_cond_destroy(condition: *mut pthread_cond_t) -> c_int {
        destroy(condition);
        0
    }

    fn cnd_wait(condition: *mut pthread_cond_t, lock: *mut pthread_mutex_t) -> c_int {
        match wait(condition, lock, None) {
            0 => 0,
            _ => THRD_ERROR,
        }
    }

    fn cnd_timedwait(
        condition: *mut pthread_cond_t, lock: *mut pthread_mutex_t, until: *const timespec,
    ) -> c_int {
        match wait(condition, lock, Some(realtime(until))) {
            0 => 0,
            libc::ETIMEDOUT => THRD_TIMEDOUT,
            _ => THRD_ERROR,
        }
    }

    fn cnd_signal(condition: *mut pthread_cond_t) -> c_int {
        condvar(condition).signal();
        0
    }

    fn cnd_broadcast(condition: *mut pthread_cond_t) -> c_int {
        condvar(condition).broadcast();
        0
    }

    fn cnd_destroy(condition: *mut pthread_cond_t) {
        destroy(condition);
    }

    fn syscall(
        number: c_long, a: c_long, b: c_long, c: c_long, d: c_long, e: c_long, f: c_long,
    ) -> c_long {
        if number == libc::SYS_futex && !enforce::is_internal() {
            return futex([a, b, c, d]);
        }
        if !enforce::is_internal() {
            enforce::publish();
        }
        original!(syscall(number, a, b, c, d, e, f):
            fn(c_long, c_long, c_long, c_long, c_long, c_long, c_long) -> c_long)
    }
}

const WAIT: c_int = 0;
const WAKE: c_int = 1;
const WAIT_BITSET: c_int = 9;
const WAKE_BITSET: c_int = 10;
/// Flag: the time refers to `CLOCK_REALTIME`.
const REALTIME: c_int = 256;
/// Mask of the operation without flags.
const OPERATION: c_int = 0x7f;

/// Performs a wait or a wake. Returns the result of the function `syscall`.
fn futex([word, operation, value, time]: [c_long; 4]) -> c_long {
    // SAFETY: the program passed the address of the word, which it accesses atomically.
    let word = unsafe { &*std::ptr::with_exposed_provenance::<AtomicU32>(word as usize) };
    let flags = operation as c_int;
    match flags & OPERATION {
        WAIT | WAIT_BITSET => {
            let until = std::ptr::with_exposed_provenance::<timespec>(time as usize);
            let until = (!until.is_null()).then(|| end_of(flags, until));
            match futex_wait(word, value as u32, until) {
                Waited::Woken => 0,
                Waited::Changed => failing(libc::EAGAIN),
                Waited::Expired => failing(libc::ETIMEDOUT),
            }
        }
        WAKE | WAKE_BITSET => {
            let most = value.clamp(0, c_int::MAX.into()) as u32;
            futex_wake(word, most).into()
        }
        other => refuse(&format!("uses the futex operation {other}")),
    }
}

/// Returns the end of a wait. Simple waits have a duration, other waits a point in time.
fn end_of(flags: c_int, until: *const timespec) -> Deadline {
    if flags & OPERATION == WAIT_BITSET {
        let clock = match flags & REALTIME {
            0 => libc::CLOCK_MONOTONIC,
            _ => libc::CLOCK_REALTIME,
        };
        return deadline(clock, until);
    }
    let mut now = timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    original!(clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now): fn(clockid_t, *mut timespec) -> c_int);
    let wait = deadline(libc::CLOCK_MONOTONIC, until);
    Deadline {
        is_monotonic: true,
        seconds: now.tv_sec.saturating_add(wait.seconds),
        nanoseconds: now.tv_nsec + wait.nanoseconds,
    }
}

/// Sets `errno` and returns -1.
pub(super) fn failing(error: c_int) -> c_long {
    // SAFETY: every thread has an errno.
    unsafe { *libc::__errno_location() = error };
    -1
}
