//! Checks whether a program changes only its own memory. The executions of such a program can be
//! restored to a state in the middle, not only to the beginning.
//!
//! The system and the C library keep other state, for example of files and signals. A confined
//! program imports only functions that are known to leave this state unchanged. Printing to the
//! standard streams is allowed.

use crate::unseen::is_known;
use object::{Object, ObjectSymbol};
use std::fs;
use std::path::{Path, PathBuf};

/// Prefixes of harmless names: hooks, threads and locks (which the runtime library provides), C++.
const PREFIXES: [&str; 17] = [
    "_ITM_",
    "_Unwind_",
    "_Z",
    "__VERIFIER_",
    "__atomic_",
    "__cxa_",
    "__isoc23_strto",
    "__real_",
    "__tsan_",
    "__wrap_",
    "cnd_",
    "mazurka_",
    "mtx_",
    "pthread_",
    "sem_",
    "thrd_",
    "tss_",
];

/// A name with one of these parts is not harmless, despite its prefix. In C++, it belongs to files,
/// directories, locales or random devices. A function of threads with such a name uses state that
/// the system keeps.
const OPEN: [&str; 9] = [
    "affinity",
    "filebuf",
    "filesystem",
    "fstream",
    "kill",
    "locale",
    "random_device",
    "sigmask",
    "stdio",
];

/// Functions and variables of the C library that keep no state, print to the standard streams, end
/// the program, or are provided by the runtime library.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "_Exit", "__assert", "__assert_fail", "__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc",
    "__dso_handle", "__errno_location", "__fprintf_chk", "__gcc_personality_v0", "__gmon_start__",
    "__gxx_personality_v0", "__libc_single_threaded", "__libc_start_main", "__longjmp_chk", "__memcpy_chk",
    "__memmove_chk", "__memset_chk", "__once_proxy", "__printf_chk", "__pthread_register_cancel",
    "__pthread_unregister_cancel", "__pthread_unwind_next", "__sched_cpucount", "__sigsetjmp",
    "__snprintf_chk", "__sprintf_chk", "__stack_chk_fail", "__strcpy_chk", "__strncpy_chk", "__tls_get_addr",
    "__vfprintf_chk", "__vsnprintf_chk", "_exit", "_setjmp", "abort", "abs", "aligned_alloc", "at_quick_exit",
    "atexit", "atof", "atoi", "atol", "atoll", "bsearch", "call_once", "calloc", "ceil", "clock_gettime",
    "clock_nanosleep", "cos", "exit", "exp", "fabs", "fflush", "floor", "fmod", "fprintf", "fputc", "fputs",
    "free", "fwrite", "get_nprocs", "getenv", "getpagesize", "getpid", "getrandom", "gettid", "gettimeofday",
    "isalnum", "isalpha", "isdigit", "isspace", "labs", "log", "log2", "longjmp", "malloc",
    "malloc_usable_size", "memalign", "memchr", "memcmp", "memcpy", "memmove", "mempcpy", "memrchr", "memset",
    "nanosleep", "perror", "posix_memalign", "pow", "printf", "putc", "putchar", "puts", "qsort",
    "quick_exit", "rand", "rand_r", "random", "reach_error", "realloc", "reallocarray", "round",
    "sched_yield", "setjmp", "siglongjmp", "sin", "sleep", "snprintf", "sprintf", "sqrt", "srand", "srandom",
    "stderr", "stdout", "stpcpy", "strcasecmp", "strcat", "strchr", "strcmp", "strcpy", "strcspn", "strdup",
    "strlen", "strncasecmp", "strncat", "strncmp", "strncpy", "strndup", "strnlen", "strpbrk", "strrchr",
    "strspn", "strstr", "strtod", "strtof", "strtok_r", "strtol", "strtoll", "strtoul", "strtoull",
    "sysconf", "time", "timespec_get", "tolower", "toupper", "usleep", "vfprintf", "vprintf", "vsnprintf",
    "vsprintf",
];

/// Checks whether a program and the libraries loaded with it, except those of the system, change
/// only their memory. Returns false if one of these files cannot be read.
///
/// ```
/// use mazurka_native::is_confined;
/// let program = std::env::current_exe().expect("this test is a program");
/// assert!(!is_confined(&program, &[]), "it can open files");
/// assert!(!is_confined("nothing".as_ref(), &[]));
/// ```
pub fn is_confined(program: &Path, libraries: &[PathBuf]) -> bool {
    ask_only_for(is_harmless, program, libraries)
}

