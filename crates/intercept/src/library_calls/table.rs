//! The reads and writes of each function.

use super::Act::{self, Copies, Prints, Reads, Results, Scans, Sorts, Writes};
use super::Copy;
use super::entry::Arguments;
use super::formatted::{Printing, Scanning};
use super::hidden::Hidden;
use super::spans::{NONE, count, length_up_to};
use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

type Row = (&'static str, &'static [Act]);

/// Checks whether the function is known to access only memory of the program.
pub(super) fn is_of_memory(name: &str) -> bool {
    let mut rows = [STRINGS, WIDE, FORMATS].into_iter().flatten();
    rows.any(|(names, _)| names.split(' ').any(|other| other == name))
}

/// Returns a variable of the C library, which the linker may have copied into the program.
fn variable(name: &CStr, size: usize) -> super::Span {
    // SAFETY: the name is a terminated string.
    let place = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }.addr();
    if place == 0 { NONE } else { (place, size) }
}

/// Names of functions with the same effects, and these effects.
pub(super) const TABLE: [&[Row]; 7] = [
    STRINGS,
    WIDE,
    FORMATS,
    FILES,
    system::NAMED_FILES,
    system::SYSTEM,
    REST,
];

const TIMESPEC: usize = size_of::<libc::timespec>();
const TM: usize = size_of::<libc::tm>();
const STAT: usize = size_of::<libc::stat>();
/// Size of `struct drand48_data`.
const DRAND: usize = 24;
const ATTRIBUTES: usize = size_of::<libc::pthread_attr_t>();
const SIGACTION: usize = size_of::<libc::sigaction>();
const EPOLL_EVENT: usize = size_of::<libc::epoll_event>();

/// A write that a function performs if the function returns 0.
macro_rules! if_zero {
    ($arguments:ident, $span:expr) => {
        Results {
            written: |$arguments, result| if result as i32 == 0 { $span } else { NONE },
            most: |$arguments| $span,
        }
    };
}

/// A write that a function performs if it does not return a null pointer. `$most` is the most that
/// the function may write.
macro_rules! if_found {
    ($arguments:ident, $span:expr, $most:expr) => {
        Results {
            written: |$arguments, result| if result != 0 { $span } else { NONE },
            most: $most,
        }
    };
}

/// A write of a result that the library keeps at one address for all threads. The address is known
/// after the first call.
macro_rules! shared_result {
    ($size:expr) => {{
        static PLACE: AtomicUsize = AtomicUsize::new(0);
        Results {
            written: |_, result| {
                PLACE.fetch_max(result, Relaxed);
                if result != 0 { (result, $size) } else { NONE }
            },
            most: |_| match PLACE.load(Relaxed) {
                0 => NONE,
                place => (place, $size),
            },
        }
    }};
}

mod system;

