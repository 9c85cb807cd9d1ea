//! Spin locks of POSIX.

use crate::clock;
use crate::early_locks;
use crate::gate::{self, close, code, is_inside};
use crate::heap;
use crate::lifetime::check_first;
use crate::tries::{code_of, tries_to_lock, wait_for_lock};
use libc::c_int;
use report::FailureKind;
use runtime::Mutex;
use runtime::native;

/// The value that the C library writes into a lock that it initializes, on x86-64.
const INITIALISED: c_int = 1;
const DESTROYED: c_int = -2;

/// Returns the program's lock, which must be initialized because there is no static initializer.
fn lock_at(lock: *mut c_int, code: usize) -> Mutex {
    check(lock, code);
    native::mutex_at(lock.addr(), code)
}

fn check(lock: *mut c_int, code: usize) {
    heap::check_object(lock.addr(), code);
    // SAFETY: the program passed the lock.
    let what = match unsafe { *lock } {
        INITIALISED => return,
        DESTROYED => "destroyed",
        _ => "never initialized",
    };
    let message = format!("use of a spin lock that was {what}");
    native::fail(code, FailureKind::Misuse, message)
}

export! {
    placed fn pthread_spin_init(lock: *mut c_int, shared: c_int) -> c_int {
        if is_inside() {
            let (code, _closed) = (code(), close());
            heap::check_object(lock.addr(), code);
            // SAFETY: the program passed the lock.
            if unsafe { *lock } == INITIALISED {
                check_first("spin lock", lock.addr(), code);
            }
            native::initialize(lock.addr(), code);
        }
        real!(pthread_spin_init(lock, shared): fn(*mut c_int, c_int) -> c_int)
    }

    placed fn pthread_spin_destroy(lock: *mut c_int) -> c_int {
        if is_inside() {
            let (code, _closed) = (code(), close());
            // A destruction that is not ordered with the holder's uses of the lock is reported as a
            // data race, too.
            if lock_at(lock, code).is_held() {
                let message = "a spin lock is destroyed while a thread holds it".to_owned();
                native::fail(code, FailureKind::Misuse, message);
            }
            native::destroy(lock.addr(), code);
            // SAFETY: the program passed the lock.
            unsafe {
                native::changes(lock.addr(), size_of::<c_int>());
                *lock = DESTROYED;
            }
        }
        0
    }

    compared fn pthread_spin_lock(lock: *mut c_int) -> c_int {
        if !is_inside() {
            return early_locks::took(real!(pthread_spin_lock(lock): fn(*mut c_int) -> c_int));
        }
        let (frame, _closed) = (gate::frame(), close());
        let address = lock.addr();
        let lock = lock_at(lock, code_of(frame));
        wait_for_lock(frame, || lock.lock());
        clock::acquire(address);
        0
    }

    compared fn pthread_spin_trylock(lock: *mut c_int) -> c_int {
        if !is_inside() {
            return early_locks::took(real!(pthread_spin_trylock(lock): fn(*mut c_int) -> c_int));
        }
        let (frame, _closed) = (gate::frame(), close());
        let address = lock.addr();
        let lock = lock_at(lock, code_of(frame));
        let is_taken = tries_to_lock(frame, || lock.try_lock().then_some(())).is_some();
        match is_taken {
            true => {
                clock::acquire(address);
                0
            }
            false => libc::EBUSY,
        }
    }

    placed fn pthread_spin_unlock(lock: *mut c_int) -> c_int {
        if !is_inside() {
            return early_locks::released(real!(pthread_spin_unlock(lock): fn(*mut c_int) -> c_int));
        }
        let (code, _closed) = (code(), close());
        clock::release(lock.addr());
        let lock = lock_at(lock, code);
        native::unlock_at(code, || lock.unlock());
        0
    }
}
