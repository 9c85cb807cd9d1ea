//! Symmetry reduction of C programs: numbers of executions that are known from theory, and programs
//! that tell their threads apart, whose bugs must still be found.

use crate::toolchain::{Toolchain, check};
use serde_json::Value;
use std::fs;

/// Starts `threads` threads that all run `body`, and joins them.
fn program(threads: usize, globals: &str, body: &str, end: &str) -> String {
    format!(
        "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
enum {{ THREADS = {threads} }};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_t threads[THREADS];
{globals}
static void *thread(void *argument) {{ {body}; return NULL; }}
int main(void) {{
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, thread, NULL);
    {end}
}}
"
    )
}

const JOINS: &str = "for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);";

fn reports(source: &str, options: &[&str]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let [file, executable] = ["program.c", "program"].map(|name| folder.path().join(name));
    fs::write(&file, source).unwrap();
    let toolchains = ["gcc", "clang"].into_iter().filter_map(Toolchain::named);
    let reports = toolchains.map(|toolchain| {
        toolchain.build(&file, &[], &executable).unwrap();
        check(options, &executable, &[]).unwrap()
    });
    reports.collect()
}

#[test]
fn identical_threads_are_explored_up_to_permutation() {
    let add = "atomic_fetch_add(&number, 1)";
    let locked = "pthread_mutex_lock(&mutex); number++; pthread_mutex_unlock(&mutex)";
    let spin = "while (atomic_exchange(&lock, 1)); number++; atomic_store(&lock, 0)";
    let barrier = "number++; pthread_barrier_wait(&barrier); assert(number == THREADS)";
    let ticket = "int own = atomic_fetch_add(&next, 1); while (atomic_load(&lock) != own); number++; \
                  atomic_store(&lock, own + 1)";
    for (threads, body, traces, orbits) in [
        (5, add.to_owned(), 120, 1),
        (4, locked.to_owned(), 24, 1),
        (3, format!("{locked}; {locked}"), 90, 15),
        (3, spin.to_owned(), 6, 1),
        (3, ticket.to_owned(), 6, 1),
        (3, barrier.to_owned(), 6, 1),
        (4, "int old = number; number = old + 1".to_owned(), 576, 24),
    ] {
        let end = format!("{JOINS} return number > THREADS * 2;");
        let globals = "static atomic_int number, lock, next;";
        let source = program(threads, globals, &body, &end);
        let count = |options: &[&str]| {
            let counts = reports(&source, options).into_iter().map(|report| {
                assert_eq!(report["verdict"], "verified", "{body}: {report}");
                let all = report["executions"].as_u64().unwrap();
                let halted = report["halted"].as_u64().unwrap_or_default();
                (all, halted, report["symmetry"] == true)
            });
            counts.collect::<Vec<_>>()
        };
        for (all, _, symmetry) in count(&["--jobs", "1"]) {
            assert_eq!((all, symmetry), (traces, false), "{body}");
        }
        for jobs in ["1", "2"] {
            for (all, _, symmetry) in count(&["--reductions", "symmetry", "--jobs", jobs]) {
                assert_eq!((all, symmetry), (orbits, true), "{body}");
            }
        }
    }
}

#[test]
fn threads_that_the_program_tells_apart_are_not_exchanged() {
    let first = "int old = atomic_fetch_add(&number, 1); if (old) late = 1; else early = 1";
    let own = "pthread_mutex_lock(&mutex); last = pthread_self(); pthread_mutex_unlock(&mutex)";
    let number = "pthread_mutex_lock(&mutex); last = gettid(); pthread_mutex_unlock(&mutex)";
    let result = "return (void *)(long)atomic_fetch_add(&number, 1)";
    let waits = "if (atomic_fetch_add(&number, 1) == 0) while (!never)";
    for (body, end) in [
        // The second thread comes first.
        (
            first,
            "pthread_join(threads[0], NULL); int is_early = early; assert(is_early || !late); \
             pthread_join(threads[1], NULL);",
        ),
        (
            own,
            "pthread_join(threads[0], NULL); pthread_join(threads[1], NULL); \
             assert(pthread_equal(last, threads[1]));",
        ),
        (
            number,
            "pthread_join(threads[0], NULL); pthread_join(threads[1], NULL); assert(last != 1001);",
        ),
        (
            result,
            "void *one, *other; pthread_join(threads[0], &one); pthread_join(threads[1], &other); \
             assert((long)one < (long)other);",
        ),
        // The first thread ends only if it comes second. The parent does not wait for the other.
        (waits, "pthread_join(threads[0], NULL); assert(0);"),
    ] {
        let globals = "#define _GNU_SOURCE\n#include <unistd.h>\npid_t gettid(void);\n\
                       static atomic_int number, early, late, never; static pthread_t last;";
        let source = program(2, globals, body, &format!("{end} return 0;"));
        for symmetry in ["none", "symmetry"] {
            for report in reports(&source, &["--reductions", symmetry]) {
                let errors = report["errors"].as_array().unwrap();
                let is_found = errors.iter().any(|error| error["kind"] == "assertion");
                assert!(is_found, "{symmetry} {body}: {report}");
            }
        }
    }
}