/// Strings and memory.
#[rustfmt::skip]
const STRINGS: &[Row] = &[
    ("strlen strdup __strdup", &[Reads(|a| a.text(0))]),
    ("strcoll", &[Reads(|a| a.text(0)), Reads(|a| a.text(1))]),
    ("strnlen strndup __strndup", &[Reads(|a| a.text_up_to(0, 1))]),
    ("strcmp", &[Reads(|a| a.compared_text(0, usize::MAX)), Reads(|a| a.compared_text(1, usize::MAX))]),
    ("strncmp", &[Reads(|a| a.compared_text(0, a.word(2))), Reads(|a| a.compared_text(1, a.word(2)))]),
    ("strcasecmp", &[Reads(|a| a.caseless_text(0, usize::MAX)), Reads(|a| a.caseless_text(1, usize::MAX))]),
    ("strncasecmp", &[Reads(|a| a.caseless_text(0, a.word(2))), Reads(|a| a.caseless_text(1, a.word(2)))]),
    ("memcmp bcmp", &[Reads(|a| a.sized(0, 2)), Reads(|a| a.sized(1, 2))]),
    ("memchr", &[Reads(|a| a.searched(a.sized(0, 2), 1))]),
    ("memrchr", &[Reads(|a| a.sized(0, 2))]),
    ("rawmemchr strchrnul", &[Reads(|a| a.searched(a.bytes(0, 0), 1))]),
    ("strchr index", &[Reads(|a| a.searched(a.text(0), 1))]),
    ("strrchr rindex", &[Reads(|a| a.text(0))]),
    ("strpbrk", &[Reads(|a| a.searched(a.text(0), 1)), Reads(|a| a.text(1))]),
    ("strstr strcasestr", &[Reads(|a| a.searched(a.text(0), a.text(1).1 - 1)), Reads(|a| a.text(1))]),
    ("memmem", &[Reads(|a| a.searched(a.sized(0, 1), a.word(3))), Reads(|a| a.sized(2, 3))]),
    ("strspn strcspn", &[Reads(|a| a.counted()), Reads(|a| a.text(1))]),
    ("strcpy", &[Copies(|a| a.copy(a.text(1).1, None))]),
    ("__strcpy_chk", &[Copies(|a| a.copy(a.text(1).1, Some(2)))]),
    ("stpcpy __stpcpy", &[Copies(|a| behind(a.copy(a.text(1).1, None), 1))]),
    ("__stpcpy_chk", &[Copies(|a| behind(a.copy(a.text(1).1, Some(2)), 1))]),
    ("strcat", &[Reads(|a| a.text(0)), Copies(|a| a.joined(None))]),
    ("__strcat_chk", &[Reads(|a| a.text(0)), Copies(|a| a.joined(Some(2)))]),
    ("memcpy memmove", &[Copies(|a| a.copy(a.word(2), None))]),
    ("__memcpy_chk __memmove_chk", &[Copies(|a| a.copy(a.word(2), Some(3)))]),
    ("mempcpy __mempcpy", &[Copies(|a| behind(a.copy(a.word(2), None), 0))]),
    ("__mempcpy_chk", &[Copies(|a| behind(a.copy(a.word(2), Some(3)), 0))]),
    ("bcopy", &[Reads(|a| a.sized(0, 2)), Writes(|a| a.sized(1, 2))]),
    ("memccpy", &[Reads(|a| a.bytes(1, until_byte(a))), Writes(|a| a.bytes(0, until_byte(a)))]),
    ("strncpy __strncpy_chk stpncpy __stpncpy_chk", &[Reads(|a| a.text_up_to(1, 2)), Writes(|a| a.sized(0, 2))]),
    ("strncat __strncat_chk", &[
        Reads(|a| a.text(0)), Reads(|a| a.text_up_to(1, 2)),
        Writes(|a| a.appended(a.text(0), a.text_up_to(1, 2), 1)),
    ]),
    ("strlcpy", &[Reads(|a| a.text(1)), Writes(|a| a.bytes(0, a.text(1).1.min(a.word(2))))]),
    ("memset __memset_chk", &[Writes(|a| a.sized(0, 2))]),
    ("bzero explicit_bzero __explicit_bzero_chk", &[Writes(|a| a.sized(0, 1))]),
    ("strtok", &[
        Writes(|_| Hidden::Token.span()),
        Reads(|a| a.text(1)), Reads(|a| a.token(a.word(0), true)), Writes(|a| a.end_of_token(a.word(0), true)),
    ]),
    ("strtok_r __strtok_r", &[
        Reads(|a| a.text(1)), Reads(|a| a.bytes(2, if a.word(0) == 0 { 8 } else { 0 })),
        Reads(|a| a.token(a.token_start(), true)), Writes(|a| a.end_of_token(a.token_start(), true)),
        Writes(|a| a.bytes(2, 8)),
    ]),
    ("strsep __strsep", &[
        Reads(|a| a.text(1)), Reads(|a| a.bytes(0, 8)), Reads(|a| a.token(a.word_at(0), false)),
        Writes(|a| a.end_of_token(a.word_at(0), false)), Writes(|a| a.bytes(0, if a.word_at(0) == 0 { 0 } else { 8 })),
    ]),
    ("atoi atol atoll", &[Reads(|a| a.integer())]),
    ("atof", &[Reads(|a| a.decimal())]),
    ("strtol strtoll strtoul strtoull __isoc23_strtol __isoc23_strtoll __isoc23_strtoul __isoc23_strtoull strtoimax \
      strtoumax strtod strtof", &[Reads(|a| a.number()), Writes(|a| a.bytes(1, 8))]),
    // `number` must not call this function, because it returns its result in an x87 register.
    ("strtold", &[Reads(|a| a.decimal()), Writes(|a| a.bytes(1, 8))]),
];

