//! Spin locks of POSIX.

use crate::gate::{self, close, code, is_inside};
use crate::tries::tries;
use libc::c_int;
use runtime::native::{self, at};

export! {
    placed fn pthread_spin_init(lock: *mut c_int, shared: c_int) -> c_int {
        if is_inside() {
            let _closed = close();
            native::forget(lock.addr());
        }
        real!(pthread_spin_init(lock, shared): fn(*mut c_int, c_int) -> c_int)
    }

    placed fn pthread_spin_destroy(lock: *mut c_int) -> c_int {
        if is_inside() {
            let _closed = close();
            native::forget(lock.addr());
        }
        0
    }

    placed fn pthread_spin_lock(lock: *mut c_int) -> c_int {
        if !is_inside() {
            return real!(pthread_spin_lock(lock): fn(*mut c_int) -> c_int);
        }
        let (code, _closed) = (code(), close());
        let lock = native::mutex_at(lock.addr());
        at(code, || lock.lock());
        0
    }

    compared fn pthread_spin_trylock(lock: *mut c_int) -> c_int {
        if !is_inside() {
            return real!(pthread_spin_trylock(lock): fn(*mut c_int) -> c_int);
        }
        let (frame, _closed) = (gate::frame(), close());
        let lock = native::mutex_at(lock.addr());
        match tries(frame, || lock.try_lock()) {
            true => 0,
            false => libc::EBUSY,
        }
    }

    placed fn pthread_spin_unlock(lock: *mut c_int) -> c_int {
        if !is_inside() {
            return real!(pthread_spin_unlock(lock): fn(*mut c_int) -> c_int);
        }
        let (code, _closed) = (code(), close());
        let lock = native::mutex_at(lock.addr());
        at(code, || lock.unlock());
        0
    }
}
