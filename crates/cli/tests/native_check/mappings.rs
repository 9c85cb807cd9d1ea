//! Memory that a program maps itself.

use crate::toolchain::{Toolchain, check};
use std::fs;

/// Returns a program that runs `{thread}` and `{main}` concurrently, and then `{end}`.
fn program(thread: &str, main: &str, end: &str) -> String {
    format!(
        "#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
enum {{ SIZE = 1 << 20 }};
static sem_t done;
static int *shared, *last;
int value;
static atomic_int racing;
static int *mapped(void) {{
    void *new = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(new != MAP_FAILED);
    return new;
}}
static void own(int value) {{
    int *own = mapped();
    assert(own[7] == 0);
    own[7] = value;
    assert(own[7] == value);
    munmap(own, SIZE);
}}
static void *thread(void *unused) {{ {thread} return unused; }}
int main(void) {{
    pthread_t other;
    sem_init(&done, 0, 0);
    shared = mapped();
    pthread_create(&other, NULL, thread, NULL);
    {main}
    pthread_join(other, NULL);
    {end}
    return 0;
}}
"
    )
}

#[test]
fn newly_mapped_memory_is_distinguished_from_memory_that_was_there_before() {
    let toolchain = Toolchain::first();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    let executable = folder.path().join("program");
    let several = "for (int i = 0; i < 5; i++) racing++;";
    let unmaps = "munmap(shared, SIZE);";
    let cases = [
        // The memory stays mapped until the end.
        (
            several,
            several,
            "assert(shared[1] == 0); shared[1] = 1;",
            None,
        ),
        ("own(1);", "own(2);", unmaps, None),
        ("own(1); racing++;", "own(2); racing++;", unmaps, None),
        ("shared[0] = 1;", "", unmaps, None),
        ("shared[0]++;", "shared[0]++;", unmaps, Some("data_race")),
        ("shared[0] = 1;", unmaps, "", Some("crash")),
        (
            "if (!racing) shared[0] = 1;",
            "racing = 1; munmap(shared, SIZE);",
            "",
            Some("use_after_free"),
        ),
        (
            "shared[0] = 1; sem_post(&done);",
            "sem_wait(&done); munmap(shared, SIZE);",
            "",
            None,
        ),
        (
            "last = mapped(); last[0] = 3; sem_post(&done);",
            "sem_wait(&done); assert(last[0] == 3);",
            unmaps,
            None,
        ),
        (
            "",
            "",
            "munmap(shared, SIZE); shared[0] = 1;",
            Some("crash"),
        ),
        (
            "",
            "shared = mremap(shared, SIZE, 4 * SIZE, MREMAP_MAYMOVE); shared[SIZE / 2] = 1;",
            unmaps,
            None,
        ),
        (
            "shared[0] = 1;",
            "mremap(shared, SIZE, SIZE / 2, 0);",
            "",
            None,
        ),
        (
            "if (!racing) shared[SIZE / 4 - 1] = 1;",
            "racing = 1; mremap(shared, SIZE, SIZE / 2, 0);",
            "",
            Some("use_after_free"),
        ),
        // A change of the permitted accesses conflicts with those that it forbids or permits.
        (
            "mprotect(shared, 4096, PROT_READ);",
            "shared[0] = 1;",
            "",
            Some("data_race"),
        ),
        (
            "mprotect(shared, 4096, PROT_READ);",
            "value = shared[0];",
            "",
            None,
        ),
        (
            "mprotect(shared, 4096, PROT_NONE);",
            "value = shared[0];",
            "",
            Some("data_race"),
        ),
        (
            "mprotect(shared, 4096, PROT_READ | PROT_WRITE);",
            "shared[0] = 1;",
            "",
            None,
        ),
        (
            "syscall(SYS_mprotect, shared, 4096, PROT_READ);",
            "atomic_store((atomic_int *)shared, 1);",
            "",
            Some("crash"),
        ),
        (
            "mprotect(shared, 4096, PROT_READ); sem_post(&done);",
            "sem_wait(&done); value = shared[0];",
            "",
            None,
        ),
        // A change that fails, and one that does not change the page in question.
        (
            "assert(mprotect(shared, 4096, 1 << 14) == -1);",
            "shared[0] = 1;",
            "",
            None,
        ),
        (
            "mprotect(shared + 1024, 4096, PROT_READ); mprotect(shared, 8192, PROT_READ | PROT_WRITE);",
            "shared[0] = 1;",
            "",
            None,
        ),
        // Pages that are replaced get other values.
        (
            "mmap(shared, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);",
            "value = atomic_load((atomic_int *)shared);",
            "",
            Some("data_race"),
        ),
        (
            "mremap(mapped(), SIZE, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, shared);",
            "value = atomic_load((atomic_int *)shared);",
            "",
            Some("data_race"),
        ),
        (
            "mmap(shared, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0); sem_post(&done);",
            "sem_wait(&done); value = atomic_load((atomic_int *)shared);",
            "",
            None,
        ),
    ];
    for (thread, main, end, expected) in cases {
        fs::write(&source, program(thread, main, end)).unwrap();
        for flag in ["-O0", "-O2"] {
            let flags = [flag.to_owned()];
            toolchain.build(&source, &flags, &executable).unwrap();
            let report = check(&[], &executable, &[]).unwrap();
            let kind = report["errors"][0]["kind"].as_str();
            assert_eq!(kind, expected, "{thread} | {main} | {end} {flag}: {report}");
        }
    }
}
