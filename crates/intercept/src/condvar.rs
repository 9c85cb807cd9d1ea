//! Condition variables of POSIX and of C11.

use crate::ending::{THRD_ERROR, THRD_TIMEDOUT};
use crate::gate::{self, close, code, is_inside};
use crate::lifetime::CONDVAR;
use crate::tries::code_of;
use crate::{cancel, clock, mutex};
use libc::{c_int, c_void, clockid_t, pthread_cond_t, pthread_mutex_t, timespec};
use runtime::native::{self, Frame, at};

/// Waits for a signal. Returns 0 or the POSIX error. Without a time `until`, the wait has no time
/// limit. If `is_point` is true, the wait is a cancellation point.
///
/// # Safety
///
/// The program must have passed the condition variable, the mutex and the time.
unsafe fn wait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    (until, is_point): (Option<*const timespec>, bool),
    frame: *const Frame,
) -> c_int {
    let code = code_of(frame);
    CONDVAR.check(condition.expose_provenance(), code);
    // SAFETY: as promised by the caller.
    if let Err(error) = unsafe { mutex::lend(mutex, code) } {
        return error;
    }
    let (variable, lock) = (
        native::condvar_at(condition.addr(), code),
        native::mutex_at(mutex.addr(), code),
    );
    if is_point && cancel::is_chosen(frame) {
        at(code, || lock.unlock());
        cancel::await_request(frame);
        at(code, || lock.lock());
        // SAFETY: as above.
        unsafe { mutex::take_back(mutex, code) };
        cancel::act();
    }
    let waits = || match until {
        Some(_) => {
            let is_signalled = at(code, || variable.wait_timed(&lock));
            // The end of the wait is ordered after all earlier signals.
            if is_signalled {
                clock::acquire(condition.addr());
            }
            is_signalled
        }
        None => {
            if let Some(signal) = at(code, || variable.wait(&lock)) {
                clock::acquire_signal(signal);
            }
            true
        }
    };
    let is_signalled = match is_point {
        true => cancel::waiting(frame, waits),
        false => waits(),
    };
    if let (false, Some(until)) = (is_signalled, until) {
        // SAFETY: the program passed the time.
        unsafe { clock::reach(until) };
    }
    // SAFETY: as above.
    match unsafe { mutex::take_back(mutex, code) } {
        0 if is_signalled => 0,
        0 => libc::ETIMEDOUT,
        error => error,
    }
}

