//! Mutexes for objects that are too small to contain a mutex. A mutex is found by the address of
//! its object.

use super::Mutex;
use std::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, SeqCst},
};

/// A mutex that belongs to the object at an address.
pub struct Side {
    /// The address of the object, or 0 if the entry is free.
    address: AtomicUsize,
    mutex: Mutex,
}

const MOST: usize = 4096;

static SIDES: [Side; MOST] = [const {
    Side {
        address: AtomicUsize::new(0),
        mutex: Mutex::new(),
    }
}; MOST];

impl Side {
    /// Returns the mutex of the object at this address, which is not 0.
    fn of(address: usize) -> &'static Mutex {
        let start = (address >> 2) % MOST;
        for distance in 0..MOST {
            let side = &SIDES[(start + distance) % MOST];
            let known = side.address.load(Acquire);
            if known == address {
                return &side.mutex;
            }
            if known == 0 {
                match side.address.compare_exchange(0, address, SeqCst, Acquire) {
                    Ok(_) => return &side.mutex,
                    Err(other) if other == address => return &side.mutex,
                    Err(_) => {}
                }
            }
        }
        crate::fail(
            "the program has more than 4,096 spin locks and large atomics; that cannot be enforced",
        )
    }

    /// Waits for the mutex of the object at this address and takes it.
    pub fn lock(address: usize) {
        Side::of(address).request();
    }

    /// Takes the mutex of this object if the mutex is free.
    pub fn try_lock(address: usize) -> bool {
        Side::of(address).tries(None)
    }

    /// Releases the mutex of this object.
    pub fn unlock(address: usize) {
        Side::of(address).release();
    }

    /// Resets the mutex when the object is initialized again.
    pub fn clear(address: usize) {
        Side::of(address).clear();
    }
}
