//! State that functions of the C library and of the system use atomically. The order of these uses
//! is explored.
//!
//! Each file and each stream has a word that represents its state. Everything else is "the system":
//! file names, descriptors, the working directory, limits, the locale, signal actions, and unknown
//! state. Every function uses "the system" unless the function is known to keep no state.

use super::entry::Arguments;
use super::hidden::{
    FILE_COUNT, count_with, word_of_absent_file, word_of_file, word_of_random, word_of_system,
};
use super::table;
use crate::{gate, open_files};
use libc::{FILE, c_char, c_int};
use runtime::native;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{self, AcqRel, Relaxed};

/// A use of state.
#[derive(Clone, Copy)]
pub(super) struct Use {
    /// The word that represents the state.
    pub(super) word: usize,
    pub(super) how: How,
    /// The file descriptor through which the state is used, if there is one.
    pub(super) descriptor: Option<c_int>,
}

/// The kind of a use. Two uses conflict unless both only read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Reads,
    Changes(Ordering),
}

/// The state that a call uses.
#[derive(Clone, Copy)]
pub(super) enum Uses {
    State(fn(&Arguments) -> Option<Use>),
    /// A stream, with its lock or without.
    Stream {
        of: fn(&Arguments) -> usize,
        is_locked: bool,
    },
}

use Uses::State;

