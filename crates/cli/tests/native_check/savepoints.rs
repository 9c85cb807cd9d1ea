//! Executions that begin in the middle of other executions, at *savepoints*. For a program that may
//! change more than its memory, the search uses no savepoints. It must find the same executions.

use crate::toolchain::{Toolchain, check};
use serde_json::Value;
use std::fs;
use std::process::Command;

/// Locks, conditions, a heap, thread-local memory, exit handlers, and a bug in some interleavings.
const SOURCE: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static atomic_int turns;
static int *cells[3];
static int count;
static _Thread_local int own = 5;

static void *fill(void *number) {
    int *cell = malloc(sizeof *cell);
    *cell = own++ + (int)(long)number;
    pthread_mutex_lock(&lock);
    cells[count++] = cell;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
    int seen = atomic_load(&turns);
    atomic_store(&turns, seen + 1);
    assert(own == 6);
    return NULL;
}

static void last(void) { assert(count == 0); }

int main(void) {
#ifdef OPENS_FILES
    if (count > 0)
        fclose(fopen("never", "r"));
#endif
    atexit(last);
    pthread_t threads[2];
    for (long number = 0; number < 2; number++)
        pthread_create(&threads[number], NULL, fill, (void *)number);
    int sum = 0;
    for (int taken = 0; taken < 2; taken++) {
        pthread_mutex_lock(&lock);
        while (count == 0)
            pthread_cond_wait(&filled, &lock);
        sum += *cells[--count];
        free(cells[count]);
        pthread_mutex_unlock(&lock);
    }
    for (int number = 0; number < 2; number++)
        pthread_join(threads[number], NULL);
    assert(sum == 11);
#ifdef HAS_BUG
    assert(atomic_load(&turns) == 2);
#endif
    return 0;
}
"#;

/// Returns the counts of a check with these flags: executions, blocked ones, events, errors.
fn counted(algorithm: &str, flags: &[&str]) -> (u64, u64, u64, usize) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("cells.c"), SOURCE).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    Toolchain::first().stands_behind(&mut command);
    let output = command
        .args(["check", "cells.c", "--keep-going", "--format", "json"])
        .args(["--algorithm", algorithm, "--"])
        .args(flags)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let report: Value = serde_json::from_str(text.lines().last().unwrap_or_default())
        .unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    let number = |name: &str| report[name].as_u64().unwrap();
    (
        number("executions"),
        number("blocked"),
        number("events"),
        report["errors"].as_array().unwrap().len(),
    )
}

#[test]
fn programs_that_open_files_have_the_executions_of_those_that_do_not() {
    for algorithm in ["optimal", "parsimonious"] {
        for bug in [&[][..], &["-DHAS_BUG"]] {
            let confined = counted(algorithm, bug);
            let open = counted(algorithm, &[bug, &["-DOPENS_FILES"]].concat());
            assert_eq!(confined, open, "{algorithm} {bug:?}");
            assert!(confined.0 > 40 && confined.1 == 0, "{confined:?}");
            assert_eq!(confined.3 > 0, !bug.is_empty(), "{confined:?}");
        }
    }
}

/// In some executions, the third thread calls `strcpy` to write to the stack of main, which waits
/// meanwhile. The thread writes the same text to `copy`, with which main compares its stack.
const UNSEEN_WRITES: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static atomic_int x, y, z;
static char copy[8];

static void *first(void *box) {
    atomic_store(&y, 2);
    atomic_fetch_add(&x, 1);
    return box;
}

static void *second(void *box) {
    atomic_fetch_add(&y, 1);
    atomic_fetch_add(&z, 1);
    atomic_load(&y);
    atomic_fetch_add(&x, 1);
    return box;
}

static void *third(void *box) {
    int seen = atomic_load(&y);
    atomic_fetch_add(&x, 1);
    if (seen == 1) {
        strcpy(box, "one");
        strcpy(copy, "one");
    }
    atomic_store(&x, 2);
    atomic_store(&x, 1);
    atomic_load(&y);
    return box;
}

int main(void) {
    char box[8] = {0};
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, first, box);
    pthread_create(&threads[1], NULL, second, box);
    pthread_create(&threads[2], NULL, third, box);
    pthread_join(threads[1], NULL);
    pthread_join(threads[2], NULL);
    pthread_join(threads[0], NULL);
    assert(strcmp(box, copy) == 0);
    return 0;
}
"#;

#[test]
fn what_a_function_of_a_library_writes_to_the_stack_of_a_thread_that_waits_is_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    let executable = folder.path().join("program");
    fs::write(&source, UNSEEN_WRITES).unwrap();
    Toolchain::first().build(&source, &[], &executable).unwrap();
    for algorithm in ["optimal", "parsimonious", "source"] {
        for plain in ["race", "sc"] {
            let options = ["--algorithm", algorithm, "--plain", plain];
            let report = check(&options, &executable, &[]).unwrap();
            assert_eq!(report["verdict"], "verified", "{algorithm} {plain}");
            assert_eq!(report["executions"], 210, "{algorithm} {plain}");
        }
    }
}

/// A search that knows a failure repeats it before it starts again.
#[test]
fn a_search_that_starts_again_with_a_failure_uses_no_older_savepoint() {
    let source = "#include <pthread.h>
#include <stdatomic.h>
static atomic_int *lock, *data; static pthread_barrier_t b; static long results[2];
static void *one(void *p) { while (atomic_fetch_or(lock, 1) & 1) {} atomic_store(lock, 0); return p; }
static void *two(void *p) {
    while (atomic_load(lock) || atomic_exchange(lock, 1)) {}
    results[0] = atomic_load(data); atomic_store(lock, 0);
    while (atomic_load(lock) || atomic_exchange(lock, 1)) {}
    atomic_store(lock, 0);
    results[1] = pthread_barrier_wait(&b);
    return p;
}
int main(void) {
    pthread_t x, y; atomic_int first = 0, second = 0; lock = &first; data = &second;
    pthread_barrier_init(&b, 0, 2);
    pthread_create(&y, 0, two, 0); pthread_create(&x, 0, one, 0);
    pthread_join(y, 0); pthread_join(x, 0);
}
";
    for compiler in ["gcc", "clang"] {
        let Some(toolchain) = Toolchain::named(compiler) else {
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let (file, executable) = (folder.path().join("p.c"), folder.path().join("p"));
        fs::write(&file, source).unwrap();
        toolchain
            .build(&file, &["-O2".to_owned()], &executable)
            .unwrap();
        for memory in ["sc", "tso", "rc11"] {
            let options = ["--extra", "0", "--memory", memory];
            let report = check(&options, &executable, &[]).unwrap();
            assert_eq!(report["errors"][0]["kind"], "deadlock", "{compiler}");
        }
    }
}

#[test]
fn a_program_that_empties_all_buffers_can_have_savepoints() {
    let source = "#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_int a, b;
static void *run(void *p) { for (int i = 0; i < 3; i++) { a++; b = a; } fflush(NULL); a++; b++; fflush(NULL); return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); run(0); pthread_join(t, 0); }
";
    let folder = tempfile::tempdir().unwrap();
    let (file, executable) = (folder.path().join("p.c"), folder.path().join("p"));
    fs::write(&file, source).unwrap();
    Toolchain::first().build(&file, &[], &executable).unwrap();
    for memory in ["sc", "rc11"] {
        let options = ["--max-executions", "2000", "--memory", memory];
        let report = check(&options, &executable, &[]).unwrap();
        assert_eq!(report["errors"].as_array().unwrap().len(), 0, "{memory}");
    }
}
