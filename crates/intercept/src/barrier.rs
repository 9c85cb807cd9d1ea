//! Barriers of POSIX.

use crate::gate::{Own, close, code, is_inside};
use crate::lifetime::BARRIER;
use crate::{clock, image};
use libc::{c_int, c_uint, pthread_barrier_t, pthread_barrierattr_t};
use runtime::native::{self, at};
use std::collections::BTreeMap;

export! {
    placed fn pthread_barrier_init(
        barrier: *mut pthread_barrier_t, attributes: *const pthread_barrierattr_t, places: c_uint,
    ) -> c_int {
        if is_inside() && places > 0 {
            let (code, _closed) = (code(), close());
            BARRIER.begins(barrier.expose_provenance(), code);
        }
        let result = real!(pthread_barrier_init(barrier, attributes, places):
            fn(*mut pthread_barrier_t, *const pthread_barrierattr_t, c_uint) -> c_int);
        if result == 0 {
            BARRIER.has_begun(barrier.expose_provenance());
        }
        result
    }

    placed fn pthread_barrier_destroy(barrier: *mut pthread_barrier_t) -> c_int {
        if !is_inside() {
            return real!(pthread_barrier_destroy(barrier): fn(*mut pthread_barrier_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        BARRIER.ends(barrier.expose_provenance(), code);
        0
    }

    placed fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int {
        if !is_inside() {
            return real!(pthread_barrier_wait(barrier): fn(*mut pthread_barrier_t) -> c_int);
        }
        let (code, _closed) = (code(), close());
        BARRIER.check(barrier.expose_provenance(), code);
        // SAFETY: the C library keeps the number of threads for which a barrier waits in its third
        // word.
        let places = unsafe { *barrier.cast::<c_uint>().add(2) };
        let address = barrier.addr();
        clock::release(address);
        let barrier = native::barrier_at(address, places as usize, code);
        let arrival = at(code, || barrier.wait());
        clock::acquire(address);
        // The order of arrivals matters only if the program reads which thread was the last.
        match result_is_used(code) && arrival.is_leader() {
            true => libc::PTHREAD_BARRIER_SERIAL_THREAD,
            false => 0,
        }
    }
}

/// Checks whether the program may use the result of the call with this return address. Returns true
/// if the code is unknown.
fn result_is_used(code: usize) -> bool {
    static KNOWN: Own<BTreeMap<usize, bool>> = Own::new(BTreeMap::new());
    native::privately(|| {
        *KNOWN.get().entry(code).or_insert_with(|| {
            let part = image::code_around(code);
            part.is_none_or(|(bytes, position)| ::native::reads_result(bytes, position))
        })
    })
}