/// Strings of wide characters.
#[rustfmt::skip]
const WIDE: &[Row] = &[
    ("wcslen wcsdup wcsrchr", &[Reads(|a| a.wide_text(0))]),
    ("wcsnlen", &[Reads(|a| a.wide_text_up_to(0, 1))]),
    ("wcscmp", &[
        Reads(|a| a.compared_wide_text(0, usize::MAX)), Reads(|a| a.compared_wide_text(1, usize::MAX)),
    ]),
    ("wcsncmp", &[Reads(|a| a.compared_wide_text(0, a.word(2))), Reads(|a| a.compared_wide_text(1, a.word(2)))]),
    ("wcschr", &[Reads(|a| a.searched(a.wide_text(0), 4))]),
    ("wmemchr", &[Reads(|a| a.searched(a.wide(0, 2), 4))]),
    ("wmemcmp", &[Reads(|a| a.wide(0, 2)), Reads(|a| a.wide(1, 2))]),
    ("wcsstr", &[Reads(|a| a.searched(a.wide_text(0), a.wide_text(1).1 - 4)), Reads(|a| a.wide_text(1))]),
    ("wcscpy", &[Copies(|a| a.copy(a.wide_text(1).1, None))]),
    ("wcscat __wcscat_chk", &[
        Reads(|a| a.wide_text(0)), Reads(|a| a.wide_text(1)),
        Writes(|a| (a.word(0) + a.wide_text(0).1 - 4, a.wide_text(1).1)),
    ]),
    ("wcsncat __wcsncat_chk", &[
        Reads(|a| a.wide_text(0)), Reads(|a| a.wide_text_up_to(1, 2)),
        Writes(|a| a.appended(a.wide_text(0), a.wide_text_up_to(1, 2), 4)),
    ]),
    ("wcpcpy __wcpcpy_chk __wcscpy_chk", &[Reads(|a| a.wide_text(1)), Writes(|a| a.bytes(0, a.wide_text(1).1))]),
    ("wcsncpy __wcsncpy_chk", &[Reads(|a| a.wide_text_up_to(1, 2)), Writes(|a| a.wide(0, 2))]),
    ("wmemcpy wmemmove", &[Copies(|a| a.copy(a.wide(0, 2).1, None))]),
    ("wmempcpy __wmempcpy_chk __wmemcpy_chk __wmemmove_chk", &[Reads(|a| a.wide(1, 2)), Writes(|a| a.wide(0, 2))]),
    ("wmemset __wmemset_chk", &[Writes(|a| a.wide(0, 2))]),
    ("mbstowcs __mbstowcs_chk", &[
        // Each wide character comes from one or more bytes, of which one is reported.
        Reads(|a| if a.word(0) == 0 { a.text(1) } else { a.text_up_to(1, 2) }),
        Results {
            written: |a, result| match count(result.wrapping_add(1)) {
                0 => NONE,
                characters => a.bytes(0, 4 * characters.min(a.word(2))),
            },
            most: |a| a.wide(0, 2),
        },
    ]),
    ("wcstombs __wcstombs_chk", &[
        Reads(|a| if a.word(0) == 0 { a.wide_text(1) } else { a.wide_text_up_to(1, 2) }),
        Results { written: |a, result| a.bytes(0, count(result.wrapping_add(1)).min(a.word(2))), most: |a| a.sized(0, 2) },
    ]),
    ("wcstol wcstoll wcstoul wcstoull __isoc23_wcstol __isoc23_wcstoll __isoc23_wcstoul __isoc23_wcstoull wcstod wcstof",
        &[Reads(|a| { let (start, length) = a.number(); (start, length + 3) }), Writes(|a| a.bytes(1, 8))]),
];

const fn prints(format: usize, is_list: bool) -> Act {
    Prints(Printing {
        format,
        is_list,
        room: None,
        is_wide: false,
    })
}

const fn prints_wide(format: usize, is_list: bool, room: Option<fn(&Arguments) -> usize>) -> Act {
    Prints(Printing {
        format,
        is_list,
        room,
        is_wide: true,
    })
}

const fn prints_to(format: usize, is_list: bool, room: fn(&Arguments) -> usize) -> Act {
    Prints(Printing {
        format,
        is_list,
        room: Some(room),
        is_wide: false,
    })
}

