//! Sorting where plain accesses are events: comparisons are code of the program, between which other threads run.
//!
//! So the elements are sorted in a copy on the stack of the thread. They are read before that and written after it.

use super::{Reporter, Span, entry::Arguments};
use crate::gate;
use report::Omission;
use runtime::native as model;

/// Bytes of the largest copy. Calls leave as many on the stack, which are wiped.
const ROOM: usize = 4096;

#[repr(align(16))]
struct Elements([u8; ROOM]);

/// Sorts the elements, which have been read, and writes them. False if there is no room for a copy.
///
/// # Safety
///
/// The program calls the function that sorts so; the gate is open.
pub(super) unsafe fn sort(
    arguments: &Arguments,
    (address, length): Span,
    reporter: &mut Reporter,
) -> bool {
    if length > ROOM {
        let what = format!("another thread between comparisons while {length} bytes are sorted");
        model::leave_out(Omission::Unseen, &what);
        return false;
    }
    let elements = std::ptr::with_exposed_provenance_mut::<u8>(address);
    let mut copy = Elements([0; ROOM]);
    let start = copy.0.as_mut_ptr();
    let [count, size, compare, argument] = [1, 2, 3, 4].map(|number| arguments.word(number));
    // SAFETY: the elements are there, and the copy has room for them; the program calls the function so.
    unsafe {
        start.copy_from_nonoverlapping(elements, length);
        gate::call(
            start.expose_provenance(),
            count,
            size,
            compare,
            argument,
            arguments.function() as usize,
        );
        reporter.call.goes_on();
        reporter.writes((address, length));
        elements.copy_from_nonoverlapping(start, length);
    }
    true
}
