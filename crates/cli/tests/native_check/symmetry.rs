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

const FIRST_COMES_FIRST: &str = "{ if (x++ == 0) y = 1; else z = 1; return 0; }";

/// Programs with a bug that occurs only if the second of two twins comes first, or the twins differ
/// in another way: further globals, the body of the twins, the body of `main`, the kind of the bug.
const TOLD_APART: [[&str; 4]; 19] = [
    // The parent starts a thread when it has joined only one twin, so this thread can run before
    // the other twin has ended.
    [
        "static void *reads(void *a) { int Y = y, Z = z; assert(Y || !Z); return 0; }",
        FIRST_COMES_FIRST,
        "pthread_t r; C(0); C(1); J(0); pthread_create(&r, 0, reads, 0); J(1); pthread_join(r, 0);",
        "assertion",
    ],
    [
        "",
        "{ int r = x++; if (r == 0) y = 1; else if (r == 1) z = 1; else { int Y = y, Z = z; assert(Y || !Z); } \
         return 0; }",
        "C(0); C(1); J(0); C(2); J(1); J(2);",
        "assertion",
    ],
    // Clocks.
    [
        "",
        "{ if (x++ == 1) { struct timespec s = {5, 0}; nanosleep(&s, 0); } return 0; }",
        "struct timespec a, b; C(0); C(1); clock_gettime(CLOCK_MONOTONIC, &a); J(0); \
         clock_gettime(CLOCK_MONOTONIC, &b); J(1); assert(b.tv_sec - a.tv_sec < 4);",
        "assertion",
    ],
    [
        "",
        "{ struct timespec b; int r = x++; clock_gettime(CLOCK_MONOTONIC, &b); \
         assert(r || b.tv_sec <= *(long *)a + 3); return 0; }",
        "static struct timespec b; clock_gettime(CLOCK_MONOTONIC, &b); pthread_create(t, 0, f, &b); sleep(5); \
         pthread_create(t + 1, 0, f, &b); J(0); J(1);",
        "assertion",
    ],
    // Joins of oneself.
    [
        "",
        "{ if (x++ == 0) assert(pthread_join(t[0], 0) == EDEADLK); return 0; }",
        "C(0); C(1); pthread_exit(0);",
        "assertion",
    ],
    [
        "",
        "{ if (x++ == 1) { while (!y); assert(pthread_tryjoin_np(t[1], 0) == EBUSY); } else y = 1; return 0; }",
        "C(0); C(1); pthread_exit(0);",
        "assertion",
    ],
    // An atomic decides which twins the parent joins.
    [
        "static atomic_int mode, flag; static void *sets(void *a) { flag = 1; return 0; }",
        "{ int m; while (!(m = mode)); int r = x++; if (m == 2 && r == 0) __VERIFIER_assume(0); return 0; }",
        "pthread_t u; C(0); C(1); pthread_create(&u, 0, sets, 0); int now = flag; mode = 1 + now; \
         if (now) { J(0); assert(0); } J(0); J(1); pthread_join(u, 0);",
        "assertion",
    ],
    // What a thread is given by its parent.
    [
        "",
        "{ sigset_t s; int r = x++; pthread_sigmask(SIG_SETMASK, 0, &s); assert(r || !sigismember(&s, SIGUSR1)); \
         return 0; }",
        "sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR1); C(0); pthread_sigmask(SIG_BLOCK, &s, 0); C(1); J(0); \
         J(1);",
        "assertion",
    ],
    [
        "static __attribute__((noinline)) int deep(int n) { volatile char b[4096]; b[0] = n; \
         return n ? deep(n - 1) + b[0] : 0; }",
        "{ if (x++ == 0) deep(100); return 0; }",
        "pthread_attr_t small; pthread_attr_init(&small); pthread_attr_setstacksize(&small, 65536); C(0); \
         pthread_create(&t[1], &small, f, 0); J(0); J(1);",
        "stack_overflow",
    ],
    // The parent uses the result of one twin and ends, stops or waits for another thread.
    [
        "",
        "{ return (void *)(long)x++; }",
        "void *r; C(0); C(1); pthread_join(t[0], &r); assert(!r); exit(0);",
        "assertion",
    ],
    [
        "",
        "{ return (void *)(long)x++; }",
        "void *r; C(0); C(1); pthread_join(t[0], &r); __VERIFIER_assume(r); assert(0);",
        "assertion",
    ],
    [
        "static void *stops(void *a) { __VERIFIER_assume(0); return 0; }",
        "{ return (void *)(long)x++; }",
        "pthread_t u; void *r; C(0); C(1); pthread_create(&u, 0, stops, 0); pthread_join(t[0], &r); \
         if (!r) pthread_join(u, 0); assert(!r); J(1);",
        "assertion",
    ],
    [
        "static void handler(void) {}",
        "{ return (void *)(long)x++; }",
        "void *r; atexit(handler); C(0); C(1); pthread_join(t[0], &r); assert(!r); pthread_exit(0);",
        "assertion",
    ],
    [
        "",
        "{ return (void *)(long)(x++ == 1); }",
        "void *r; C(0); C(1); pthread_join(t[0], &r); if (r) assert(0); pthread_detach(t[1]); exit(0);",
        "assertion",
    ],
    // The parent reads plain memory before it has joined both twins.
    [
        "static int p;",
        "{ int r = x++; if (r == 1) p = 1; return 0; }",
        "C(0); C(1); J(1); int q = p; J(0); return q > 5;",
        "data_race",
    ],
    [
        "static int p;",
        "{ int r = x++; if (r == 0) { if (y) p = 1; } else y = 1; return 0; }",
        "C(0); C(1); J(0); int q = p; J(1); return q > 5;",
        "data_race",
    ],
    // Random numbers and thread IDs.
    [
        "",
        "{ unsigned char c; int r = x++; getrandom(&c, 1, 0); if (r == 0) y = c; else z = c; return 0; }",
        "C(0); C(1); J(0); J(1); assert(y >= z);",
        "assertion",
    ],
    [
        "",
        "{ cpu_set_t s; int r = x++; CPU_ZERO(&s); CPU_SET(0, &s); if (r == 0) { sched_setaffinity(1001, sizeof s, &s); \
         sched_getaffinity(0, sizeof s, &s); assert(CPU_COUNT(&s) == 1); } return 0; }",
        "C(0); C(1); J(0); J(1);",
        "assertion",
    ],
    // One of several bugs.
    [
        "",
        FIRST_COMES_FIRST,
        "C(0); C(1); J(0); int Y = y, Z = z; assert(!(Y && !Z)); assert(!(Y && Z)); assert(Y || !Z); J(1);",
        "assertion",
    ],
];

#[test]
fn programs_in_which_twins_differ_keep_their_bugs() {
    for [globals, twin, main, kind] in TOLD_APART {
        let source = format!(
            "#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#define C(i) pthread_create(&t[i], 0, f, 0)
#define J(i) pthread_join(t[i], 0)
void __VERIFIER_assume(int);
static atomic_int x, y, z;
static pthread_t t[3];
{globals}
static void *f(void *a) {twin}
int main(void) {{ {main} return 0; }}
"
        );
        let counts = |symmetry| -> Vec<usize> {
            let reports = reports(&source, &["--reductions", symmetry]).into_iter();
            let counts = reports.map(|report| {
                let errors = report["errors"].as_array().unwrap();
                assert!(!errors.is_empty(), "{symmetry} {main}: {report}");
                for error in errors {
                    assert_eq!(error["kind"], kind, "{symmetry} {main}: {report}");
                }
                errors.len()
            });
            counts.collect()
        };
        assert_eq!(counts("none"), counts("symmetry"), "{main}");
    }
}
