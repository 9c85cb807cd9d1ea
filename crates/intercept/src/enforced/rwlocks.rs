//! Reader-writer locks.

use super::condvars::{deadline, realtime};
use enforce::blocking::RwLock;
use libc::{c_int, clockid_t, pthread_rwlock_t, timespec};

fn rwlock<'l>(lock: *mut pthread_rwlock_t) -> &'l RwLock {
    // SAFETY: the program passed the object; all functions for reader-writer locks are ours.
    unsafe { RwLock::at(lock) }
}

fn result(is_granted: bool, error: c_int) -> c_int {
    match is_granted {
        true => 0,
        false => error,
    }
}

enforced! {
    fn pthread_rwlock_rdlock(lock: *mut pthread_rwlock_t) -> c_int {
        rwlock(lock).read();
        0
    }

    fn pthread_rwlock_wrlock(lock: *mut pthread_rwlock_t) -> c_int {
        rwlock(lock).write();
        0
    }

    fn pthread_rwlock_tryrdlock(lock: *mut pthread_rwlock_t) -> c_int {
        result(rwlock(lock).try_read(None), libc::EBUSY)
    }

    fn pthread_rwlock_trywrlock(lock: *mut pthread_rwlock_t) -> c_int {
        result(rwlock(lock).try_write(None), libc::EBUSY)
    }

    fn pthread_rwlock_timedrdlock(lock: *mut pthread_rwlock_t, until: *const timespec) -> c_int {
        result(rwlock(lock).try_read(Some(realtime(until))), libc::ETIMEDOUT)
    }

    fn pthread_rwlock_timedwrlock(lock: *mut pthread_rwlock_t, until: *const timespec) -> c_int {
        result(rwlock(lock).try_write(Some(realtime(until))), libc::ETIMEDOUT)
    }

    fn pthread_rwlock_clockrdlock(lock: *mut pthread_rwlock_t, clock: clockid_t, until: *const timespec) -> c_int {
        result(rwlock(lock).try_read(Some(deadline(clock, until))), libc::ETIMEDOUT)
    }

    fn pthread_rwlock_clockwrlock(lock: *mut pthread_rwlock_t, clock: clockid_t, until: *const timespec) -> c_int {
        result(rwlock(lock).try_write(Some(deadline(clock, until))), libc::ETIMEDOUT)
    }

    fn pthread_rwlock_unlock(lock: *mut pthread_rwlock_t) -> c_int {
        rwlock(lock).release();
        0
    }

    fn pthread_rwlock_destroy(_lock: *mut pthread_rwlock_t) -> c_int {
        0
    }
}
