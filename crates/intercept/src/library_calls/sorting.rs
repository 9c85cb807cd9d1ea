//! `qsort` if plain accesses are events. Each comparison calls code of the program, and other
//! threads may run meanwhile. So this module sorts a copy of the elements on the stack of the
//! thread. The elements are read before the sort and written after it.

use super::{Reporter, Span, entry::Arguments};
use crate::gate;
use report::Omission;
use runtime::native as model;

/// Greatest size of a copy in bytes. The remains of the copy on the stack are wiped like those of
/// hooks.
const ROOM: usize = 4096;

#[repr(align(16))]
struct Elements([u8; ROOM]);

/// Sorts and writes the elements, which have been read. Returns false if the copy does not fit.
///
/// # Safety
///
/// The program must have called the sorting function with these arguments, and the gate must be
/// open.
pub(super) unsafe fn sort(
    arguments: &Arguments,
    (address, length): Span,
    reporter: &mut Reporter,
) -> bool {
    if length > ROOM {
        let _closed = gate::close();
        let what = format!(
            "operations of other threads between comparisons while {length} bytes are sorted"
        );
        model::leave_out(Omission::Unseen, &what);
        return false;
    }
    let elements = std::ptr::with_exposed_provenance_mut::<u8>(address);
    let mut copy = Elements([0; ROOM]);
    let start = copy.0.as_mut_ptr();
    let [count, size, compare, argument] = [1, 2, 3, 4].map(|number| arguments.word(number));
    // SAFETY: the elements exist, and the copy has room for them; the arguments are the program's.
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
        reporter.call.restore_frame();
        reporter.writes((address, length));
        elements.copy_from_nonoverlapping(start, length);
    }
    true
}
