//! Copies and fills memory if plain accesses are events: word by word, with the same events as in a
//! search.

use libc::{c_int, c_void};

const WORD: usize = 8;

/// Copies memory like `memmove`.
///
/// # Safety
///
/// The conditions are those of `memmove`.
pub(crate) unsafe fn copy(to: *mut c_void, from: *const c_void, length: usize) -> *mut c_void {
    let words = length.div_ceil(WORD);
    for index in 0..words {
        // If the ranges overlap, each word of the source must be read before it is overwritten.
        let is_backwards = to.addr() > from.addr();
        let start = WORD
            * if is_backwards {
                words - 1 - index
            } else {
                index
            };
        let size = WORD.min(length - start);
        let mut word = [0_u8; WORD];
        enforce::plain_read(from.addr() + start);
        // SAFETY: as promised by the caller.
        unsafe {
            let source = from.cast::<u8>().add(start);
            source.copy_to_nonoverlapping(word.as_mut_ptr(), size);
        }
        enforce::plain_write(to.addr() + start);
        // SAFETY: as promised by the caller.
        unsafe {
            let target = to.cast::<u8>().add(start);
            target.copy_from_nonoverlapping(word.as_ptr(), size);
        }
    }
    to
}

/// Fills memory like `memset`.
///
/// # Safety
///
/// The conditions are those of `memset`.
pub(crate) unsafe fn fill(to: *mut c_void, byte: c_int, length: usize) -> *mut c_void {
    for start in (0..length).step_by(WORD) {
        enforce::plain_write(to.addr() + start);
        // SAFETY: as promised by the caller.
        unsafe {
            let target = to.cast::<u8>().add(start);
            target.write_bytes(byte as u8, WORD.min(length - start));
        }
    }
    to
}
