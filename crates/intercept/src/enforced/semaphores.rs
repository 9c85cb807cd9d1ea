//! Semaphores.

use super::condvars::{deadline, failing, realtime};
use super::refuse;
use enforce::blocking::Semaphore;
use libc::{c_char, c_int, c_uint, c_void, clockid_t, sem_t, timespec};

fn semaphore<'s>(semaphore: *mut sem_t) -> &'s Semaphore {
    // SAFETY: the program passed the object; all functions for semaphores are ours.
    unsafe { Semaphore::at(semaphore) }
}

fn result(is_granted: bool, error: c_int) -> c_int {
    match is_granted {
        true => 0,
        false => failing(error) as c_int,
    }
}

enforced! {
    fn sem_init(place: *mut sem_t, shared: c_int, permits: c_uint) -> c_int {
        let result = original!(sem_init(place, shared, permits): fn(*mut sem_t, c_int, c_uint) -> c_int);
        if result == 0 {
            semaphore(place).begin(permits);
        }
        result
    }

    fn sem_open(_name: *const c_char, _flags: c_int, _mode: c_uint, _permits: c_uint) -> *mut c_void {
        refuse("opens a semaphore that it shares with other processes (sem_open)")
    }

    fn sem_wait(place: *mut sem_t) -> c_int {
        semaphore(place).acquire();
        0
    }

    fn sem_trywait(place: *mut sem_t) -> c_int {
        result(semaphore(place).try_acquire(None), libc::EAGAIN)
    }

    fn sem_timedwait(place: *mut sem_t, until: *const timespec) -> c_int {
        result(semaphore(place).try_acquire(Some(realtime(until))), libc::ETIMEDOUT)
    }

    fn sem_clockwait(place: *mut sem_t, clock: clockid_t, until: *const timespec) -> c_int {
        result(semaphore(place).try_acquire(Some(deadline(clock, until))), libc::ETIMEDOUT)
    }

    fn sem_post(place: *mut sem_t) -> c_int {
        semaphore(place).release();
        0
    }

    fn sem_getvalue(place: *mut sem_t, value: *mut c_int) -> c_int {
        let permits = semaphore(place).permits();
        // SAFETY: the program passed the pointer.
        unsafe { *value = c_int::try_from(permits).unwrap_or(c_int::MAX) };
        0
    }
}
