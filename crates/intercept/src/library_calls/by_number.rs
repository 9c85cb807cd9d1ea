//! System calls by number (`syscall`), each treated as a call to the function that does the same.

use super::entry::Arguments;
use super::{Callee, Name, report};
use crate::gate::{close, code, frame, is_inside};
use crate::{limits, signals};
use ::report::Omission;
use libc::{c_int, c_long};
use runtime::native;
use rustc_hash::FxHashMap;
use std::ffi::CString;
use std::sync::OnceLock;

/// System calls and the functions of the C library that have the same arguments.
#[rustfmt::skip]
const NAMES: &[(c_long, &str)] = &[
    (libc::SYS_access, "access"), (libc::SYS_chdir, "chdir"), (libc::SYS_chmod, "chmod"),
    (libc::SYS_chown, "chown"), (libc::SYS_clock_getres, "clock_getres"), (libc::SYS_clock_gettime, "clock_gettime"),
    (libc::SYS_close, "close"), (libc::SYS_copy_file_range, "copy_file_range"), (libc::SYS_creat, "creat"), (libc::SYS_dup, "dup"),
    (libc::SYS_dup2, "dup2"), (libc::SYS_dup3, "dup3"), (libc::SYS_eventfd2, "eventfd"), (libc::SYS_faccessat, "faccessat"),
    (libc::SYS_fallocate, "fallocate"), (libc::SYS_fchdir, "fchdir"), (libc::SYS_fchmod, "fchmod"), (libc::SYS_fchmodat, "fchmodat"),
    (libc::SYS_fchown, "fchown"), (libc::SYS_fchownat, "fchownat"), (libc::SYS_fcntl, "fcntl"), (libc::SYS_fdatasync, "fdatasync"),
    (libc::SYS_flock, "flock"), (libc::SYS_fstat, "fstat"), (libc::SYS_fstatfs, "fstatfs"), (libc::SYS_fsync, "fsync"),
    (libc::SYS_ftruncate, "ftruncate"), (libc::SYS_getdents64, "getdents64"), (libc::SYS_getegid, "getegid"),
    (libc::SYS_geteuid, "geteuid"), (libc::SYS_getgid, "getgid"), (libc::SYS_getgroups, "getgroups"), (libc::SYS_getpgid, "getpgid"),
    (libc::SYS_getpgrp, "getpgrp"), (libc::SYS_getpid, "getpid"), (libc::SYS_getppid, "getppid"),
    (libc::SYS_getpriority, "getpriority"), (libc::SYS_getrandom, "getrandom"), (libc::SYS_getresgid, "getresgid"),
    (libc::SYS_getresuid, "getresuid"), (libc::SYS_getrlimit, "getrlimit"), (libc::SYS_getrusage, "getrusage"),
    (libc::SYS_getsid, "getsid"), (libc::SYS_gettimeofday, "gettimeofday"), (libc::SYS_getuid, "getuid"), (libc::SYS_ioctl, "ioctl"),
    (libc::SYS_lchown, "lchown"), (libc::SYS_link, "link"), (libc::SYS_linkat, "linkat"), (libc::SYS_lseek, "lseek"),
    (libc::SYS_lstat, "lstat"), (libc::SYS_madvise, "madvise"), (libc::SYS_memfd_create, "memfd_create"), (libc::SYS_mkdir, "mkdir"),
    (libc::SYS_mkdirat, "mkdirat"), (libc::SYS_nanosleep, "nanosleep"), (libc::SYS_newfstatat, "fstatat"), (libc::SYS_open, "open"),
    (libc::SYS_openat, "openat"), (libc::SYS_pipe, "pipe"), (libc::SYS_pipe2, "pipe2"), (libc::SYS_pread64, "pread64"),
    (libc::SYS_preadv, "preadv"), (libc::SYS_prlimit64, "prlimit64"), (libc::SYS_pwrite64, "pwrite64"), (libc::SYS_pwritev, "pwritev"),
    (libc::SYS_read, "read"), (libc::SYS_readlink, "readlink"), (libc::SYS_readlinkat, "readlinkat"), (libc::SYS_readv, "readv"),
    (libc::SYS_rename, "rename"), (libc::SYS_renameat, "renameat"),
    (libc::SYS_renameat2, "renameat2"), (libc::SYS_rmdir, "rmdir"), (libc::SYS_sched_getaffinity, "sched_getaffinity"),
    (libc::SYS_sched_setaffinity, "sched_setaffinity"), (libc::SYS_sendfile, "sendfile"), 
    (libc::SYS_setpriority, "setpriority"), (libc::SYS_setrlimit, "setrlimit"),
    (libc::SYS_splice, "splice"), (libc::SYS_stat, "stat"), (libc::SYS_statfs, "statfs"),
    (libc::SYS_statx, "statx"), (libc::SYS_symlink, "symlink"), (libc::SYS_symlinkat, "symlinkat"), (libc::SYS_sync, "sync"),
    (libc::SYS_tee, "tee"), (libc::SYS_time, "time"), (libc::SYS_times, "times"), (libc::SYS_truncate, "truncate"),
    (libc::SYS_umask, "umask"), (libc::SYS_uname, "uname"), (libc::SYS_unlink, "unlink"), (libc::SYS_unlinkat, "unlinkat"),
    (libc::SYS_utimensat, "utimensat"), (libc::SYS_write, "write"), (libc::SYS_writev, "writev"),
];

