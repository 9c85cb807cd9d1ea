//! Searches that continue in another process. The behaviour of a program must not depend on what a
//! process did before, or on where it has mapped memory.

use crate::toolchain::{Toolchain, check};
use std::fs;

/// Main and a thread poll. The value that the checker leaves in `errno` must not be part of their
/// states.
const POLLS: &str = "#include <pthread.h>
#include <stdint.h>
static _Thread_local uint64_t words[3];
static struct {
    pthread_mutex_t mutex;
    unsigned char *bytes;
    pthread_t threads[4];
} s = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static void *one(void *unused) {
    for (int i = 0; i < 2; i++) { pthread_mutex_lock(&s.mutex); pthread_mutex_unlock(&s.mutex); }
    return unused;
}
static void *two(void *unused) {
    while (pthread_mutex_trylock(&s.mutex) != 0) {}
    pthread_mutex_unlock(&s.mutex);
    pthread_mutex_lock(&s.mutex); pthread_mutex_unlock(&s.mutex);
    return unused;
}
static void *three(void *unused) {
    pthread_mutex_lock(&s.mutex); words[2] = *(uint32_t *)s.bytes; pthread_mutex_unlock(&s.mutex);
    if (words[2] != 1) { pthread_mutex_lock(&s.mutex); pthread_mutex_unlock(&s.mutex); }
    return unused;
}
int main(void) {
    _Alignas(16) unsigned char bytes[16] = {0};
    s.bytes = bytes;
    pthread_create(&s.threads[1], 0, one, 0);
    pthread_create(&s.threads[2], 0, two, 0);
    pthread_create(&s.threads[3], 0, three, 0);
    while (pthread_mutex_trylock(&s.mutex) != 0) {}
}
";

/// More threads use thread-local memory than the checker has started in advance.
const THREAD_LOCALS: &str = "#include <pthread.h>
#include <stdatomic.h>
static atomic_int shared;
static _Thread_local int own[2];
static void *adds(void *unused) {
    own[1] = atomic_load(&shared);
    __atomic_store_n(&own[0], own[1], __ATOMIC_SEQ_CST);
    atomic_store(&shared, own[0] + 1);
    return unused;
}
int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, adds, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
}
";

/// The schedule decides which parent first starts a child. All threads share variables on their
/// stacks.
const STACKS: &str = "#include <pthread.h>
#include <stdatomic.h>
static atomic_int shared;
static void *child(void *other) { atomic_fetch_add((atomic_int *)other, 1); return 0; }
static void *parent(void *other) {
    atomic_int own = 0;
    pthread_t thread;
    if (atomic_fetch_add(&shared, 1) == 0) {
        pthread_create(&thread, 0, child, other);
        pthread_join(thread, 0);
    }
    pthread_create(&thread, 0, child, &own);
    atomic_fetch_add(&own, 1);
    pthread_join(thread, 0);
    return 0;
}
int main(void) {
    pthread_t threads[2];
    atomic_int own = 0;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, parent, &own);
    atomic_fetch_add(&own, 1);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}
";

/// Stores descriptor numbers. The checkpoint's file must not change them.
const DESCRIPTORS: &str = "#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int shared;
static void *opens(void *unused) {
    int file = open(\"/dev/null\", O_RDONLY);
    if (atomic_exchange(&shared, file) > file) atomic_fetch_add(&shared, file);
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, opens, NULL);
    opens(NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}
";

#[test]
fn a_search_goes_on_in_another_process_wherever_it_was_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    let executable = folder.path().join("program");
    let state = folder.path().join("state").display().to_string();
    for (number, program) in [POLLS, THREAD_LOCALS, STACKS, DESCRIPTORS]
        .into_iter()
        .enumerate()
    {
        fs::write(&source, program).unwrap();
        for (compiler, flag) in [("gcc", "-O0"), ("clang", "-O2")] {
            let Some(toolchain) = Toolchain::named(compiler) else {
                continue;
            };
            let flags = [flag.to_owned()];
            toolchain.build(&source, &flags, &executable).unwrap();
            for plain in ["race", "sc"] {
                let whole = check(&["--plain", plain, "--jobs", "1"], &executable, &[]).unwrap();
                for most in [1, 2, 3, 5, 8, 10, 12, 15, 20, 30, 50, 100, 300] {
                    let most = most.to_string();
                    let first = [
                        "--plain",
                        plain,
                        "--max-executions",
                        &most,
                        "--checkpoint",
                        &state,
                    ];
                    check(&first, &executable, &[]).unwrap();
                    let rest = ["--plain", plain, "--resume", &state, "--jobs", "2"];
                    let resumed = check(&rest, &executable, &[]).unwrap();
                    for field in ["verdict", "executions", "halted"] {
                        assert_eq!(
                            resumed[field], whole[field],
                            "{number} {plain} {most} {resumed}"
                        );
                    }
                }
            }
        }
    }
}
