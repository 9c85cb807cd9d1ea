//! Moves the arguments and the environment of the program from the stack of the first thread to
//! separate pages, so that they are restored like other memory.

use crate::system_calls;
use libc::{c_char, c_int};
use native::ORDER;
use std::ffi::CStr;

/// Address to which the arguments and the environment are moved. It is the same in every process.
const PLACE: usize = 1 << 38;

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
}

/// Moves the arguments and the environment. Returns the new address of the arguments. If there is
/// no memory, moves nothing and returns the old address.
///
/// # Safety
///
/// The arguments are those that the system passed to the process.
pub(crate) unsafe fn move_away(count: c_int, arguments: *mut *mut c_char) -> *mut *mut c_char {
    // SAFETY: after the arguments come a null, the environment, a null and the auxiliary vector.
    unsafe {
        let environment = arguments.add(count as usize + 1);
        let mut end = environment;
        while !(*end).is_null() {
            end = end.add(1);
        }
        let variables = end.offset_from_unsigned(environment);
        end = end.add(1);
        while !(*end).is_null() {
            end = end.add(2);
        }
        let start = arguments.addr();
        let words = end.add(2).offset_from_unsigned(arguments);
        // The system lays out the strings after the words, in one piece.
        let mut last = end.add(2).addr();
        for index in 0..words {
            let string = *arguments.add(index);
            let is_string =
                arguments.add(index) < end && string.addr() >= last && string.addr() - last < 4096;
            if is_string {
                last = string.addr() + CStr::from_ptr(string).to_bytes().len() + 1;
            }
        }
        let size = last - start;
        if !system_calls::map_at(PLACE, size.next_multiple_of(4096)) {
            return arguments;
        }
        let moved = std::ptr::with_exposed_provenance_mut::<*mut c_char>(PLACE);
        moved.copy_from_nonoverlapping(arguments, words);
        // The environment variable `ORDER`, which tells this process what to do, comes last,
        // because it differs between processes that search one program. The gap between the words
        // and the strings is left out, because its size also depends on this variable.
        let mut place = moved.add(words).cast::<c_char>();
        for is_order in [false, true] {
            for index in 0..environment.offset_from_unsigned(arguments) + variables {
                let string = *arguments.add(index);
                let is_moved = (end.add(2).addr()..last).contains(&string.addr());
                if is_moved && is_order == starts_with_order(string) {
                    let bytes = CStr::from_ptr(string).to_bytes_with_nul().len();
                    place.copy_from_nonoverlapping(string, bytes);
                    *moved.add(index) = place;
                    place = place.add(bytes);
                }
            }
        }
        if environ == environment {
            environ = moved.add(count as usize + 1);
        }
        moved
    }
}

/// Checks whether a string of the environment is the variable `ORDER`.
///
/// # Safety
///
/// The pointer must point to a terminated string.
unsafe fn starts_with_order(string: *const c_char) -> bool {
    // SAFETY: as promised by the caller.
    let string = unsafe { CStr::from_ptr(string) }.to_bytes();
    string.starts_with(ORDER.as_bytes())
}