/// System calls that are not events: nothing depends on their order, or they end the process, which
/// is reported as a failure. Signals are checked first ([`signals::send_by_number`]).
const NO_EVENTS: [c_long; 9] = [
    libc::SYS_clock_nanosleep,
    libc::SYS_exit_group,
    libc::SYS_getcpu,
    libc::SYS_gettid,
    libc::SYS_kill,
    libc::SYS_membarrier,
    libc::SYS_sched_yield,
    libc::SYS_tgkill,
    libc::SYS_tkill,
];

/// System calls for threads, processes, signals and sockets, and system calls that wait. Most of
/// the corresponding functions are also refused. The other functions must be called by name.
#[rustfmt::skip]
const REFUSED: &[(c_long, &str)] = &[
    (libc::SYS_alarm, "alarm"), (libc::SYS_io_uring_setup, "io_uring_setup"), (libc::SYS_setitimer, "setitimer"),
    (libc::SYS_shmat, "shmat"), (libc::SYS_socket, "socket"), (libc::SYS_socketpair, "socketpair"),
    (libc::SYS_timer_create, "timer_create"),
    (libc::SYS_clone, "clone"), (libc::SYS_clone3, "clone3"), (libc::SYS_epoll_pwait, "epoll_pwait"),
    (libc::SYS_epoll_wait, "epoll_wait"), (libc::SYS_execve, "execve"), (libc::SYS_execveat, "execveat"), (libc::SYS_exit, "exit"),
    (libc::SYS_fork, "fork"), (libc::SYS_pause, "pause"), (libc::SYS_pidfd_send_signal, "pidfd_send_signal"),
    (libc::SYS_poll, "poll"), (libc::SYS_ppoll, "ppoll"), (libc::SYS_pselect6, "pselect6"),
    (libc::SYS_rt_sigaction, "rt_sigaction"), (libc::SYS_rt_sigprocmask, "rt_sigprocmask"),
    (libc::SYS_rt_sigqueueinfo, "rt_sigqueueinfo"), (libc::SYS_rt_sigsuspend, "rt_sigsuspend"), (libc::SYS_rt_sigtimedwait, "rt_sigtimedwait"), (libc::SYS_select, "select"),
    (libc::SYS_rt_tgsigqueueinfo, "rt_tgsigqueueinfo"), (libc::SYS_vfork, "vfork"), (libc::SYS_wait4, "wait4"),
    (libc::SYS_waitid, "waitid"),
];

/// Returns the functions by the numbers of the calls.
fn callees() -> &'static FxHashMap<c_long, Callee> {
    static CALLEES: OnceLock<FxHashMap<c_long, Callee>> = OnceLock::new();
    let callee = |name| {
        let symbol = CString::new(name).expect("a name has no zero byte");
        // SAFETY: the call only looks up a name. A function that is found is called only if its
        // result determines the accesses.
        let function = unsafe { libc::dlsym(libc::RTLD_NEXT, symbol.as_ptr()) };
        let name = Name {
            name,
            is_unknown: true,
        };
        Callee::new(function.expose_provenance(), name, false, true)
    };
    CALLEES.get_or_init(|| {
        let named = NAMES.iter().map(|&(number, name)| (number, callee(name)));
        named.collect()
    })
}

/// Returns the callee for all other system calls, each of which is an event that changes "the
/// system" (see `protected`).
fn unknown() -> &'static Callee {
    static UNKNOWN: OnceLock<Callee> = OnceLock::new();
    UNKNOWN.get_or_init(|| {
        let name = Name {
            name: "syscall",
            is_unknown: true,
        };
        Callee::new(0, name, false, true)
    })
}

/// Handles a system call of the program. Returns the result if the call has been made.
///
/// # Safety
///
/// The program must have called `syscall` with these arguments.
pub(crate) unsafe fn enter(number: c_long, words: [c_long; 6]) -> Option<c_long> {
    if is_inside()
        && let Some(result) = signals::send_by_number(number, words)
    {
        return Some(result.into());
    }
    if NO_EVENTS.contains(&number) {
        return None;
    }
    if is_inside() {
        if let Some((_, name)) = REFUSED.iter().find(|(refused, _)| *refused == number) {
            let (code, _closed) = (code(), close());
            let what = format!("the program makes the system call {name} by its number");
            native::refuse(code, what);
        }
        // SAFETY: the program passed the pointers.
        unsafe {
            match number {
                libc::SYS_setrlimit => limits::handle(words[0] as u32, limit(words[1])),
                libc::SYS_prlimit64 => {
                    let [process, kind, new, ..] = words;
                    limits::handle_of(process as c_int, kind as u32, limit(new));
                }
                _ => {}
            }
        }
    }
    let (known, unknown) = {
        let _closed = is_inside().then(close);
        (callees().get(&number), unknown())
    };
    if known.is_none() && is_inside() {
        let _closed = close();
        let what = format!("the effects of system call {number}, which is unknown");
        native::leave_out(Omission::Unseen, &what);
    }
    let words = words.map(|word| word as usize);
    let mut arguments = Arguments::new(words, known.unwrap_or(unknown), frame());
    // SAFETY: the function has the arguments of the call.
    let is_done = unsafe { report(&mut arguments) };
    is_done.then(|| arguments.result() as c_long)
}

fn limit(word: c_long) -> *const libc::rlimit {
    std::ptr::with_exposed_provenance(word as usize)
}
