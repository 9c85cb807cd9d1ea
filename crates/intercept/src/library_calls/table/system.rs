//! Functions for named files and for other objects of the system.

use super::super::Act::{Gathers, Reads, Results, Scatters, Writes};
use super::super::Span;
use super::super::entry::Arguments;
use super::super::spans::{NONE, count};
use super::super::vectors;
use super::{Row, TIMESPEC, prints, prints_wide};

/// Returns the rest of a buffer of `iconv`. Two arguments point to its address and its size.
fn converted(a: &Arguments, start: usize, size: usize) -> Span {
    match (a.word(start), a.word(size)) {
        (0, _) | (_, 0) => NONE,
        _ if a.word_at(start) == 0 => NONE,
        _ => (a.word_at(start), a.word_at(size)),
    }
}

/// Returns the memory that this advice empties.
fn emptied(a: &Arguments) -> Span {
    // The last is `MADV_DONTNEED_LOCKED`.
    const EMPTIES: [i32; 4] = [libc::MADV_DONTNEED, libc::MADV_FREE, libc::MADV_REMOVE, 24];
    match EMPTIES.contains(&(a.word(2) as i32)) {
        true => a.sized(0, 1),
        false => NONE,
    }
}

/// Functions for named files.
#[rustfmt::skip]
pub(super) const NAMED_FILES: &[Row] = &[
    ("open open64 opendir access eaccess unlink rmdir mkdir mkfifo mknod chdir remove creat creat64 truncate truncate64 chmod chown \
      lchown pathconf system dlopen gettext catopen", &[Reads(|a| a.text(0))]),
    ("fopen fopen64 freopen freopen64 rename link symlink popen", &[Reads(|a| a.text(0)), Reads(|a| a.text(1))]),
    ("openat openat64 faccessat unlinkat mkdirat mkfifoat mknodat fchmodat fchownat fdopen dlsym setlocale newlocale", &[
        Reads(|a| a.text(1)),
    ]),
    ("symlinkat", &[Reads(|a| a.text(0)), Reads(|a| a.text(2))]),
    ("linkat renameat renameat2", &[Reads(|a| a.text(1)), Reads(|a| a.text(3))]),
    ("mkstemp mkstemp64 mkostemp mkostemp64 mkdtemp mktemp strfry", &[Reads(|a| a.text(0)), Writes(|a| a.text(0))]),
    ("statfs statfs64", &[Reads(|a| a.text(0)), if_zero!(a, a.bytes(1, size_of::<libc::statfs>()))]),
    ("fstatfs fstatfs64", &[if_zero!(a, a.bytes(1, size_of::<libc::statfs>()))]),
    ("statvfs statvfs64", &[Reads(|a| a.text(0)), if_zero!(a, a.bytes(1, size_of::<libc::statvfs>()))]),
    ("fstatvfs fstatvfs64", &[if_zero!(a, a.bytes(1, size_of::<libc::statvfs>()))]),
    ("statx", &[Reads(|a| a.text(1)), if_zero!(a, a.bytes(4, size_of::<libc::statx>()))]),
    ("utime", &[Reads(|a| a.text(0)), Reads(|a| a.bytes(1, TIMESPEC))]),
    ("utimes lutimes", &[Reads(|a| a.text(0)), Reads(|a| a.bytes(1, 2 * TIMESPEC))]),
    ("utimensat", &[Reads(|a| a.text(1)), Reads(|a| a.bytes(2, 2 * TIMESPEC))]),
    ("futimens futimes", &[Reads(|a| a.bytes(1, 2 * TIMESPEC))]),
    ("fgetpos fgetpos64", &[if_zero!(a, a.bytes(1, size_of::<libc::fpos_t>()))]),
    ("fsetpos fsetpos64", &[Reads(|a| a.bytes(1, size_of::<libc::fpos_t>()))]),
    ("fnmatch", &[Reads(|a| a.text(0)), Reads(|a| a.text(1))]),
    ("ftok", &[Reads(|a| a.text(0))]),
    ("dladdr", &[Results {
        written: |a, result| if result == 0 { NONE } else { a.bytes(1, size_of::<libc::Dl_info>()) },
        most: |a| a.bytes(1, size_of::<libc::Dl_info>()),
    }]),
    ("regcomp", &[Reads(|a| a.text(1)), Writes(|a| a.bytes(0, size_of::<libc::regex_t>()))]),
    ("regexec", &[
        Reads(|a| a.bytes(0, size_of::<libc::regex_t>())), Reads(|a| a.text(1)),
        if_zero!(a, a.bytes(3, a.word(2).saturating_mul(size_of::<libc::regmatch_t>()))),
    ]),
    ("regfree", &[Writes(|a| a.bytes(0, size_of::<libc::regex_t>()))]),
];