/// Functions with a format.
#[rustfmt::skip]
const FORMATS: &[Row] = &[
    ("printf", &[prints(0, false)]),
    ("vprintf", &[prints(0, true)]),
    ("__printf_chk fprintf dprintf", &[prints(1, false)]),
    ("__vprintf_chk vfprintf vdprintf", &[prints(1, true)]),
    ("__fprintf_chk __dprintf_chk", &[prints(2, false)]),
    ("__vfprintf_chk __vdprintf_chk", &[prints(2, true)]),
    ("sprintf", &[prints_to(1, false, |_| usize::MAX)]),
    ("vsprintf", &[prints_to(1, true, |_| usize::MAX)]),
    ("__sprintf_chk", &[prints_to(3, false, |_| usize::MAX)]),
    ("__vsprintf_chk", &[prints_to(3, true, |_| usize::MAX)]),
    ("snprintf", &[prints_to(2, false, |a| a.word(1))]),
    ("vsnprintf", &[prints_to(2, true, |a| a.word(1))]),
    ("__snprintf_chk", &[prints_to(4, false, |a| a.word(1))]),
    ("__vsnprintf_chk", &[prints_to(4, true, |a| a.word(1))]),
    ("asprintf", &[prints(1, false), Writes(|a| a.bytes(0, 8))]),
    ("vasprintf", &[prints(1, true), Writes(|a| a.bytes(0, 8))]),
    ("__asprintf_chk", &[prints(2, false), Writes(|a| a.bytes(0, 8))]),
    ("__vasprintf_chk", &[prints(2, true), Writes(|a| a.bytes(0, 8))]),
    ("sscanf __isoc99_sscanf __isoc23_sscanf", &[Scans(Scanning { is_text: true, is_list: false })]),
    ("vsscanf __isoc99_vsscanf __isoc23_vsscanf", &[Scans(Scanning { is_text: true, is_list: true })]),
    ("fscanf __isoc99_fscanf __isoc23_fscanf", &[Scans(Scanning { is_text: false, is_list: false })]),
    ("vfscanf __isoc99_vfscanf __isoc23_vfscanf", &[Scans(Scanning { is_text: false, is_list: true })]),
];

/// Files and the system.
#[rustfmt::skip]
const FILES: &[Row] = &[
    ("puts fputs fputs_unlocked perror", &[Reads(|a| a.text(0))]),
    ("fwrite fwrite_unlocked", &[Reads(|a| a.items(0, 1, 2))]),
    ("write pwrite pwrite64 send sendto", &[Reads(|a| a.sized(1, 2))]),
    ("read __read_chk pread pread64 __pread_chk __pread64_chk recv __recv_chk recvfrom __recvfrom_chk", &[
        Results { written: |a, result| a.bytes(1, count(result)), most: |a| a.sized(1, 2) },
    ]),
    ("readlink __readlink_chk", &[
        Reads(|a| a.text(0)), Results { written: |a, result| a.bytes(1, count(result)), most: |a| a.sized(1, 2) },
    ]),
    ("readlinkat __readlinkat_chk", &[
        Reads(|a| a.text(1)), Results { written: |a, result| a.bytes(2, count(result)), most: |a| a.sized(2, 3) },
    ]),
    ("fread fread_unlocked", &[
        Results { written: |a, result| a.bytes(0, a.word(1).saturating_mul(result)), most: |a| a.items(0, 1, 2) },
    ]),
    ("__fread_chk __fread_unlocked_chk", &[
        Results { written: |a, result| a.bytes(0, a.word(2).saturating_mul(result)), most: |a| a.items(0, 2, 3) },
    ]),
    ("fgets fgets_unlocked", &[if_found!(a, a.text(0), |a| a.bytes(0, count(a.word(1) as i32 as usize)))]),
    ("__fgets_chk __fgets_unlocked_chk", &[if_found!(a, a.text(0), |a| a.bytes(0, count(a.word(2) as i32 as usize)))]),
    ("getline", &[
        Reads(|a| a.bytes(0, 8)), Reads(|a| a.bytes(1, 8)), Writes(|a| a.bytes(0, 8)), Writes(|a| a.bytes(1, 8)),
        Results { written: line, most: |_| NONE },
    ]),
    ("getdelim __getdelim", &[
        Reads(|a| a.bytes(0, 8)), Reads(|a| a.bytes(1, 8)), Writes(|a| a.bytes(0, 8)), Writes(|a| a.bytes(1, 8)),
        Results { written: line, most: |_| NONE },
    ]),
    ("getcwd __getcwd_chk", &[if_found!(a, a.text(0), |a| a.sized(0, 1))]),
    ("realpath __realpath_chk", &[Reads(|a| a.text(0)), if_found!(a, a.text(1), |_| NONE)]),
    ("gethostname __gethostname_chk", &[if_zero!(a, a.text_up_to(0, 1))]),
    ("__xpg_strerror_r", &[if_zero!(a, a.text_up_to(1, 2))]),
    ("ttyname_r __ttyname_r_chk", &[if_zero!(a, a.text_up_to(1, 2))]),
    ("uname", &[if_zero!(a, a.bytes(0, size_of::<libc::utsname>()))]),
    ("stat stat64 lstat lstat64", &[Reads(|a| a.text(0)), if_zero!(a, a.bytes(1, STAT))]),
    ("fstat fstat64", &[if_zero!(a, a.bytes(1, STAT))]),
    ("fstatat fstatat64", &[Reads(|a| a.text(1)), if_zero!(a, a.bytes(2, STAT))]),
    ("pipe pipe2", &[if_zero!(a, a.bytes(0, 8))]),
    ("getentropy", &[if_zero!(a, a.sized(0, 1))]),
    ("getrandom", &[Writes(|a| a.sized(0, 1))]),
    ("getrusage", &[if_zero!(a, a.bytes(1, size_of::<libc::rusage>()))]),
    ("getrlimit getrlimit64", &[if_zero!(a, a.bytes(1, size_of::<libc::rlimit>()))]),
    ("setrlimit setrlimit64", &[Reads(|a| a.bytes(1, size_of::<libc::rlimit>()))]),
    ("prlimit prlimit64", &[Reads(|a| a.bytes(2, size_of::<libc::rlimit>())), if_zero!(a, a.bytes(3, size_of::<libc::rlimit>()))]),
    ("getenv secure_getenv", &[Reads(|a| a.text(0)), Reads(|_| Hidden::Environment.span())]),
    ("unsetenv putenv", &[Reads(|a| a.text(0)), Writes(|_| Hidden::Environment.span()), Writes(|_| variable(c"environ", 8))]),
    ("clearenv", &[Writes(|_| Hidden::Environment.span()), Writes(|_| variable(c"environ", 8))]),
    ("setenv", &[Reads(|a| a.text(0)), Reads(|a| a.text(1)), Writes(|_| Hidden::Environment.span()), Writes(|_| variable(c"environ", 8))]),
    ("inet_pton", &[
        Reads(|a| a.text(1)),
        Results {
            written: |a, result| a.bytes(2, if result as i32 == 1 { internet_address_size(a) } else { 0 }),
            most: |a| a.bytes(2, internet_address_size(a)),
        },
    ]),
    ("inet_ntop __inet_ntop_chk", &[Reads(|a| a.bytes(1, internet_address_size(a))), if_found!(a, a.text(2), |a| a.sized(2, 3))]),
];

