//! Limits of the process. They are put back (`system_state`), and calls that ask for them or for descriptors are ordered with calls that set
//! them. Those that would stop the checker, or could not be put back, are refused; others stop what is no event.

use crate::gate::{close, code, is_inside};
use libc::{c_int, rlimit};
use report::Omission;
use runtime::native;
use std::sync::OnceLock;

/// Limits of what another thread may do at the same time without an event: to map memory, to lock it, to start threads.
const NOT_ORDERED: [u32; 4] = [
    libc::RLIMIT_AS,
    libc::RLIMIT_DATA,
    libc::RLIMIT_MEMLOCK,
    libc::RLIMIT_NPROC,
];

/// Descriptors that the checker needs to answer.
const FEWEST_DESCRIPTORS: libc::rlim_t = 8;

/// A limit is about to be set.
///
/// # Safety
///
/// The program gave the pointer.
pub(crate) unsafe fn meet(kind: u32, limit: *const rlimit) {
    if limit.is_null() {
        return;
    }
    let mut before = rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: asks for a limit; a kind that does not exist leaves what is there. The new one is the program's.
    let new = unsafe {
        libc::getrlimit(kind, &raw mut before);
        *limit
    };
    let (code, _closed) = (code(), close());
    let refuse = |what: &str| native::refuse(code, format!("the program {what} (setrlimit)"));
    let is_lower = new.rlim_cur < before.rlim_cur;
    match kind {
        libc::RLIMIT_FSIZE if is_lower => {
            refuse("limits the size of files, and so those of the checker");
        }
        libc::RLIMIT_CPU if is_lower => refuse("limits the time of the processor for the checker"),
        libc::RLIMIT_NOFILE if new.rlim_cur < FEWEST_DESCRIPTORS => {
            refuse("leaves the checker no descriptors");
        }
        _ => {}
    }
    let is_lower_for_good = new.rlim_max < before.rlim_max && new.rlim_cur <= new.rlim_max;
    if is_lower_for_good && kind != libc::RLIMIT_CORE && !may_raise_limits() {
        refuse("lowers a hard limit, which cannot be put back");
    }
    if is_lower && NOT_ORDERED.contains(&kind) {
        let what = "another order of setrlimit and of what other threads do that reaches the limit";
        native::leave_out(Omission::Unseen, what);
    }
}

/// Whether the process may raise hard limits. This is tried with one that means nothing to the checker.
fn may_raise_limits() -> bool {
    static MAY: OnceLock<bool> = OnceLock::new();
    *MAY.get_or_init(|| {
        const KIND: u32 = libc::RLIMIT_MSGQUEUE;
        let mut before = rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: asks for a limit, and sets it.
        unsafe {
            libc::getrlimit(KIND, &raw mut before);
            let rlim_max = before.rlim_max.saturating_sub(1);
            let lower = rlimit {
                rlim_cur: before.rlim_cur.min(rlim_max),
                rlim_max,
            };
            libc::setrlimit(KIND, &raw const lower);
            libc::setrlimit(KIND, &raw const before) == 0
        }
    })
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
