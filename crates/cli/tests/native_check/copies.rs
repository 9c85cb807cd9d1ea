//! Copies of structures, with interleaving of plain accesses.

use crate::toolchain::{Toolchain, check};
use serde_json::Value;
use std::fs;

/// A structure is copied while another thread reads the target and writes the source. The argument
/// is the forbidden outcome.
const AT_ONCE: &str = "
#include <assert.h>
#include <pthread.h>
struct numbers { long n[WORDS]; };
static struct numbers target, source = {{1, [WORDS - 1] = 1}};
static void *copies(void *p) { struct numbers *to = &target, *from = &source; *to = *from; return p; }
int main(int count, char **words) {
    pthread_t thread;
    pthread_create(&thread, 0, copies, 0);
    long seen = target.n[WORDS - 1];
    source.n[0] = 2;
    pthread_join(thread, 0);
    assert(count < 2 || words[1][0] - '0' != seen || words[1][1] - '0' != target.n[0]);
    return 0;
}
";

/// Copies zeros to a local variable. Other threads may have the address of the variable or of a
/// part of it.
const OF_ZEROS: &str = "
#include <pthread.h>
struct numbers { long n[9]; };
static struct numbers shared;
static void *writes(void *p) { shared.n[8] = 1; return p; }
static void looks(struct numbers *numbers) { *numbers = shared; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writes, 0);
    struct numbers local;
    looks(&local);
    pthread_join(thread, 0);
    return 0;
}
";

fn report(toolchain: &Toolchain, source: &str, flag: &str, argument: Option<&str>) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("program.c");
    let executable = folder.path().join("program");
    fs::write(&file, source).unwrap();
    let flags = [flag.to_owned()];
    toolchain.build(&file, &flags, &executable).unwrap();
    let arguments: Vec<String> = argument.map(str::to_owned).into_iter().collect();
    check(&["--plain", "sc"], &executable, &arguments).unwrap()
}

#[test]
fn a_structure_that_gcc_copies_inline_is_one_write_of_both_places() {
    let Some(gcc) = Toolchain::named("gcc") else {
        return;
    };
    for words in [2, 3, 5, 100] {
        let flag = format!("-DWORDS={words}");
        let all = report(gcc, AT_ONCE, &flag, None);
        assert_eq!(all["executions"], 3, "{words}: {all}");
        for (outcome, verdict) in [
            ("01", "bug"),
            ("02", "bug"),
            ("11", "bug"),
            ("12", "verified"),
        ] {
            let found = report(gcc, AT_ONCE, &flag, Some(outcome));
            assert_eq!(found["verdict"], verdict, "{words}, {outcome}: {found}");
        }
    }
}

#[test]
fn a_structure_that_clang_copies_by_a_call_is_copied_word_by_word() {
    let Some(clang) = Toolchain::named("clang") else {
        return;
    };
    // There is one execution for each order of main's two accesses with the read of the first word
    // and the write of the last word.
    let all = report(clang, AT_ONCE, "-DWORDS=3", None);
    assert_eq!(all["executions"], 4, "{all}");
}

#[test]
fn a_thread_gets_on_with_a_copy_of_equal_words() {
    for compiler in ["gcc", "clang"] {
        let Some(toolchain) = Toolchain::named(compiler) else {
            continue;
        };
        let all = report(toolchain, OF_ZEROS, "-O0", None);
        assert_eq!(all["verdict"], "verified", "{compiler}: {all}");
        assert_eq!(all["halted"], 0, "{compiler}: {all}");
        assert_eq!(all["executions"], 2, "{compiler}: {all}");
    }
}

/// Main swaps two structures through a copy on its stack, then waits for a signal that never comes.
const TO_OWN_STACK: &str = "
#include <pthread.h>
struct word { long n; };
static struct word shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static void swap(struct word *one, struct word *other) {
    struct word old = *one, *kept = &old;
    *one = *other;
    *other = *kept;
}
static void *reads(void *p) { return shared.n ? p : 0; }
int main(void) {
    pthread_t thread;
    struct word own = {1};
    pthread_create(&thread, 0, reads, 0);
    swap(&shared, &own);
    pthread_mutex_lock(&lock);
    while (own.n == 0) pthread_cond_wait(&condition, &lock);
    return 0;
}
";

#[test]
fn what_is_copied_to_the_own_stack_is_a_read_in_the_search_and_in_its_report() {
    for toolchain in ["gcc", "clang"].into_iter().filter_map(Toolchain::named) {
        let report = report(toolchain, TO_OWN_STACK, "-O0", None);
        assert_eq!(report["verdict"], "bug");
        assert_eq!(report["errors"][0]["kind"], "deadlock");
    }
}