/// Time, threads, numbers, sorting.
#[rustfmt::skip]
const REST: &[Row] = &[
    ("clock_gettime clock_getres", &[Writes(|a| a.bytes(1, TIMESPEC))]),
    ("timespec_get gettimeofday", &[Writes(|a| a.bytes(0, TIMESPEC))]),
    ("time", &[Writes(|a| a.bytes(0, 8))]),
    ("times", &[Writes(|a| a.bytes(0, size_of::<libc::tms>()))]),
    ("localtime gmtime", &[Reads(|a| a.bytes(0, 8)), Writes(|_| Hidden::Time.span()), shared_result!(TM)]),
    ("ctime", &[
        Reads(|a| a.bytes(0, 8)), Writes(|_| Hidden::Time.span()), Writes(|_| Hidden::Text.span()), shared_result!(26),
    ]),
    ("localtime_r gmtime_r", &[Reads(|a| a.bytes(0, 8)), Writes(|a| a.bytes(1, TM))]),
    ("mktime timegm", &[Reads(|a| a.bytes(0, TM)), Writes(|a| a.bytes(0, TM))]),
    ("asctime", &[Reads(|a| a.bytes(0, TM)), Writes(|_| Hidden::Text.span()), shared_result!(26)]),
    ("l64a", &[shared_result!(7)]),
    ("a64l", &[Reads(|a| (a.word(0), length_up_to(a.word(0), 6)))]),
    ("getpwnam", &[Reads(|a| a.text(0)), shared_result!(size_of::<libc::passwd>())]),
    ("getpwuid", &[shared_result!(size_of::<libc::passwd>())]),
    ("getpwent", &[shared_result!(size_of::<libc::passwd>())]),
    ("getgrnam", &[Reads(|a| a.text(0)), shared_result!(size_of::<libc::group>())]),
    ("getgrgid", &[shared_result!(size_of::<libc::group>())]),
    ("getgrent", &[shared_result!(size_of::<libc::group>())]),
    ("localeconv", &[shared_result!(size_of::<libc::lconv>())]),
    ("gethostbyname", &[Reads(|a| a.text(0)), Writes(|_| Hidden::Host.span())]),
    ("gethostbyaddr gethostent getnetbyname getnetent getservbyname getservbyport getservent getprotobyname getprotobynumber \
      getprotoent", &[Writes(|_| Hidden::Host.span())]),
    ("tmpnam", &[Writes(|a| if a.word(0) == 0 { NONE } else { a.bytes(0, 20) }), shared_result!(20)]),
    ("getlogin", &[shared_result!(1)]),
    ("ttyname ptsname", &[shared_result!(1)]),
    ("ecvt fcvt", &[Writes(|_| Hidden::Digits.span()), Writes(|a| a.bytes(1, 4)), Writes(|a| a.bytes(2, 4))]),
    ("hcreate hdestroy hsearch", &[Writes(|_| Hidden::Table.span())]),
    ("getopt getopt_long getopt_long_only", &[
        Writes(|_| Hidden::Options.span()), Writes(|_| variable(c"optind", 4)), Writes(|_| variable(c"optarg", 8)),
        Writes(|_| variable(c"optopt", 4)), Reads(|_| variable(c"opterr", 4)),
    ]),
    ("lgamma lgammaf lgammal gamma", &[Writes(|_| variable(c"signgam", 4))]),
    ("mblen", &[Writes(|_| Hidden::Shift.span()), Reads(|a| a.multibyte(0, 1))]),
    ("mbtowc", &[
        Writes(|_| Hidden::Shift.span()), Reads(|a| a.multibyte(1, 2)),
        Writes(|a| a.bytes(0, if a.word(0) == 0 { 0 } else { 4 })),
    ]),
    ("wctomb", &[Writes(|_| Hidden::Shift.span()), Writes(|a| a.bytes(0, usize::from(a.word(0) != 0)))]),
    ("mbsinit", &[Reads(|a| a.bytes(0, if a.word(0) == 0 { 0 } else { 8 }))]),
    // The stream uses the buffer from now on.
    ("setvbuf", &[Writes(|a| if a.word(1) == 0 { NONE } else { a.sized(1, 3) })]),
    ("setbuffer", &[Writes(|a| if a.word(1) == 0 { NONE } else { a.sized(1, 2) })]),
    ("setbuf", &[Writes(|a| if a.word(1) == 0 { NONE } else { a.bytes(1, libc::BUFSIZ as usize) })]),
    ("mbrtowc", &[
        Writes(|a| shift(a, 3)), Reads(|a| a.multibyte(1, 2)), Writes(|a| a.bytes(0, if a.word(0) == 0 { 0 } else { 4 })),
    ]),
    ("mbrlen", &[Writes(|a| shift(a, 2)), Reads(|a| a.multibyte(0, 1))]),
    ("wcrtomb", &[Writes(|a| shift(a, 2)), Writes(|a| a.bytes(0, 1))]),
    ("mbsrtowcs wcsrtombs", &[Writes(|a| shift(a, 3)), Writes(|a| a.bytes(1, if a.word(0) == 0 { 0 } else { 8 }))]),
    ("tsearch tdelete", &[Reads(|a| a.bytes(1, 8)), Writes(|a| a.bytes(1, 8))]),
    ("tfind", &[Reads(|a| a.bytes(1, 8))]),
    ("swab", &[Reads(|a| a.sized(0, 2)), Writes(|a| a.sized(1, 2))]),
    ("memfrob arc4random_buf", &[Writes(|a| a.sized(0, 1))]),
    ("strxfrm", &[
        Reads(|a| a.text(1)),
        Results { written: |a, result| a.bytes(0, if result < a.word(2) { result + 1 } else { 0 }), most: |a| a.sized(0, 2) },
    ]),
    ("wcscoll wcscasecmp wcspbrk wcsspn wcscspn", &[Reads(|a| a.wide_text(0)), Reads(|a| a.wide_text(1))]),
    ("wcsncasecmp", &[Reads(|a| a.wide_text_up_to(0, 2)), Reads(|a| a.wide_text_up_to(1, 2))]),
    ("wcswidth", &[Reads(|a| a.wide_text_up_to(0, 1))]),
    ("fputws fputws_unlocked", &[Reads(|a| a.wide_text(0))]),
    ("fgetws fgetws_unlocked", &[if_found!(a, a.wide_text(0), |a| a.bytes(0, 4 * count(a.word(1) as i32 as usize)))]),
    ("nan nanf", &[Reads(|a| a.text(0))]),
    ("strfromd strfromf", &[
        Reads(|a| a.text(2)),
        Results { written: |a, result| a.bytes(0, (result as u32 as usize + 1).min(a.word(1))), most: |a| a.sized(0, 1) },
    ]),
    ("timespec_getres", &[Writes(|a| a.bytes(0, TIMESPEC))]),
    ("lfind", &[Reads(|a| a.bytes(2, 8))]),
    ("lsearch", &[Reads(|a| a.bytes(2, 8)), Writes(|a| a.bytes(2, 8))]),
    ("initstate", &[Writes(|a| a.sized(1, 2))]),
    ("drand48_r lrand48_r mrand48_r", &[Writes(|a| a.bytes(0, DRAND)), Writes(|a| a.bytes(1, 8))]),
    ("srand48_r", &[Writes(|a| a.bytes(1, DRAND))]),
    ("dgettext", &[Reads(|a| a.text(0)), Reads(|a| a.text(1))]),
    ("readdir readdir64 rewinddir seekdir telldir closedir", &[Writes(|a| a.bytes(0, 4))]),
    ("dirname __xpg_basename", &[Reads(|a| a.text(0)), Writes(|a| a.bytes(0, a.text(0).1.saturating_sub(1)))]),
    ("basename", &[Reads(|a| a.text(0))]),
    ("strverscmp", &[Reads(|a| a.text(0)), Reads(|a| a.text(1))]),
    ("strerror_r", &[Results { written: |a, result| if result == a.word(1) { a.text(1) } else { NONE }, most: |_| NONE }]),
    ("asctime_r", &[Reads(|a| a.bytes(0, TM)), if_found!(a, a.text(1), |a| a.bytes(1, 26))]),
    ("ctime_r", &[Reads(|a| a.bytes(0, 8)), if_found!(a, a.text(1), |a| a.bytes(1, 26))]),
    ("strftime", &[
        Reads(|a| a.text(2)), Reads(|a| a.bytes(3, TM)), if_found!(a, a.text(0), |a| a.sized(0, 1)),
    ]),
    ("strptime", &[Reads(|a| a.text(0)), Reads(|a| a.text(1)), Writes(|a| a.bytes(2, TM))]),
    ("nanosleep thrd_sleep", &[Reads(|a| a.bytes(0, TIMESPEC))]),
    ("sem_timedwait pthread_mutex_timedlock mtx_timedlock pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock",
        &[Reads(|a| a.bytes(1, TIMESPEC))]),
    ("clock_nanosleep pthread_cond_timedwait cnd_timedwait pthread_timedjoin_np sem_clockwait pthread_mutex_clocklock \
      pthread_rwlock_clockrdlock pthread_rwlock_clockwrlock", &[Reads(|a| a.bytes(2, TIMESPEC))]),
    ("pthread_cond_clockwait pthread_clockjoin_np", &[Reads(|a| a.bytes(3, TIMESPEC))]),
    ("pthread_create", &[Reads(|a| a.bytes(1, ATTRIBUTES)), Writes(|a| a.bytes(0, 8))]),
    ("thrd_create", &[Writes(|a| a.bytes(0, 8))]),
    ("pthread_key_create tss_create", &[Writes(|a| a.bytes(0, 4))]),
    ("pthread_getcpuclockid", &[Writes(|a| a.bytes(1, 4))]),
    ("pthread_attr_init pthread_attr_destroy pthread_attr_setdetachstate pthread_attr_setguardsize \
      pthread_attr_setinheritsched pthread_attr_setschedpolicy pthread_attr_setscope pthread_attr_setstack \
      pthread_attr_setstacksize", &[Writes(|a| a.bytes(0, ATTRIBUTES))]),
    ("pthread_attr_setschedparam", &[Reads(|a| a.bytes(1, 4)), Writes(|a| a.bytes(0, ATTRIBUTES))]),
    ("pthread_attr_getdetachstate pthread_attr_getinheritsched pthread_attr_getschedpolicy pthread_attr_getscope \
      pthread_attr_getschedparam", &[Reads(|a| a.bytes(0, ATTRIBUTES)), Writes(|a| a.bytes(1, 4))]),
    ("pthread_attr_getguardsize pthread_attr_getstacksize pthread_attr_getstackaddr",
        &[Reads(|a| a.bytes(0, ATTRIBUTES)), Writes(|a| a.bytes(1, 8))]),
    ("pthread_attr_getstack",
        &[Reads(|a| a.bytes(0, ATTRIBUTES)), Writes(|a| a.bytes(1, 8)), Writes(|a| a.bytes(2, 8))]),
    ("pthread_mutexattr_init pthread_mutexattr_destroy pthread_mutexattr_settype pthread_mutexattr_setrobust \
      pthread_mutexattr_setprotocol pthread_mutexattr_setpshared pthread_condattr_init pthread_condattr_destroy \
      pthread_condattr_setclock pthread_condattr_setpshared pthread_barrierattr_init pthread_barrierattr_setpshared",
        &[Writes(|a| a.bytes(0, 4))]),
    ("pthread_mutexattr_gettype pthread_mutexattr_getrobust pthread_mutexattr_getprotocol pthread_mutexattr_getpshared \
      pthread_condattr_getclock pthread_condattr_getpshared pthread_barrierattr_getpshared",
        &[Reads(|a| a.bytes(0, 4)), Writes(|a| a.bytes(1, 4))]),
    ("pthread_mutex_init pthread_cond_init pthread_barrier_init", &[Reads(|a| a.bytes(1, 4))]),
    ("pthread_getattr_np", &[Writes(|a| a.bytes(1, ATTRIBUTES))]),
    ("pthread_getschedparam", &[Writes(|a| a.bytes(1, 4)), Writes(|a| a.bytes(2, 4))]),
    ("pthread_getaffinity_np sched_getaffinity", &[Writes(|a| a.bytes(2, a.word(1)))]),
    ("pthread_getname_np", &[Writes(|a| a.bytes(1, if a.word(2) < 16 { 0 } else { 16 }))]),
    ("pthread_setname_np", &[Reads(|a| a.text(1))]),
    ("pthread_setcancelstate pthread_setcanceltype pthread_mutex_getprioceiling", &[Writes(|a| a.bytes(1, 4))]),
    ("pthread_mutex_setprioceiling", &[Writes(|a| a.bytes(2, 4))]),
    // The system uses the first 64 signals of a set.
    ("pthread_sigmask sigprocmask", &[Reads(|a| a.bytes(1, 8)), Writes(|a| a.bytes(2, 8))]),
    ("sigaction", &[Reads(|a| a.bytes(1, SIGACTION)), Writes(|a| a.bytes(2, SIGACTION))]),
    ("posix_memalign", &[Writes(|a| a.bytes(0, 8))]),
    ("eventfd_read", &[Writes(|a| a.bytes(1, 8))]),
    ("epoll_ctl", &[Reads(|a| a.bytes(3, EPOLL_EVENT))]),
    ("getcpu", &[Writes(|a| a.bytes(0, 4)), Writes(|a| a.bytes(1, 4))]),
    ("erand48 nrand48 jrand48", &[Reads(|a| a.bytes(0, 6)), Writes(|a| a.bytes(0, 6))]),
    ("drand48 lrand48 mrand48 srand48 seed48 lcong48", &[Writes(|_| Hidden::Numbers.span())]),
    ("qsort qsort_r", &[Sorts(sorted)]),
    ("_ZSt11_Hash_bytesPKvmm", &[Reads(|a| a.sized(0, 1))]),
    ("rand_r", &[Reads(|a| a.bytes(0, 4)), Writes(|a| a.bytes(0, 4))]),
    ("frexp frexpf frexpl remquo remquof remquol lgamma_r lgammaf_r lgammal_r", &[Writes(|a| a.bytes(0, 4))]),
    ("modff", &[Writes(|a| a.bytes(0, 4))]),
    ("modf", &[Writes(|a| a.bytes(0, 8))]),
    ("modfl", &[Writes(|a| a.bytes(0, 10))]),
    ("sincosf", &[Writes(|a| a.bytes(0, 4)), Writes(|a| a.bytes(1, 4))]),
    ("sincos", &[Writes(|a| a.bytes(0, 8)), Writes(|a| a.bytes(1, 8))]),
];

