//! Semaphores of POSIX.

use crate::cancel;
use crate::gate::{self, Closed, close, code, is_inside};
use crate::tries::{code_of, tries};
use libc::{c_int, c_uint, clockid_t, sem_t, timespec};
use runtime::native::{self, at};

export! {
    placed fn sem_init(semaphore: *mut sem_t, shared: c_int, permits: c_uint) -> c_int {
        if is_inside() {
            let _closed = close();
            native::forget(semaphore.addr());
        }
        real!(sem_init(semaphore, shared, permits): fn(*mut sem_t, c_int, c_uint) -> c_int)
    }

    placed fn sem_destroy(semaphore: *mut sem_t) -> c_int {
        if !is_inside() {
            return real!(sem_destroy(semaphore): fn(*mut sem_t) -> c_int);
        }
        let _closed = close();
        native::forget(semaphore.addr());
        0
    }

    compared fn sem_wait(semaphore: *mut sem_t) -> c_int {
        if !is_inside() {
            return real!(sem_wait(semaphore): fn(*mut sem_t) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        let semaphore = semaphore_of(semaphore);
        cancel::wait(frame, || at(code_of(frame), || semaphore.acquire()));
        0
    }

    compared fn sem_trywait(semaphore: *mut sem_t) -> c_int {
        if !is_inside() {
            return real!(sem_trywait(semaphore): fn(*mut sem_t) -> c_int);
        }
        let (frame, mut closed) = (gate::frame(), close());
        let semaphore = semaphore_of(semaphore);
        match tries(frame, || semaphore.try_acquire()) {
            true => 0,
            false => failing(&mut closed, libc::EAGAIN),
        }
    }

    compared fn sem_timedwait(semaphore: *mut sem_t, until: *const timespec) -> c_int {
        if !is_inside() {
            return real!(sem_timedwait(semaphore, until): fn(*mut sem_t, *const timespec) -> c_int);
        }
        let (frame, mut closed) = (gate::frame(), close());
        let semaphore = semaphore_of(semaphore);
        match cancel::wait(frame, || tries(frame, || semaphore.acquire_timed())) {
            true => 0,
            false => failing(&mut closed, libc::ETIMEDOUT),
        }
    }

    compared fn sem_clockwait(semaphore: *mut sem_t, clock: clockid_t, until: *const timespec) -> c_int {
        if !is_inside() {
            return real!(sem_clockwait(semaphore, clock, until): fn(*mut sem_t, clockid_t, *const timespec) -> c_int);
        }
        let (frame, mut closed) = (gate::frame(), close());
        let semaphore = semaphore_of(semaphore);
        match cancel::wait(frame, || tries(frame, || semaphore.acquire_timed())) {
            true => 0,
            false => failing(&mut closed, libc::ETIMEDOUT),
        }
    }

    placed fn sem_post(semaphore: *mut sem_t) -> c_int {
        if !is_inside() {
            return real!(sem_post(semaphore): fn(*mut sem_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        let semaphore = semaphore_of(semaphore);
        at(code, || semaphore.release());
        0
    }

    compared fn sem_getvalue(semaphore: *mut sem_t, value: *mut c_int) -> c_int {
        if !is_inside() {
            return real!(sem_getvalue(semaphore, value): fn(*mut sem_t, *mut c_int) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        let semaphore = semaphore_of(semaphore);
        let permits = tries(frame, || semaphore.permits());
        // SAFETY: the program gave the pointer.
        unsafe { *value = c_int::try_from(permits).unwrap_or(c_int::MAX) };
        0
    }
}

/// The semaphore at an address, with the permits that the C library's initialisation wrote there.
fn semaphore_of(semaphore: *mut sem_t) -> runtime::Semaphore {
    // SAFETY: the first word of a semaphore is the number of its permits.
    let permits = unsafe { *semaphore.cast::<c_uint>() };
    native::semaphore_at(semaphore.addr(), permits as usize)
}

/// Fails as functions of the C library do.
fn failing(closed: &mut Closed, error: c_int) -> c_int {
    closed.fail(error);
    -1
}
