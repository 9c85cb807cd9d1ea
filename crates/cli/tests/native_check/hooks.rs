//! Hooks with special arguments or memory.

use crate::toolchain::{Toolchain, check};
use serde_json::Value;
use std::fs;

/// Checks the program with each installed compiler.
fn reports(source: &str, flags: &[&str], options: &[&str]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("program.c");
    let executable = folder.path().join("program");
    fs::write(&file, source).unwrap();
    let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
    let found = ["gcc", "clang"].into_iter().filter_map(|compiler| {
        let toolchain = Toolchain::named(compiler)?;
        toolchain.build(&file, &flags, &executable).unwrap();
        Some(check(options, &executable, &[]).unwrap())
    });
    found.collect()
}

/// Clang passes the failure ordering of a 16-byte compare-exchange as the seventh word of the
/// arguments.
const WIDE: &str = "
#include <pthread.h>
#include <stdatomic.h>
static _Atomic __int128 flag = 1;
static int data;
static void *writes(void *p) { data = 1; atomic_store_explicit(&flag, 2, memory_order_release); return p; }
int main(void) {
    pthread_t thread;
    __int128 expected = 1;
    pthread_create(&thread, 0, writes, 0);
    if (!atomic_compare_exchange_strong_explicit(&flag, &expected, (__int128)1, memory_order_acquire, FAILURE))
        return data - 1;
    pthread_join(thread, 0);
    return 0;
}
";

#[test]
fn the_order_of_a_wide_compare_exchange_that_fails_is_the_one_in_the_source() {
    for (order, verdict) in [("acquire", "verified"), ("relaxed", "bug")] {
        let flag = format!("-DFAILURE=memory_order_{order}");
        let flags = ["-w", "-mcx16", &flag, "-Wl,--no-as-needed", "-latomic"];
        for report in reports(WIDE, &flags, &[]) {
            assert_eq!(report["verdict"], verdict, "{order}: {report}");
        }
    }
}

/// Threads that share a variable, or that have a thread-local variable each.
const ERRNO: &str = "
#include <errno.h>
#include <pthread.h>
static LOCAL int own;
static void *sets(void *p) { errno = 3; errno++; return errno == 4 ? 0 : p; }
int main(void) {
    pthread_t threads[2];
    void *results[2];
    errno = 9;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, sets, &own);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], &results[i]);
    return results[0] || results[1] || errno != 9;
}
";

#[test]
fn each_thread_has_its_errno_and_no_access_of_it_is_an_event() {
    let [shared, own] =
        ["-DLOCAL=", "-DLOCAL=__thread"].map(|local| reports(ERRNO, &[local], &["--plain", "sc"]));
    for (shared, own) in shared.iter().zip(own) {
        assert_eq!(own["verdict"], "verified", "{own}");
        assert_eq!(own["max_depth"], shared["max_depth"], "{shared} {own}");
        // At most the accesses to the results are events, because main reads the results.
        assert!(own["max_depth"].as_u64() <= Some(4), "{own}");
    }
}
