//! Checks whether functions of other images may write to the program's memory without a hook. The
//! program may pass them the address of a variable on another thread's stack.

use crate::confined::ask_only_for;
use std::path::{Path, PathBuf};

/// Prefixes of functions without unseen writes. They write only their own memory, or belong to the
/// runtime library, which announces its writes.
const PREFIXES: [&str; 11] = [
    "_ITM_",
    "_Unwind_",
    "_Zda",
    "_Zdl",
    "_Zna",
    "_Znw",
    "__VERIFIER_",
    "__tsan_",
    "__wrap_",
    "mazurka_",
    "pthread_mutex_",
];

/// The names of other functions of this kind.
#[rustfmt::skip]
const QUIET: &[&str] = &[
    "__assert", "__assert_fail", "__cxa_atexit", "__cxa_finalize", "__dso_handle", "__errno_location",
    "__gcc_personality_v0", "__gmon_start__", "__gxx_personality_v0", "__libc_single_threaded", "__libc_start_main",
    "__stack_chk_fail", "__tls_get_addr", "_exit", "abort", "abs", "aligned_alloc", "atexit", "atof", "atoi", "atol", "atoll",
    "calloc", "exit", "fprintf", "fputc", "fputs", "free", "labs", "malloc", "memchr", "memcmp", "perror", "printf",
    "pthread_cond_broadcast", "pthread_cond_destroy", "pthread_cond_init", "pthread_cond_signal", "pthread_cond_wait",
    "pthread_create", "pthread_detach", "pthread_exit", "pthread_join", "pthread_self", "putchar", "puts", "rand",
    "reach_error", "realloc", "sched_yield", "sleep", "srand", "stderr", "stdout", "strchr", "strcmp", "strlen", "strncmp",
    "usleep",
];

/// Checks whether a program and the libraries loaded with it, except those of the system, call
/// functions that may write to the program's memory without a hook. Returns true if one of these
/// files cannot be read.
///
/// ```
/// use mazurka_native::has_unseen_writes;
/// let program = std::env::current_exe().expect("this test is a program");
/// assert!(has_unseen_writes(&program, &[]), "it can read files");
/// assert!(has_unseen_writes("nothing".as_ref(), &[]));
/// ```
pub fn has_unseen_writes(program: &Path, libraries: &[PathBuf]) -> bool {
    !ask_only_for(is_quiet, program, libraries)
}

fn is_quiet(name: &str) -> bool {
    let begins_well = || PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    name.is_empty() || QUIET.binary_search(&name).is_ok() || begins_well()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_so_that_they_are_found() {
        assert!(QUIET.is_sorted() && PREFIXES.is_sorted());
    }

    #[test]
    fn printing_to_a_stream_is_quiet_and_printing_to_memory_is_not() {
        for name in ["printf", "pthread_create", "__tsan_read4", "_Znwm"] {
            assert!(is_quiet(name), "{name}");
        }
        for name in ["snprintf", "strcpy", "qsort", "clock_gettime", "_ZNSsC1Ev"] {
            assert!(!is_quiet(name), "{name}");
        }
    }
}
