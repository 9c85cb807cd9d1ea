//! With `--plain sc`, plain accesses are events, but freeing memory is not, even if other threads
//! access the memory.

use crate::toolchain::{Toolchain, check};
use serde_json::Value;
use std::fs;

/// Returns a program in which one thread uses a block and another frees it.
fn program(uses: &str, gives_back: &str) -> String {
    format!(
        "#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static int *block, seen, is_done;
static atomic_int told;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *uses(void *p) {{ {uses} return p; }}
static void *gives_back(void *p) {{ {gives_back} return p; }}
int main(void) {{
    pthread_t threads[2];
    block = calloc(1, sizeof *block);
    pthread_create(&threads[0], NULL, uses, NULL);
    pthread_create(&threads[1], NULL, gives_back, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}}
"
    )
}

fn report(toolchain: &Toolchain, algorithm: &str, source: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("program.c");
    let executable = folder.path().join("program");
    fs::write(&file, source).unwrap();
    toolchain.build(&file, &[], &executable).unwrap();
    let options = ["--plain", "sc", "--algorithm", algorithm];
    check(&options, &executable, &[]).unwrap()
}

#[test]
fn an_access_that_may_come_after_the_end_of_its_memory_is_found_where_it_came_before() {
    let uses = [
        ("seen = *block;", "free(block);"),
        ("seen = *block;", "int *own = block; seen = 1; free(own);"),
        ("*block = 1;", "free(block);"),
        ("(*block)++; is_done = 1;", "is_done = 2; free(block);"),
    ];
    for (uses, gives_back) in uses {
        let found = report(Toolchain::first(), "optimal", &program(uses, gives_back));
        let kind = &found["errors"][0]["kind"];
        assert_eq!(kind, "use_after_free", "{uses} {gives_back} {found}");
    }
}

#[test]
fn memory_that_is_given_back_when_others_are_known_to_be_done_is_not_used_afterwards() {
    let orders = [
        (
            "seen = *block; is_done = 1;",
            "if (is_done) free(block); else seen = 2;",
        ),
        (
            "*block = 1; atomic_store_explicit(&told, 1, memory_order_relaxed);",
            "if (atomic_load_explicit(&told, memory_order_relaxed)) free(block); else exit(0);",
        ),
        (
            "pthread_mutex_lock(&lock); if (!is_done) *block = 1; pthread_mutex_unlock(&lock);",
            "pthread_mutex_lock(&lock); is_done = 1; free(block); pthread_mutex_unlock(&lock);",
        ),
    ];
    for (uses, gives_back) in orders {
        for algorithm in ["optimal", "parsimonious"] {
            let found = report(Toolchain::first(), algorithm, &program(uses, gives_back));
            assert_eq!(found["verdict"], "verified", "{uses} {gives_back} {found}");
        }
    }
}

/// In one execution, a copy fails between its two hooks. The other executions begin with reads.
const FAILS_IN_A_COPY: &str = "#include <pthread.h>
#include <stdlib.h>
struct numbers { int n[10]; };
static struct numbers target, *source;
static int flag, seen, is_gone;
static void *gives_back(void *p) { is_gone = flag; if (is_gone) free(source); return p; }
static void *writes(void *p) { flag = 1; return p; }
static void *reads(void *p) { seen = flag; return p; }
int main(void) {
    pthread_t threads[3];
    source = calloc(1, sizeof *source);
    pthread_create(&threads[0], NULL, gives_back, NULL);
    pthread_create(&threads[1], NULL, writes, NULL);
    pthread_create(&threads[2], NULL, reads, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    target = *source;
    pthread_join(threads[2], NULL);
    if (!is_gone) free(source);
    return 0;
}
";

#[test]
fn a_copy_from_memory_that_was_given_back_leaves_nothing_to_the_next_execution() {
    for algorithm in ["optimal", "parsimonious", "exhaustive"] {
        let found = report(Toolchain::first(), algorithm, FAILS_IN_A_COPY);
        assert_eq!(found["errors"].as_array().unwrap().len(), 1, "{found}");
        assert_eq!(found["errors"][0]["kind"], "use_after_free", "{found}");
        if algorithm != "exhaustive" {
            assert_eq!(found["executions"], 4, "{found}");
        }
    }
}
