//! The program's last library call that was reported. It shows whether a library allocates memory
//! for the program or for itself.

use crate::gate::{self, Own};
use runtime::native::Frame;

struct LastCall {
    frame: *const Frame,
    code: usize,
    keeps_state: bool,
}

static LAST: Own<LastCall> = Own::new(LastCall {
    frame: std::ptr::null(),
    code: 0,
    keeps_state: true,
});

/// The maximum number of bytes of stack that a library function uses before it allocates memory.
const DEPTH: usize = 1 << 15;

/// Records a call. `keeps_state` says whether the function uses state of its library.
///
/// # Safety
///
/// The frame must be that of a call in progress.
pub(super) unsafe fn record(frame: *const Frame, keeps_state: bool) {
    *LAST.get() = LastCall {
        frame,
        // SAFETY: as promised by the caller.
        code: unsafe { (*frame).code() },
        keeps_state,
    };
}

/// Forgets the last call, because an execution begins or continues from a savepoint. Its stack may
/// still hold the return address of a call of an earlier execution.
pub(crate) fn forget() {
    LAST.get().keeps_state = true;
}

/// Checks whether the running thread, in code of a library, allocates a block for the program. If
/// the function keeps state, the block may belong to this state, which the library protects.
pub(crate) fn allocates_for_program() -> bool {
    let last = LAST.get();
    let depth = last.frame.addr().wrapping_sub(gate::frame().addr());
    // SAFETY: the frame is close above the current one, so it is in the same stack. If the call has
    // returned, its return address was probably overwritten.
    !last.keeps_state && depth < DEPTH && unsafe { (*last.frame).code() } == last.code
}
