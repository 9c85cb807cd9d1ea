//! Accesses of every type and in every statement are seen, whether or not the compiler inserts a
//! hook. Two threads perform the same operation, so by the C standard there is a data race, and
//! each update can be lost.

use crate::toolchain::{Toolchain, check};
use std::fs;

/// The name of each operation, by number, and whether it is an update that can be lost.
const OPERATIONS: [(&str, bool); 15] = [
    ("int", true),
    ("long double", true),
    ("vector of 32 bytes", true),
    ("result of a function that is a structure", true),
    ("bit-field", true),
    ("24 bits", true),
    ("40 bits", true),
    ("heap", true),
    ("thread-local memory of main", true),
    ("inline assembly", true),
    ("copied structure", true),
    ("complex long double", true),
    ("expected value of a failing compare-exchange", false),
    ("__builtin_memset", false),
    ("result of an atomic load of 24 bytes", false),
];

const PROGRAM: &str = "
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
typedef int vector __attribute__((vector_size(32)));
struct small { int n; };
struct fields { unsigned a : 5, b : 7, c : 20; };
struct large { long n[5]; };
struct three { long n[3]; };
static int i, expected, assembly, *heap, *local;
static __thread int own;
static atomic_int one = 1;
static long double wide;
static _Complex long double complex;
static vector v;
static struct small small;
static struct fields fields;
static struct __attribute__((packed)) { unsigned b : 24; } bits24;
static struct __attribute__((packed)) { unsigned long b : 40; } bits40;
static struct large large;
static struct three shared, result;
static char filled[24];
__attribute__((noinline)) static struct small next(struct small s) { s.n++; return s; }
static int load(int *p) { int r; __asm__ volatile(\"movl %1, %0\" : \"=r\"(r) : \"m\"(*p) : \"memory\"); return r; }
static void store(int *p, int n) { __asm__ volatile(\"movl %1, %0\" : \"=m\"(*p) : \"r\"(n) : \"memory\"); }
static void operate(int operation) {
    switch (operation) {
    case 0: i++; break;
    case 1: wide = wide + 1; break;
    case 2: v = v + 1; break;
    case 3: small = next(small); break;
    case 4: fields.b++; break;
    case 5: bits24.b++; break;
    case 6: bits40.b++; break;
    case 7: ++*heap; break;
    case 8: ++*local; break;
    case 9: store(&assembly, load(&assembly) + 1); break;
    case 10: { struct large copy = large; copy.n[0]++; large = copy; break; }
    case 11: complex = complex + 1; break;
    case 12: atomic_compare_exchange_strong(&one, &expected, 2); break;
    case 13: __builtin_memset(filled, 0, 24); break;
    case 14: __atomic_load(&shared, &result, __ATOMIC_SEQ_CST); break;
    }
}
static long value(int operation) {
    switch (operation) {
    case 0: return i;
    case 1: return wide;
    case 2: return v[0];
    case 3: return small.n;
    case 4: return fields.b;
    case 5: return bits24.b;
    case 6: return bits40.b;
    case 7: return *heap;
    case 8: return *local;
    case 9: return load(&assembly);
    case 10: return large.n[0];
    case 11: return complex;
    case 13: return filled[0] + 2;
    default: return 2;
    }
}
static void *runs(void *operation) { operate((int)(long)operation); return 0; }
int main(int count, char **arguments) {
    int operation = arguments[count - 1][0] - 'a';
    pthread_t threads[2];
    heap = calloc(1, sizeof *heap);
    local = &own;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, runs, (void *)(long)operation);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    assert(value(operation) == 2);
    free(heap);
}
";

fn every_operation_is_seen(compiler: &str, flags: &[&str]) {
    let Some(toolchain) = Toolchain::named(compiler) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let [file, executable] = ["program.c", "program"].map(|name| folder.path().join(name));
    fs::write(&file, PROGRAM).unwrap();
    let mut flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
    flags.extend(["-w", "-Wl,--no-as-needed", "-latomic"].map(str::to_owned));
    toolchain.build(&file, &flags, &executable).unwrap();
    for (number, (operation, is_update)) in (b'a'..).zip(OPERATIONS) {
        let argument = [char::from(number).to_string()];
        let report = check(&[], &executable, &argument).unwrap();
        let errors = report["errors"].as_array().cloned().unwrap_or_default();
        let races = errors.iter().any(|error| error["kind"] == "data_race");
        assert!(
            races,
            "{compiler} {flags:?}: no race of {operation}: {report}"
        );
        if is_update {
            let report = check(&["--plain", "sc"], &executable, &argument).unwrap();
            let errors = report["errors"].as_array().cloned().unwrap_or_default();
            let is_lost = errors.iter().any(|error| error["kind"] == "assertion");
            assert!(
                is_lost,
                "{compiler} {flags:?}: no lost update of {operation}: {report}"
            );
        }
    }
}

#[test]
fn gcc_without_optimization() {
    every_operation_is_seen("gcc", &["-O0"]);
}

#[test]
fn gcc_with_optimization_and_checked_library_calls() {
    every_operation_is_seen("gcc", &["-O2", "-D_FORTIFY_SOURCE=2"]);
}

#[test]
fn clang_without_optimization() {
    every_operation_is_seen("clang", &["-O0"]);
}

#[test]
fn clang_with_optimization_and_checked_library_calls() {
    every_operation_is_seen("clang", &["-O2", "-D_FORTIFY_SOURCE=2"]);
}

/// Functions are found through the unwinding tables.
#[test]
fn stripped_by_gcc() {
    every_operation_is_seen("gcc", &["-O1", "-s"]);
}

#[test]
fn stripped_by_clang() {
    every_operation_is_seen("clang", &["-O1", "-s"]);
}

#[test]
fn a_program_without_symbols_and_unwinding_tables_is_not_verified() {
    let folder = tempfile::tempdir().unwrap();
    let [file, executable] = ["program.c", "program"].map(|name| folder.path().join(name));
    let source = "static int x; int main(int count, char **arguments) { x = count; return x - 1; }";
    fs::write(&file, source).unwrap();
    for (flags, verdict) in [
        (vec!["-s"], "verified"),
        (vec!["-fno-asynchronous-unwind-tables"], "verified"),
        (vec!["-fno-asynchronous-unwind-tables", "-s"], "bounded"),
    ] {
        let flags: Vec<String> = flags.into_iter().map(str::to_owned).collect();
        Toolchain::first()
            .build(&file, &flags, &executable)
            .unwrap();
        let report = check(&[], &executable, &[]).unwrap();
        assert_eq!(report["verdict"], verdict, "{flags:?}: {report}");
        if verdict == "bounded" {
            assert_eq!(report["limits"][0], "unseen", "{report}");
            let report = check(&["--accept", "unseen"], &executable, &[]).unwrap();
            assert_eq!(report["verdict"], "verified", "{report}");
        }
    }
}

#[test]
fn a_load_that_clang_leaves_behind_its_hook_is_no_access_of_its_own() {
    // The address of the loop's load stays in a register, and padding precedes the loop.
    let source = "
        #include <pthread.h>
        static long flag;
        static int round, least;
        __attribute__((noinline)) static int rounds(int *place) { return *place; }
        static void *raise(void *argument) { __atomic_store_n(&flag, 1, 5); return argument; }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, raise, 0);
            while (__atomic_load_n((int *)&flag, 5) != 1)
                if (rounds(&round) < least) round = rounds(&round) + 1;
            pthread_join(thread, 0);
        }";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("program.c");
    fs::write(&file, source).unwrap();
    for name in ["gcc", "clang"] {
        let Some(toolchain) = Toolchain::named(name) else {
            continue;
        };
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            let executable = folder.path().join(format!("{name}{level}"));
            toolchain
                .build(&file, &[level.to_owned()], &executable)
                .unwrap();
            let report = check(&[], &executable, &[]).unwrap();
            assert_eq!(report["verdict"], "verified", "{name} {level}: {report}");
        }
    }
}
