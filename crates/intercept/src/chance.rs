//! Random numbers that the system supplies. Each thread gets the same numbers in every execution.

use crate::gate::{close, is_inside};
use crate::threads;
use libc::{c_uint, size_t, ssize_t};
use runtime::native;

export! {
    placed fn getrandom(buffer: *mut u8, length: size_t, flags: c_uint) -> ssize_t {
        if !is_inside() {
            return real!(getrandom(buffer, length, flags): fn(*mut u8, size_t, c_uint) -> ssize_t);
        }
        let _closed = close();
        native::tell_apart(threads::own_index());
        for index in 0..length {
            // SAFETY: the program passed a buffer of this length.
            unsafe { *buffer.add(index) = (next_random() >> 56) as u8 };
        }
        length as ssize_t
    }
}

/// Returns the thread's next random number (splitmix64, Steele, Lea and Flood, OOPSLA 2014).
fn next_random() -> u64 {
    let state = threads::own_random();
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