/// Returns the conversion state (`mbstate_t`) of a function for multibyte characters: the program's
/// or the library's own.
fn shift(a: &Arguments, number: usize) -> super::Span {
    match a.word(number) {
        0 => Hidden::Shift.span(),
        _ => a.bytes(number, 8),
    }
}

/// Returns the memory that a sort reads and writes. There is none for one item, which is already
/// sorted.
fn sorted(a: &Arguments) -> (usize, usize) {
    match a.word(1) {
        0 | 1 => NONE,
        _ => a.items(0, 1, 2),
    }
}

/// Returns the copy for a function that returns the end of the copy minus `left` bytes.
fn behind(copy: Option<Copy>, left: usize) -> Option<Copy> {
    copy.map(|copy| Copy {
        result: copy.to + copy.length - left,
        ..copy
    })
}

/// Returns the number of bytes that `memccpy` copies.
fn until_byte(a: &Arguments) -> usize {
    let (start, most) = a.sized(1, 3);
    let source = std::ptr::with_exposed_provenance(start);
    // SAFETY: `memccpy`, which the program calls, reads the same bytes.
    let found = unsafe { libc::memchr(source, a.word(2) as i32, most) };
    match found.addr() {
        0 => most,
        found => found - start + 1,
    }
}

/// Returns the line that `getline` has read, with its terminator.
fn line(a: &Arguments, result: usize) -> (usize, usize) {
    match result as isize {
        ..0 => NONE,
        length => (a.word_at(0), length as usize + 1),
    }
}

/// Returns the size in bytes of a binary internet address.
fn internet_address_size(a: &Arguments) -> usize {
    match a.word(0) as i32 {
        libc::AF_INET => 4,
        _ => 16,
    }
}