/// Functions of the C library that keep state for each thread, besides `errno`.
const OF_THREADS: [&str; 8] = [
    "__h_errno_location",
    "__res_state",
    "dlerror",
    "dlopen",
    "strerror",
    "strerror_l",
    "strsignal",
    "uselocale",
];

/// Checks whether a program or a library loaded with it uses per-thread state of the C library
/// other than `errno`. Returns true if one of these files cannot be read.
pub fn uses_thread_state(program: &Path, libraries: &[PathBuf]) -> bool {
    !ask_only_for(|name| !OF_THREADS.contains(&name), program, libraries)
}

/// Functions that open files, possibly for writing, or change named objects of the file system.
#[rustfmt::skip]
const OF_FILES: &[&str] = &[
    "__open64_2", "__open_2", "__openat64_2", "__openat_2", "chmod", "chown", "creat", "creat64", "fchmodat", "fchownat", "fopen",
    "fopen64", "freopen", "freopen64", "futimesat", "lchown", "link", "linkat", "lremovexattr", "lsetxattr", "lutimes", "mkdir",
    "mkdirat", "mkdtemp", "mkfifo", "mkfifoat", "mknod", "mknodat", "mkostemp", "mkostemp64", "mkostemps", "mkostemps64", "mkstemp",
    "mkstemp64", "mkstemps", "mkstemps64", "mq_open", "mq_unlink", "msgget", "open", "open64", "openat", "openat64", "remove",
    "removexattr", "rename", "renameat", "renameat2", "rmdir", "semget", "setxattr", "shm_open", "shm_unlink", "shmget", "symlink",
    "symlinkat", "truncate", "truncate64", "unlink", "unlinkat", "utime", "utimensat", "utimes",
];

/// Checks whether a program or a library loaded with it may change named files, and thus interfere
/// with other processes that run the same program. Returns true if one of these files cannot be
/// read.
pub fn may_change_files(program: &Path, libraries: &[PathBuf]) -> bool {
    let is_of_cpp = |name: &str| {
        ["filebuf", "filesystem", "fstream"]
            .iter()
            .any(|part| name.contains(part))
    };
    let keeps_out = |name: &str| {
        OF_FILES.binary_search(&name).is_err() && !(name.starts_with("_Z") && is_of_cpp(name))
    };
    !ask_only_for(keeps_out, program, libraries)
}

/// Returns the link-time address of a function in an image. Returns `None` if the image does not
/// contain the function, cannot be read or has no symbol table.
pub fn address_of(image: &Path, function: &str) -> Option<u64> {
    let bytes = fs::read(image).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let mut symbols = file.symbols();
    let symbol = symbols.find(|symbol| symbol.name() == Ok(function))?;
    Some(symbol.address())
}

/// Checks whether a program and the libraries loaded with it, except those of the system, import
/// only names that satisfy `is_such`. Returns false if one of these files cannot be read.
pub(crate) fn ask_only_for(
    is_such: impl Fn(&str) -> bool,
    program: &Path,
    libraries: &[PathBuf],
) -> bool {
    let unknown = libraries.iter().filter(|library| !is_known(library));
    let mut images = std::iter::once(program).chain(unknown.map(PathBuf::as_path));
    images.all(|image| asks_only_for(&is_such, image) == Some(true))
}

fn asks_only_for(is_such: impl Fn(&str) -> bool, image: &Path) -> Option<bool> {
    let bytes = fs::read(image).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let mut foreign = file.dynamic_symbols().filter(ObjectSymbol::is_undefined);
    Some(foreign.all(|symbol| symbol.name().is_ok_and(&is_such)))
}

/// Checks whether a function of another image is known to change only memory of the program.
///
/// ```
/// use mazurka_native::is_harmless;
/// assert!(is_harmless("strcpy") && !is_harmless("strtok"));
/// ```
pub fn is_harmless(name: &str) -> bool {
    let begins_well = PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let is_open = || OPEN.iter().any(|part| name.contains(part));
    name.is_empty() || HARMLESS.binary_search(&name).is_ok() || begins_well && !is_open()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_so_that_they_are_found() {
        assert!(HARMLESS.is_sorted() && PREFIXES.is_sorted() && OF_FILES.is_sorted());
    }

    #[test]
    fn threads_and_printing_are_harmless_and_files_are_not() {
        for name in ["pthread_create", "printf", "_ZNSt6thread4joinEv", "stderr"] {
            assert!(is_harmless(name), "{name}");
        }
        for name in [
            "fopen",
            "strtok",
            "signal",
            "_ZNSt13basic_filebufIcE5closeEv",
        ] {
            assert!(!is_harmless(name), "{name}");
        }
    }
}
