//! Limits of the process, restored by `system_state`. Calls that set them are ordered with queries
//! of limits and descriptors. Limits that would stop the checker or cannot be restored are refused.

use crate::gate::{close, code, is_inside};
use libc::{c_int, rlimit};
use report::Omission;
use runtime::native;
use std::sync::OnceLock;

/// Limits that other threads may reach by operations that are not events: mapping or locking
/// memory, or starting threads.
const NOT_ORDERED: [u32; 4] = [
    libc::RLIMIT_AS,
    libc::RLIMIT_DATA,
    libc::RLIMIT_MEMLOCK,
    libc::RLIMIT_NPROC,
];

/// Number of descriptors that the checker needs in order to report its results.
const FEWEST_DESCRIPTORS: libc::rlim_t = 8;

/// Handles a limit that the program is about to set: refuses the program, or reports orders that
/// are not explored.
///
/// # Safety
///
/// The program must have passed the pointer.
pub(crate) unsafe fn handle(kind: u32, limit: *const rlimit) {
    if limit.is_null() {
        return;
    }
    let mut before = rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the query writes only `before`, and nothing if the kind is unknown. The program
    // passed the new limit.
    let new = unsafe {
        libc::getrlimit(kind, &raw mut before);
        *limit
    };
    let (code, _closed) = (code(), close());
    let refuse = |what: &str| native::refuse(code, format!("the program {what} (setrlimit)"));
    let is_lower = new.rlim_cur < before.rlim_cur;
    match kind {
        libc::RLIMIT_FSIZE if is_lower => {
            refuse("limits the size of files, which would include those of the checker");
        }
        libc::RLIMIT_CPU if is_lower => {
            refuse("limits the processor time, which would include that of the checker");
        }
        libc::RLIMIT_NOFILE if new.rlim_cur < FEWEST_DESCRIPTORS => {
            refuse("leaves too few file descriptors for the checker");
        }
        _ => {}
    }
    let is_lower_for_good = new.rlim_max < before.rlim_max && new.rlim_cur <= new.rlim_max;
    if is_lower_for_good && kind != libc::RLIMIT_CORE && !may_raise_limits() {
        refuse("lowers a hard limit, which cannot be restored");
    }
    if is_lower && NOT_ORDERED.contains(&kind) {
        let what =
            "other orders of setrlimit and of operations of other threads that reach the limit";
        native::leave_out(Omission::Unseen, what);
    }
}

/// Handles a limit of a process, 0 for the program itself. Limits of other processes are refused,
/// because they are not restored.
///
/// # Safety
///
/// The conditions are those of [`handle`].
pub(crate) unsafe fn handle_of(process: c_int, kind: u32, limit: *const rlimit) {
    // SAFETY: the call has no conditions.
    let is_own = process == 0 || process == unsafe { libc::getpid() };
    if !is_own && !limit.is_null() {
        let (code, _closed) = (code(), close());
        let what = "the program sets a limit of another process (prlimit)";
        native::refuse(code, what.to_owned());
    }
    // SAFETY: as promised by the caller.
    unsafe { handle(kind, limit) };
}

/// Checks whether the process may raise hard limits, by trying this with a limit that the checker
/// does not need.
fn may_raise_limits() -> bool {
    static MAY: OnceLock<bool> = OnceLock::new();
    *MAY.get_or_init(|| {
        const KIND: u32 = libc::RLIMIT_MSGQUEUE;
        let mut before = rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: queries and sets a limit.
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
            // SAFETY: the program passed the pointer.
            unsafe { handle(kind, limit) };
        }
        real!(setrlimit(kind, limit): fn(u32, *const rlimit) -> c_int)
    }

    placed fn setrlimit64(kind: u32, limit: *const rlimit) -> c_int {
        if is_inside() {
            // SAFETY: the program passed the pointer; on this system both structures are equal.
            unsafe { handle(kind, limit) };
        }
        real!(setrlimit64(kind, limit): fn(u32, *const rlimit) -> c_int)
    }

    placed fn prlimit(process: c_int, kind: u32, new: *const rlimit, old: *mut rlimit) -> c_int {
        if is_inside() {
            // SAFETY: the program passed the pointer.
            unsafe { handle_of(process, kind, new) };
        }
        real!(prlimit(process, kind, new, old): fn(c_int, u32, *const rlimit, *mut rlimit) -> c_int)
    }

    placed fn prlimit64(process: c_int, kind: u32, new: *const rlimit, old: *mut rlimit) -> c_int {
        if is_inside() {
            // SAFETY: as above.
            unsafe { handle_of(process, kind, new) };
        }
        real!(prlimit64(process, kind, new, old): fn(c_int, u32, *const rlimit, *mut rlimit) -> c_int)
    }
}