/// Functions with several buffers, and queries of the system.
#[rustfmt::skip]
pub(super) const SYSTEM: &[Row] = &[
    ("writev pwritev pwritev64 pwritev2 pwritev64v2", &[Gathers(vectors::listed)]),
    ("readv preadv preadv64 preadv2 preadv64v2", &[Scatters(vectors::listed)]),
    ("getaddrinfo", &[
        Reads(|a| a.text(0)), Reads(|a| a.text(1)), Reads(|a| a.bytes(2, size_of::<libc::addrinfo>())), if_zero!(a, a.bytes(3, 8)),
    ]),
    ("inet_addr inet_network", &[Reads(|a| a.text(0))]),
    ("inet_aton", &[Reads(|a| a.text(0)), Writes(|a| a.bytes(1, 4))]),
    ("getgroups", &[Results {
        written: |a, result| a.bytes(1, if a.word(0) == 0 { 0 } else { 4 * count(result as i32 as usize) }),
        most: |a| a.bytes(1, 4 * a.word(0)),
    }]),
    ("getresuid getresgid", &[Writes(|a| a.bytes(0, 4)), Writes(|a| a.bytes(1, 4)), Writes(|a| a.bytes(2, 4))]),
    ("getitimer", &[if_zero!(a, a.bytes(1, 2 * TIMESPEC))]),
    ("setitimer", &[Reads(|a| a.bytes(1, 2 * TIMESPEC)), if_zero!(a, a.bytes(2, 2 * TIMESPEC))]),
    ("getloadavg", &[Results { written: |a, result| a.bytes(0, 8 * count(result as i32 as usize)), most: |a| a.bytes(0, 8 * a.word(1)) }]),
    ("getlogin_r", &[if_zero!(a, a.text_up_to(0, 1))]),
    ("ptsname_r", &[if_zero!(a, a.text_up_to(1, 2))]),
    ("confstr", &[Results { written: |a, result| a.bytes(1, result.min(a.word(2))), most: |a| a.sized(1, 2) }]),
    ("sched_setaffinity pthread_setaffinity_np", &[Reads(|a| a.sized(2, 1))]),
    ("sched_setscheduler pthread_setschedparam", &[Reads(|a| a.bytes(2, 4))]),
    ("sched_setparam", &[Reads(|a| a.bytes(1, 4))]),
    ("sched_getparam", &[if_zero!(a, a.bytes(1, 4))]),
    ("sigaddset sigdelset", &[Writes(|a| a.bytes(0, 8))]),
    ("madvise", &[Writes(emptied)]),
    ("sigismember sigisemptyset", &[Reads(|a| a.bytes(0, 8))]),
    ("sigandset sigorset", &[Reads(|a| a.bytes(1, 8)), Reads(|a| a.bytes(2, 8)), Writes(|a| a.bytes(0, 8))]),
    ("sigemptyset sigfillset", &[Writes(|a| a.bytes(0, 8))]),
    ("wprintf", &[prints_wide(0, false, None)]),
    ("vwprintf", &[prints_wide(0, true, None)]),
    ("fwprintf __wprintf_chk", &[prints_wide(1, false, None)]),
    ("vfwprintf __vwprintf_chk", &[prints_wide(1, true, None)]),
    ("__fwprintf_chk", &[prints_wide(2, false, None)]),
    ("__vfwprintf_chk", &[prints_wide(2, true, None)]),
    ("swprintf", &[prints_wide(2, false, Some(|a| a.word(1)))]),
    ("vswprintf", &[prints_wide(2, true, Some(|a| a.word(1)))]),
    ("__swprintf_chk", &[prints_wide(4, false, Some(|a| a.word(1)))]),
    ("__vswprintf_chk", &[prints_wide(4, true, Some(|a| a.word(1)))]),
    ("iconv", &[
        Reads(|a| converted(a, 1, 2)), Writes(|a| converted(a, 3, 4)), Writes(|a| a.bytes(1, 8)), Writes(|a| a.bytes(2, 8)),
        Writes(|a| a.bytes(3, 8)), Writes(|a| a.bytes(4, 8)),
    ]),
    ("warn warnx", &[prints(0, false)]),
    ("vwarn vwarnx", &[prints(0, true)]),
    ("err errx syslog", &[prints(1, false)]),
    ("verr verrx vsyslog", &[prints(1, true)]),
    ("error", &[prints(2, false)]),
    ("psignal", &[Reads(|a| a.text(1))]),
];
