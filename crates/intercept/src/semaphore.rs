//! Semaphores of POSIX.

use crate::gate::{self, Closed, close, code, is_inside};
use crate::hooks::Call;
use crate::lifetime::SEMAPHORE;
use crate::tries::{code_of, tries};
use crate::{cancel, clock};
use libc::{c_int, c_uint, clockid_t, sem_t, timespec};
use runtime::native::{self, at};

/// `SEM_VALUE_MAX`.
const MOST: usize = c_int::MAX as usize;

export! {
    placed fn sem_init(semaphore: *mut sem_t, shared: c_int, permits: c_uint) -> c_int {
        if is_inside() && permits as usize <= MOST {
            let (code, _closed) = (code(), close());
            SEMAPHORE.begins(semaphore.expose_provenance(), code);
        }
        let result = real!(sem_init(semaphore, shared, permits): fn(*mut sem_t, c_int, c_uint) -> c_int);
        if result == 0 {
            SEMAPHORE.has_begun(semaphore.expose_provenance());
        }
        result
    }

    placed fn sem_destroy(semaphore: *mut sem_t) -> c_int {
        if !is_inside() {
            return real!(sem_destroy(semaphore): fn(*mut sem_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        SEMAPHORE.ends(semaphore.expose_provenance(), code);
        0
    }

    compared fn sem_wait(semaphore: *mut sem_t) -> c_int {
        if !is_inside() {
            return real!(sem_wait(semaphore): fn(*mut sem_t) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        let address = semaphore.addr();
        let semaphore = semaphore_of(semaphore, code_of(frame));
        cancel::wait(frame, || at(code_of(frame), || semaphore.acquire()));
        clock::acquire(address);
        0
    }

    compared fn sem_trywait(semaphore: *mut sem_t) -> c_int {
        if !is_inside() {
            return real!(sem_trywait(semaphore): fn(*mut sem_t) -> c_int);
        }
        let (frame, mut closed) = (gate::frame(), close());
        let address = semaphore.addr();
        let semaphore = semaphore_of(semaphore, code_of(frame));
        let is_granted = tries(frame, || semaphore.try_acquire());
        match is_granted {
            true => {
                clock::acquire(address);
                0
            }
            false => failing(&mut closed, libc::EAGAIN),
        }
    }

    compared fn sem_timedwait(semaphore: *mut sem_t, until: *const timespec) -> c_int {
        if !is_inside() {
            return real!(sem_timedwait(semaphore, until): fn(*mut sem_t, *const timespec) -> c_int);
        }
        let (frame, mut closed) = (gate::frame(), close());
        // SAFETY: the program passed the time.
        if !unsafe { clock::is_valid(until) } {
            return failing(&mut closed, libc::EINVAL);
        }
        let address = semaphore.addr();
        let semaphore = semaphore_of(semaphore, code_of(frame));
        let is_granted = cancel::wait(frame, || tries(frame, || semaphore.acquire_timed()));
        match is_granted {
            true => {
                clock::acquire(address);
                0
            }
            false => {
                // SAFETY: the program passed the time.
                unsafe { clock::reach(until) };
                failing(&mut closed, libc::ETIMEDOUT)
            }
        }
    }

    compared fn sem_clockwait(semaphore: *mut sem_t, clock: clockid_t, until: *const timespec) -> c_int {
        if !is_inside() {
            return real!(sem_clockwait(semaphore, clock, until): fn(*mut sem_t, clockid_t, *const timespec) -> c_int);
        }
        let (frame, mut closed) = (gate::frame(), close());
        // SAFETY: the program passed the time.
        if !unsafe { clock::is_valid_by(clock, until) } {
            return failing(&mut closed, libc::EINVAL);
        }
        let address = semaphore.addr();
        let semaphore = semaphore_of(semaphore, code_of(frame));
        let is_granted = cancel::wait(frame, || tries(frame, || semaphore.acquire_timed()));
        match is_granted {
            true => {
                clock::acquire(address);
                0
            }
            false => {
                // SAFETY: the program passed the time.
                unsafe { clock::reach(until) };
                failing(&mut closed, libc::ETIMEDOUT)
            }
        }
    }

    placed fn sem_post(semaphore: *mut sem_t) -> c_int {
        if !is_inside() {
            return real!(sem_post(semaphore): fn(*mut sem_t) -> c_int);
        }
        let (code, mut closed) = (code(), close());
        let address = semaphore.addr();
        let semaphore = semaphore_of(semaphore, code);
        let is_released = at(code, || semaphore.release_below(MOST));
        clock::release(address);
        match is_released {
            true => 0,
            false => failing(&mut closed, libc::EOVERFLOW),
        }
    }

    compared fn sem_getvalue(semaphore: *mut sem_t, value: *mut c_int) -> c_int {
        if !is_inside() {
            return real!(sem_getvalue(semaphore, value): fn(*mut sem_t, *mut c_int) -> c_int);
        }
        let call = Call::here();
        let (frame, closed) = (gate::frame(), close());
        let semaphore = semaphore_of(semaphore, code_of(frame));
        let permits = tries(frame, || semaphore.permits());
        drop(closed);
        call.restore_frame();
        // SAFETY: the program passed the pointer.
        unsafe {
            call.writes(value.cast(), size_of::<c_int>());
            *value = c_int::try_from(permits).unwrap_or(c_int::MAX);
        }
        0
    }
}

/// Returns the semaphore at an address, with the permits that its initialization has written there.
fn semaphore_of(semaphore: *mut sem_t, code: usize) -> runtime::Semaphore {
    SEMAPHORE.check(semaphore.expose_provenance(), code);
    // SAFETY: the first word of a semaphore is the number of its permits.
    let permits = unsafe { *semaphore.cast::<c_uint>() };
    native::semaphore_at(semaphore.addr(), permits as usize, code)
}

/// Sets the program's `errno` and returns -1.
fn failing(closed: &mut Closed, error: c_int) -> c_int {
    closed.fail(error);
    -1
}
