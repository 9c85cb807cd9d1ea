//! Mutexes, spin locks, barriers and one-time initialization.

use super::condvars::{deadline, realtime};
use super::refuse;
use crate::ending::{THRD_BUSY, THRD_ERROR, THRD_TIMEDOUT};
use crate::image;
use enforce::blocking::{Barrier, Entry, Mutex, Once, Refused, Side};
use libc::{c_int, clockid_t, pthread_barrier_t, pthread_mutex_t, timespec};

/// Returns the POSIX error code.
fn error(refused: Refused) -> c_int {
    match refused {
        Refused::Busy => libc::EBUSY,
        Refused::Deadlock => libc::EDEADLK,
        Refused::TimedOut => libc::ETIMEDOUT,
        Refused::NotOwner => libc::EPERM,
        Refused::Kind => refuse("uses a mutex that is robust or shared with other processes"),
    }
}

fn posix(result: Result<(), Refused>) -> c_int {
    result.map_or_else(error, |()| 0)
}

/// Returns the C11 error code.
fn c11(result: Result<(), Refused>) -> c_int {
    match result.map_err(error) {
        Ok(()) => 0,
        Err(libc::EBUSY) => THRD_BUSY,
        Err(libc::ETIMEDOUT) => THRD_TIMEDOUT,
        Err(_) => THRD_ERROR,
    }
}

/// Returns the object of the program's mutex.
pub(super) fn mutex<'m>(mutex: *mut pthread_mutex_t) -> &'m Mutex {
    // SAFETY: the program passed the object; all functions for mutexes are ours.
    unsafe { Mutex::at(mutex) }
}

/// Returns the `Once` of a C++ guard. It is in the second half of the guard, because compiled code
/// reads the first byte.
fn guarded<'o>(guard: *mut u8) -> &'o Once {
    // SAFETY: a guard has eight bytes; all functions for guards are ours.
    unsafe { Once::at(guard.add(4)) }
}

/// Reports the failure to waiting threads if an initializer is unwound.
struct Failing<'o>(&'o Once);

impl Drop for Failing<'_> {
    fn drop(&mut self) {
        self.0.fail();
    }
}

fn once(control: *mut c_int, initialize: extern "C-unwind" fn()) {
    // A `once` in a compiler's library is not an event of the program.
    if image::is_compilers(control.addr()) {
        original!(pthread_once(control, initialize): fn(*mut c_int, extern "C-unwind" fn()) -> c_int);
        return;
    }
    // SAFETY: the program passed the object; all functions for `once` are ours.
    let once = unsafe { Once::at(control) };
    if once.enter() == Entry::Initialize {
        let failing = Failing(once);
        initialize();
        std::mem::forget(failing);
        once.done();
    }
}

enforced! {
    fn pthread_mutex_lock(lock: *mut pthread_mutex_t) -> c_int {
        posix(mutex(lock).lock())
    }

    fn pthread_mutex_trylock(lock: *mut pthread_mutex_t) -> c_int {
        posix(mutex(lock).try_lock(None))
    }

    fn pthread_mutex_timedlock(lock: *mut pthread_mutex_t, until: *const timespec) -> c_int {
        posix(mutex(lock).try_lock(Some(realtime(until))))
    }

    fn pthread_mutex_clocklock(lock: *mut pthread_mutex_t, clock: clockid_t, until: *const timespec) -> c_int {
        posix(mutex(lock).try_lock(Some(deadline(clock, until))))
    }

    fn pthread_mutex_unlock(lock: *mut pthread_mutex_t) -> c_int {
        posix(mutex(lock).unlock())
    }

    fn pthread_mutex_destroy(lock: *mut pthread_mutex_t) -> c_int {
        match mutex(lock).destroy() {
            true => {
                mutex(lock).clear();
                0
            }
            false => libc::EBUSY,
        }
    }

    fn mtx_lock(lock: *mut pthread_mutex_t) -> c_int {
        c11(mutex(lock).lock())
    }

    fn mtx_trylock(lock: *mut pthread_mutex_t) -> c_int {
        c11(mutex(lock).try_lock(None))
    }

    fn mtx_timedlock(lock: *mut pthread_mutex_t, until: *const timespec) -> c_int {
        c11(mutex(lock).try_lock(Some(realtime(until))))
    }

    fn mtx_unlock(lock: *mut pthread_mutex_t) -> c_int {
        c11(mutex(lock).unlock())
    }

    fn mtx_destroy(lock: *mut pthread_mutex_t) {
        if mutex(lock).destroy() {
            mutex(lock).clear();
        }
    }

    fn pthread_spin_init(lock: *mut c_int, _shared: c_int) -> c_int {
        Side::clear(lock.addr());
        0
    }

    fn pthread_spin_lock(lock: *mut c_int) -> c_int {
        Side::lock(lock.addr());
        0
    }

    fn pthread_spin_trylock(lock: *mut c_int) -> c_int {
        match Side::try_lock(lock.addr()) {
            true => 0,
            false => libc::EBUSY,
        }
    }

    fn pthread_spin_unlock(lock: *mut c_int) -> c_int {
        Side::unlock(lock.addr());
        0
    }

    fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int {
        // SAFETY: the program passed the object; all functions for barriers are ours.
        match unsafe { Barrier::at(barrier) }.wait() {
            true => libc::PTHREAD_BARRIER_SERIAL_THREAD,
            false => 0,
        }
    }

    fn pthread_barrier_destroy(barrier: *mut pthread_barrier_t) -> c_int {
        // SAFETY: as above.
        unsafe { Barrier::at(barrier) }.destroy();
        0
    }

    fn pthread_once(control: *mut c_int, initialize: extern "C-unwind" fn()) -> c_int {
        once(control, initialize);
        0
    }

    fn call_once(control: *mut c_int, initialize: extern "C-unwind" fn()) {
        once(control, initialize);
    }

    fn __cxa_guard_acquire(guard: *mut u8) -> c_int {
        if image::is_compilers(guard.addr()) {
            return original!(__cxa_guard_acquire(guard): fn(*mut u8) -> c_int);
        }
        match guarded(guard).enter() {
            Entry::Initialize => 1,
            Entry::Done => 0,
        }
    }

    fn __cxa_guard_release(guard: *mut u8) {
        if image::is_compilers(guard.addr()) {
            return original!(__cxa_guard_release(guard): fn(*mut u8));
        }
        // SAFETY: the first byte of a guard records whether the initialization is done.
        unsafe { crate::atomics::store_byte(guard, 1) };
        guarded(guard).done();
    }

    fn __cxa_guard_abort(guard: *mut u8) {
        if image::is_compilers(guard.addr()) {
            return original!(__cxa_guard_abort(guard): fn(*mut u8));
        }
        guarded(guard).fail();
    }
}