type Row = (Uses, &'static str);

/// Returns the use of the stream in the argument with this number.
const fn stream<const NUMBER: usize>(is_locked: bool) -> Uses {
    Uses::Stream {
        of: |arguments| arguments.word(NUMBER),
        is_locked,
    }
}

const fn standard_input(is_locked: bool) -> Uses {
    Uses::Stream {
        // SAFETY: the C library has set the variable.
        of: |_| unsafe { stdin }.addr(),
        is_locked,
    }
}

const fn standard_output(is_locked: bool) -> Uses {
    Uses::Stream {
        // SAFETY: the C library has set the variable.
        of: |_| unsafe { stdout }.addr(),
        is_locked,
    }
}

/// Names of functions by the state that they use, except for files that they name. A name may be in
/// several rows.
const USES: &[Row] = &[
    (
        State(random),
        "rand random srand srandom initstate setstate",
    ),
    (
        State(descriptor::<0>),
        "read __read_chk pread pread64 __pread_chk __pread64_chk write pwrite pwrite64 readv writev preadv pwritev lseek lseek64 \
         ftruncate ftruncate64 futimens fchmod fchown fallocate posix_fallocate fstat fstat64 close fcntl fcntl64 ioctl sendfile sendfile64 splice tee \
         copy_file_range recv __recv_chk send recvfrom __recvfrom_chk sendto recvmsg sendmsg getdents64 flock lockf lockf64 dprintf \
         preadv64 preadv2 preadv64v2 pwritev64 pwritev2 pwritev64v2 vmsplice fgetxattr fsetxattr fremovexattr eventfd_read \
         eventfd_write timerfd_settime timerfd_gettime epoll_ctl \
         vdprintf __dprintf_chk __vdprintf_chk",
    ),
    (State(descriptor::<1>), "sendfile sendfile64 dup2 dup3"),
    (State(descriptor::<2>), "splice copy_file_range"),
    (
        stream::<0>(true),
        "fprintf vfprintf __fprintf_chk __vfprintf_chk fscanf vfscanf __isoc99_fscanf __isoc23_fscanf __isoc99_vfscanf __isoc23_vfscanf \
         fgetc getc _IO_getc fseek fseeko fseeko64 ftell ftello ftello64 rewind fflush feof ferror clearerr getw fclose pclose setbuf \
         setvbuf setlinebuf setbuffer fgetpos fsetpos fgetpos64 fsetpos64 fwprintf vfwprintf fwscanf fgetwc getwc fileno fwide",
    ),
    (
        stream::<1>(true),
        "fputc putc _IO_putc fputs ungetc putw fputwc putwc fputws ungetwc",
    ),
    (stream::<2>(true), "fgets fgetws getline freopen freopen64"),
    (
        stream::<3>(true),
        "fwrite fread getdelim __getdelim __fgets_chk fputws_chk",
    ),
    (stream::<4>(true), "__fread_chk"),
    (State(every_stream), "fflush fflush_unlocked"),
    (
        stream::<0>(false),
        "fgetc_unlocked getc_unlocked feof_unlocked ferror_unlocked fflush_unlocked clearerr_unlocked fgetwc_unlocked \
         getwc_unlocked __uflow __overflow",
    ),
    (
        stream::<1>(false),
        "fputc_unlocked putc_unlocked fputs_unlocked fputwc_unlocked putwc_unlocked fputws_unlocked",
    ),
    (stream::<2>(false), "fgets_unlocked fgetws_unlocked"),
    (
        stream::<3>(false),
        "fread_unlocked fwrite_unlocked __fgets_unlocked_chk",
    ),
    (stream::<4>(false), "__fread_unlocked_chk"),
    (
        standard_output(true),
        "printf vprintf __printf_chk __vprintf_chk puts putchar putwchar wprintf vwprintf",
    ),
    (standard_output(false), "putchar_unlocked putwchar_unlocked"),
    (standard_input(false), "getchar_unlocked getwchar_unlocked"),
    (
        standard_input(true),
        "getchar scanf vscanf __isoc99_scanf __isoc99_vscanf __isoc23_scanf __isoc23_vscanf getwchar wscanf",
    ),
    (
        State(reads),
        "access faccessat eaccess stat stat64 lstat lstat64 fstatat fstatat64 statx readlink __readlink_chk readlinkat \
         __readlinkat_chk realpath __realpath_chk canonicalize_file_name getcwd __getcwd_chk get_current_dir_name statfs statfs64 \
         statvfs statvfs64 fstatfs fstatvfs pathconf fpathconf getrlimit getrlimit64 getpriority getuid geteuid getgid getegid \
         getgroups getresuid getresgid getpgrp getpgid getsid getlogin_r ttyname_r __ttyname_r_chk isatty gethostname \
         __gethostname_chk nl_langinfo localeconv localtime localtime_r ctime ctime_r mktime strftime sched_getscheduler \
         sched_getparam getdtablesize dlsym dlvsym rewinddir _ZSt13get_terminatev _ZSt14get_unexpectedv pthread_getname_np pthread_getschedparam pthread_getaffinity_np sched_getaffinity pthread_getattr_default_np",
    ),
    (State(limit), "sysconf"),
    (State(locale), "setlocale"),
    (State(duplicate), "fcntl fcntl64"),
    (
        State(changes),
        "open open64 fopen fopen64 freopen freopen64 opendir closedir unlink rmdir mkdir chdir remove rename pipe pipe2 setrlimit \
         setrlimit64 prlimit prlimit64 close dup2 dup3 _ZSt13set_terminatePFvvE _ZSt14set_unexpectedPFvvE fclose pclose tzset sigaction signal getpwent getgrent truncate truncate64 umask pthread_setname_np pthread_setschedparam pthread_setschedprio pthread_setaffinity_np sched_setaffinity \
         pthread_setattr_default_np setitimer alarm",
    ),
];

/// Names of functions by the files that they use by name. They also look up names.
const NAMED: &[Row] = &[
    (
        State(named::<0>),
        "stat stat64 lstat lstat64 truncate truncate64 chmod chown lchown utime utimes lutimes link unlink remove rename creat creat64",
    ),
    (
        State(named::<1>),
        "fstatat fstatat64 statx utimensat fchmodat fchownat unlinkat linkat renameat renameat2",
    ),
    (
        State(|arguments| empties_descriptor(arguments, 1).then(|| named::<0>(arguments))?),
        "open open64",
    ),
    (
        State(|arguments| empties_descriptor(arguments, 2).then(|| named::<1>(arguments))?),
        "openat openat64",
    ),
    (
        State(|arguments| empties_stream(arguments).then(|| named::<0>(arguments))?),
        "fopen fopen64 freopen freopen64",
    ),
];

/// Functions that keep no state, or only state per thread. The functions for processes in this list
/// are called only by enforced programs.
const KEEP_NOTHING: &str = "__cmsg_nxthdr __explicit_bzero_chk __fdelt_chk __fdelt_warn __inet_ntop_chk __isoc99_sscanf __mbsnrtowcs_chk __mbsrtowcs_chk \
    __sched_cpualloc __sched_cpufree __swprintf_chk __vswprintf_chk __wprintf_chk __xpg_basename a64l arc4random arc4random_buf \
    arc4random_uniform asctime asctime_r backtrace backtrace_symbols basename btowc clearenv clock clock_getcpuclockid confstr \
    ctermid difftime dirfd dirname div dl_iterate_phdr dladdr dlerror drand48_r duplocale ecvt ecvt_r erand48_r err \
    error errx fcvt fcvt_r fdatasync feclearexcept fegetround feraiseexcept fesetround fetestexcept ffs ffsl ffsll fileno_unlocked \
    flockfile fnmatch fopencookie fork freelocale fsync ftok ftrylockfile funlockfile gai_strerror gamma gcvt get_avphys_pages \
    get_nprocs_conf get_phys_pages getauxval getcontext getentropy gethostid getloadavg getopt getopt_long \
    getopt_long_only getppid getrusage getsubopt gmtime gmtime_r gnu_get_libc_version hcreate hcreate_r hdestroy hdestroy_r hsearch \
    hsearch_r hstrerror htonl htons imaxabs imaxdiv inet_addr inet_aton inet_lnaof inet_makeaddr inet_netof inet_network inet_ntoa \
    inet_ntop inet_pton initstate_r insque isascii isblank iscntrl isgraph islower isprint ispunct isupper iswalnum iswalpha \
    iswblank iswcntrl iswctype iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper iswxdigit isxdigit l64a ldiv lfind \
    lgamma lgammaf lgammal llabs lldiv lrand48_r lsearch madvise makecontext mallinfo mallinfo2 malloc_info malloc_stats malloc_trim \
    mblen mbrlen mbrtowc mbsinit mbsnrtowcs mbsrtowcs mbtowc memfrob mincore newlocale nrand48_r ntohl ntohs posix_madvise ppoll \
    psiginfo psignal putenv pvalloc random_r readdir readdir64 regcomp regerror regexec regfree remque \
    sched_get_priority_max sched_get_priority_min secure_getenv seekdir setcontext setenv setstate_r sigabbrev_np sigaddset \
    sigandset sigdelset sigdescr_np sigemptyset sigfillset sigisemptyset sigismember sigorset srand48_r srandom_r strcoll_l strerror \
    strerror_l strerror_r strerrordesc_np strerrorname_np strfmon strptime strsignal strverscmp strxfrm strxfrm_l swab swapcontext \
    swprintf swscanf sync tdelete tdestroy telldir tfind timegm times tmpnam tmpnam_r toascii towctrans towlower towupper tsearch \
    twalk twalk_r uname unsetenv uselocale valloc verr verrx versionsort vfork vswprintf vswscanf vwarn vwarnx wait wait3 wait4 \
    waitid waitpid warn warnx wcrtomb wcscoll wcscspn wcsdup wcsnrtombs wcspbrk wcsrtombs wcsspn wcstok wcswidth wcsxfrm wctob \
    wctomb wctrans wctype wcwidth wmemset";

fn used(word: usize, how: How) -> Option<Use> {
    Some(Use {
        word,
        how,
        descriptor: None,
    })
}

fn random(_: &Arguments) -> Option<Use> {
    used(word_of_random(), How::Changes(Relaxed))
}

fn reads(_: &Arguments) -> Option<Use> {
    used(word_of_system(), How::Reads)
}

fn changes(_: &Arguments) -> Option<Use> {
    changes_of(word_of_system())
}

/// Returns a change of the state that this word represents.
pub(super) fn changes_of(word: usize) -> Option<Use> {
    used(word, How::Changes(Relaxed))
}

fn locale(arguments: &Arguments) -> Option<Use> {
    match arguments.word(1) {
        0 => reads(arguments),
        _ => changes(arguments),
    }
}

/// Returns the use of the limits of the process by `sysconf`, if there is one.
fn limit(arguments: &Arguments) -> Option<Use> {
    matches!(
        arguments.word(0) as c_int,
        libc::_SC_OPEN_MAX | libc::_SC_CHILD_MAX | libc::_SC_ARG_MAX
    )
    .then(|| reads(arguments))?
}

/// Returns the use of the descriptors by `fcntl`, if it creates one.
fn duplicate(arguments: &Arguments) -> Option<Use> {
    let command = arguments.word(1) as c_int;
    [libc::F_DUPFD, libc::F_DUPFD_CLOEXEC]
        .contains(&command)
        .then(|| changes(arguments))?
}

/// Returns the use of the file whose descriptor is this argument. Standard output and standard
/// error do not count, because the program cannot read them.
fn descriptor<const NUMBER: usize>(arguments: &Arguments) -> Option<Use> {
    let descriptor = arguments.word(NUMBER) as c_int;
    (!matches!(descriptor, 1 | 2)).then(|| file(descriptor))
}

/// Returns the use of the file of a descriptor.
pub(super) fn file(descriptor: c_int) -> Use {
    // In an enforced program only the number of events matters, so any name will do.
    let name = match gate::is_inside() {
        true => open_files::name_of(descriptor),
        false => descriptor,
    };
    Use {
        descriptor: Some(descriptor),
        ..data(name as usize)
    }
}

/// Returns the use of the files of all these descriptors in one event.
pub(super) fn together(descriptors: impl FnOnce() -> Vec<c_int>, how: How) -> Option<Use> {
    let close = || gate::is_inside().then(gate::close);
    let closed = close();
    let descriptors = descriptors();
    drop(closed);
    let existing = descriptors.iter().filter(|&&descriptor| descriptor >= 0);
    let used = existing.map(|&descriptor| Use {
        how,
        ..file(descriptor)
    });
    let together = used.reduce(|first, other| {
        if let (true, Some(_closed)) = (first.word != other.word, close()) {
            native::use_together(first.word, other.word);
            count_with(first.word, other.word);
        }
        first
    });
    let _closed = close();
    drop(descriptors);
    together
}

/// Returns the use of all files by a function of streams whose stream is a null pointer. In an
/// enforced program only the number of events matters.
fn every_stream(arguments: &Arguments) -> Option<Use> {
    if arguments.word(0) != 0 {
        return None;
    }
    let files = gate::is_inside().then(|| together(open_files::names, How::Changes(AcqRel)));
    files.flatten().or_else(|| changes(arguments))
}

/// Returns the use of the file that this argument names. Without a descriptor, the file has no uses
/// that conflict with this use.
fn named<const NUMBER: usize>(arguments: &Arguments) -> Option<Use> {
    let folder = match NUMBER {
        0 => libc::AT_FDCWD,
        _ => arguments.word(0) as c_int,
    };
    let path = std::ptr::with_exposed_provenance::<c_char>(arguments.word(NUMBER));
    let name = match gate::is_inside() {
        true => open_files::name_of_path(folder, path),
        false => None,
    };
    match name {
        Some(name) => Some(data(name as usize)),
        None => used(word_of_absent_file(), How::Reads),
    }
}

/// Checks whether the flags in the argument with this number empty the file that is opened.
fn empties_descriptor(arguments: &Arguments, flags: usize) -> bool {
    arguments.word(flags) as c_int & libc::O_TRUNC != 0
}

/// Checks whether a file that is opened as a stream is emptied.
fn empties_stream(arguments: &Arguments) -> bool {
    let mode = std::ptr::with_exposed_provenance::<c_char>(arguments.word(1));
    // SAFETY: the function that the program calls reads the mode.
    !mode.is_null() && unsafe { *mode } == b'w' as c_char
}

/// Returns a hash of a stream's address. The hashes of the streams of different threads rarely have
/// the same remainder modulo `FILE_COUNT`, although the heaps of threads are a power of two apart
/// (Fibonacci hashing).
fn scattered(stream: usize) -> usize {
    stream.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32
}

fn data(name: usize) -> Use {
    Use {
        word: word_of_file(name % FILE_COUNT),
        how: How::Changes(AcqRel),
        descriptor: None,
    }
}

unsafe extern "C" {
    static stdin: *mut FILE;
    static stdout: *mut FILE;
    static stderr: *mut FILE;
}

/// Returns the use of a stream's data. Returns `None` for a null pointer and for the standard
/// streams that are only written.
pub(super) fn data_of(stream: usize) -> Option<Use> {
    // SAFETY: the C library has set them.
    let output = unsafe { [stdout, stderr] }.map(<*mut FILE>::addr);
    if stream == 0 || output.contains(&stream) {
        return None;
    }
    // SAFETY: a stream of the program.
    let descriptor = unsafe { libc::fileno(std::ptr::with_exposed_provenance_mut(stream)) };
    Some(match descriptor {
        ..0 => data(scattered(stream)),
        _ => file(descriptor),
    })
}

/// Returns a library function's uses of state. `is_unknown` is true if the function may change more
/// than memory.
pub(super) fn uses(name: &str, is_unknown: bool) -> Vec<Uses> {
    static NOTHING: OnceLock<FxHashMap<&str, ()>> = OnceLock::new();
    let has_name = |(_, names): &&Row| names.split_whitespace().any(|other| other == name);
    let in_table = |table: &'static [Row]| table.iter().filter(has_name).map(|(uses, _)| *uses);
    let mut found: Vec<Uses> = in_table(USES).collect();
    let keeps_nothing = || {
        let all = || KEEP_NOTHING.split_whitespace().map(|name| (name, ()));
        let nothing = NOTHING.get_or_init(|| all().collect());
        nothing.contains_key(name) || table::is_of_memory(name) || is_of_cpp(name)
    };
    if found.is_empty() && is_unknown && !keeps_nothing() {
        found.push(State(changes));
    }
    found.extend(in_table(NAMED));
    found
}

/// Checks whether this is a C++ function whose name does not suggest files. Such a function at most
/// reads a locale or changes a reference count.
fn is_of_cpp(name: &str) -> bool {
    const FILES: [&str; 6] = [
        "filebuf",
        "filesystem",
        "fstream",
        "random_device",
        "stdio",
        "6global",
    ];
    name.starts_with("_Z") && !FILES.iter().any(|part| name.contains(part))
}
