//! Limits of the process. They are put back (`system_state`), and calls that ask for them or for descriptors are ordered with calls that set
//! them. Two kinds of limits stop what is no event.

use crate::gate::{close, code, is_inside};
use libc::{c_int, rlimit};
use report::Omission;
use runtime::native;

/// Limits of what another thread may do at the same time without an event: to map memory, to lock it, to start threads.
const NOT_ORDERED: [u32; 4] = [
    libc::RLIMIT_AS,
    libc::RLIMIT_DATA,
    libc::RLIMIT_MEMLOCK,
    libc::RLIMIT_NPROC,
];

/// A limit is about to be set.
///
/// # Safety
///
/// The program gave the pointer.
unsafe fn meet(kind: u32, limit: *const rlimit) {
    if limit.is_null() {
        return;
    }
    let mut before = rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: asks for a limit; a kind that does not exist leaves what is there. The new one is the program's.
    let is_lower = unsafe {
        libc::getrlimit(kind, &raw mut before);
        (*limit).rlim_cur < before.rlim_cur
    };
    if !is_lower {
        return;
    }
    let (code, _closed) = (code(), close());
    if kind == libc::RLIMIT_FSIZE {
        let what =
            "the program limits the size of files, and so those of the checker (RLIMIT_FSIZE)";
        native::refuse(code, what.to_owned());
    }
    if NOT_ORDERED.contains(&kind) {
        let what = "another order of setrlimit and of what other threads do that reaches the limit";
        native::leave_out(Omission::Unseen, what);
    }
}

export! {
    placed fn setrlimit(kind: u32, limit: *const rlimit) -> c_int {
        if is_inside() {
            // SAFETY: the program gave the pointer.
            unsafe { meet(kind, limit) };
        }
        real!(setrlimit(kind, limit): fn(u32, *const rlimit) -> c_int)
    }

    placed fn setrlimit64(kind: u32, limit: *const rlimit) -> c_int {
        if is_inside() {
            // SAFETY: the program gave the pointer; on this system both structures are the same.
            unsafe { meet(kind, limit) };
        }
        real!(setrlimit64(kind, limit): fn(u32, *const rlimit) -> c_int)
    }

    placed fn prlimit(process: c_int, kind: u32, new: *const rlimit, old: *mut rlimit) -> c_int {
        if is_inside() {
            // SAFETY: the program gave the pointer.
            unsafe { meet(kind, new) };
        }
        real!(prlimit(process, kind, new, old): fn(c_int, u32, *const rlimit, *mut rlimit) -> c_int)
    }

    placed fn prlimit64(process: c_int, kind: u32, new: *const rlimit, old: *mut rlimit) -> c_int {
        if is_inside() {
            // SAFETY: as above.
            unsafe { meet(kind, new) };
        }
        real!(prlimit64(process, kind, new, old): fn(c_int, u32, *const rlimit, *mut rlimit) -> c_int)
    }
}