export! {
    placed fn pthread_cond_init(condition: *mut pthread_cond_t, attributes: *const c_void) -> c_int {
        if is_inside() {
            let (code, _closed) = (code(), close());
            CONDVAR.begins(condition.expose_provenance(), code);
        }
        let result = real!(pthread_cond_init(condition, attributes): fn(*mut pthread_cond_t, *const c_void) -> c_int);
        if result == 0 {
            CONDVAR.has_begun(condition.expose_provenance());
        }
        result
    }

    placed fn pthread_cond_destroy(condition: *mut pthread_cond_t) -> c_int {
        if !is_inside() {
            return real!(pthread_cond_destroy(condition): fn(*mut pthread_cond_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        CONDVAR.ends(condition.expose_provenance(), code);
        0
    }

    compared fn pthread_cond_wait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int {
        if !is_inside() {
            return real!(pthread_cond_wait(condition, mutex): fn(*mut pthread_cond_t, *mut pthread_mutex_t) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program passed the objects.
        unsafe { wait(condition, mutex, (None, true), frame) }
    }

    compared fn pthread_cond_timedwait(
        condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, until: *const timespec,
    ) -> c_int {
        if !is_inside() {
            return real!(pthread_cond_timedwait(condition, mutex, until):
                fn(*mut pthread_cond_t, *mut pthread_mutex_t, *const timespec) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program passed the objects and the time.
        unsafe {
            match clock::is_valid(until) {
                true => wait(condition, mutex, (Some(until), true), frame),
                false => libc::EINVAL,
            }
        }
    }

    compared fn pthread_cond_clockwait(
        condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, clock: clockid_t, until: *const timespec,
    ) -> c_int {
        if !is_inside() {
            return real!(pthread_cond_clockwait(condition, mutex, clock, until):
                fn(*mut pthread_cond_t, *mut pthread_mutex_t, clockid_t, *const timespec) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program passed the objects and the time.
        unsafe {
            match clock::is_valid_by(clock, until) {
                true => wait(condition, mutex, (Some(until), true), frame),
                false => libc::EINVAL,
            }
        }
    }

    placed fn pthread_cond_signal(condition: *mut pthread_cond_t) -> c_int {
        if !is_inside() {
            return real!(pthread_cond_signal(condition): fn(*mut pthread_cond_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        CONDVAR.check(condition.expose_provenance(), code);
        let variable = native::condvar_at(condition.addr(), code);
        let signal = at(code, || variable.signal());
        clock::release(condition.addr());
        clock::release_signal(signal);
        0
    }

    placed fn pthread_cond_broadcast(condition: *mut pthread_cond_t) -> c_int {
        if !is_inside() {
            return real!(pthread_cond_broadcast(condition): fn(*mut pthread_cond_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        CONDVAR.check(condition.expose_provenance(), code);
        let variable = native::condvar_at(condition.addr(), code);
        let signal = at(code, || variable.broadcast());
        clock::release(condition.addr());
        clock::release_signal(signal);
        0
    }

    placed fn cnd_init(condition: *mut pthread_cond_t) -> c_int {
        if is_inside() {
            let (code, _closed) = (code(), close());
            CONDVAR.begins(condition.expose_provenance(), code);
        }
        let result = real!(cnd_init(condition): fn(*mut pthread_cond_t) -> c_int);
        CONDVAR.has_begun(condition.expose_provenance());
        result
    }

    placed fn cnd_destroy(condition: *mut pthread_cond_t) {
        if !is_inside() {
            return real!(cnd_destroy(condition): fn(*mut pthread_cond_t));
        }
        let (code, _closed) = (code(), close());
        CONDVAR.ends(condition.expose_provenance(), code);
    }

    compared fn cnd_wait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int {
        if !is_inside() {
            return real!(cnd_wait(condition, mutex): fn(*mut pthread_cond_t, *mut pthread_mutex_t) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program passed the objects.
        match unsafe { wait(condition, mutex, (None, false), frame) } {
            0 => 0,
            _ => THRD_ERROR,
        }
    }

    compared fn cnd_timedwait(
        condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, until: *const timespec,
    ) -> c_int {
        if !is_inside() {
            return real!(cnd_timedwait(condition, mutex, until):
                fn(*mut pthread_cond_t, *mut pthread_mutex_t, *const timespec) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        // SAFETY: the program passed the objects and the time.
        unsafe {
            if !clock::is_valid(until) {
                return THRD_ERROR;
            }
            match wait(condition, mutex, (Some(until), false), frame) {
                0 => 0,
                libc::ETIMEDOUT => THRD_TIMEDOUT,
                _ => THRD_ERROR,
            }
        }
    }

    placed fn cnd_signal(condition: *mut pthread_cond_t) -> c_int {
        if !is_inside() {
            return real!(cnd_signal(condition): fn(*mut pthread_cond_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        CONDVAR.check(condition.expose_provenance(), code);
        let variable = native::condvar_at(condition.addr(), code);
        let signal = at(code, || variable.signal());
        clock::release(condition.addr());
        clock::release_signal(signal);
        0
    }

    placed fn cnd_broadcast(condition: *mut pthread_cond_t) -> c_int {
        if !is_inside() {
            return real!(cnd_broadcast(condition): fn(*mut pthread_cond_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        CONDVAR.check(condition.expose_provenance(), code);
        let variable = native::condvar_at(condition.addr(), code);
        let signal = at(code, || variable.broadcast());
        clock::release(condition.addr());
        clock::release_signal(signal);
        0
    }
}
