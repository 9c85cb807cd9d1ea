//! The end of a program: each of its threads may end it, and other threads may still wait.

use crate::toolchain::{Toolchain, check};
use serde_json::Value;
use std::fs;

fn report(name: &str, source: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    let executable = folder.path().join("program");
    fs::write(&file, source).unwrap();
    let flags = ["-std=c++20".to_owned()];
    let flags = if name.ends_with("cpp") {
        &flags[..]
    } else {
        &[]
    };
    Toolchain::first().build(&file, flags, &executable).unwrap();
    check(&[], &executable, &[]).unwrap()
}

#[test]
fn nobody_joins_the_thread_that_ends_the_program() {
    for exit in ["exit", "_exit", "_Exit"] {
        let source = format!(
            "#include <assert.h>
             #include <pthread.h>
             #include <stdlib.h>
             #include <unistd.h>
             static void *ends(void *p) {{ {exit}(0); return p; }}
             int main(void) {{
                 pthread_t thread;
                 pthread_create(&thread, NULL, ends, NULL);
                 pthread_join(thread, NULL);
                 assert(!\"the program has ended\");
             }}"
        );
        let report = report("ends.c", &source);
        assert_eq!(report["verdict"], "verified", "{exit}: {report}");
        assert_eq!(report["executions"], 1, "{exit}: {report}");
    }
}

#[test]
fn handlers_run_where_a_thread_ends_the_program_and_others_run_on() {
    let source = "#include <assert.h>
         #include <pthread.h>
         #include <stdatomic.h>
         #include <stdlib.h>
         static atomic_int handled;
         static void handle(void) { atomic_store(&handled, 1); }
         static void *ends(void *p) { exit(0); return p; }
         int main(void) {
             atexit(handle);
             pthread_t thread;
             pthread_create(&thread, NULL, ends, NULL);
             assert(!atomic_load(&handled));
             pthread_join(thread, NULL);
         }";
    let report = report("handlers.c", source);
    assert_eq!(report["errors"][0]["kind"], "assertion", "{report}");
}

#[test]
fn memory_that_is_reallocated_to_nothing_is_given_back() {
    let source = "#include <stdlib.h>
         int main(void) { return realloc(malloc(5), 0) != NULL; }";
    let report = report("nothing.c", source);
    assert_eq!(report["verdict"], "verified", "{report}");
}

#[test]
fn objects_of_the_main_thread_are_destroyed_where_the_program_ends_before_its_handlers_run() {
    let source = "#include <cassert>
         #include <cstdlib>
         #include <vector>
         static int ends;
         struct Local { std::vector<int> memory = std::vector<int>(9); ~Local() { assert(ends++ == 0); } };
         static thread_local Local local;
         int main(int count, char **) {
             std::atexit([] { assert(ends++ == 1); });
             local.memory[0] = count;
             if (count > 5) std::exit(0);
         }";
    let report = report("local.cpp", source);
    assert_eq!(report["errors"], serde_json::json!([]), "{report}");
}

#[test]
fn handlers_run_when_the_last_thread_has_ended_where_the_main_thread_has_ended_before() {
    let source = |unseen: u32| {
        format!(
            "#include <assert.h>
             #include <pthread.h>
             #include <stdatomic.h>
             #include <stdlib.h>
             static atomic_int x;
             static void handle(void) {{ assert(x != {unseen}); }}
             static void *sets(void *p) {{ x = 10; return p; }}
             int main(void) {{
                 pthread_t thread;
                 atexit(handle);
                 pthread_create(&thread, NULL, sets, NULL);
                 pthread_exit(NULL);
             }}"
        )
    };
    assert_eq!(report("early.c", &source(0))["verdict"], "verified");
    assert_eq!(
        report("late.c", &source(10))["errors"][0]["kind"],
        "assertion"
    );
}

#[test]
fn errors_that_a_thread_causes_itself_are_reported_as_such() {
    for (does, message) in [
        ("raise(SIGSEGV)", "sends itself signal 11"),
        ("free(local)", "free of memory that belongs to a variable"),
        ("free(p)", "free of memory that belongs to a variable"),
        ("free(of_main)", "free of memory that belongs to a variable"),
        ("free(&kept)", "free of memory that belongs to a variable"),
        ("free(&errno)", "free of memory that belongs to a variable"),
        (
            "p = realloc(p, 8)",
            "realloc of memory that belongs to a variable",
        ),
        ("free(\"text\")", "free of memory that was not allocated"),
        ("free((void *)run)", "free of memory that was not allocated"),
        ("free(first)", "free of memory that was not allocated"),
        ("free((void *)8)", "free of memory that was not allocated"),
    ] {
        let source = format!(
            "#include <errno.h>
             #include <pthread.h>
             #include <signal.h>
             #include <stdlib.h>
             static int fixed[4];
             static _Thread_local int kept;
             static void *of_main, *first;
             static void *run(void *p) {{
                 int own[4];
                 void *volatile local = own;
                 {does};
                 return local == p ? p : NULL;
             }}
             int main(int count, char **words) {{
                 pthread_t thread;
                 of_main = &count;
                 first = words[0];
                 pthread_create(&thread, NULL, run, fixed);
                 return pthread_join(thread, NULL);
             }}"
        );
        let report = report("self.c", &source);
        let text = report["errors"][0]["message"].as_str();
        let text = text.unwrap_or_default();
        assert!(text.contains(message), "{does}: {report}");
    }
}

/// Each execution frees a block that was allocated before `main`, and a block that the C library
/// allocated.
#[test]
fn blocks_that_the_program_did_not_allocate_itself_can_be_freed() {
    let source = "#include <stdatomic.h>
        #include <pthread.h>
        #include <stdlib.h>
        #include <string.h>
        static char *early; static atomic_int x;
        __attribute__((constructor)) static void allocate(void) { early = malloc(10); }
        static void *run(void *p) { x++; return p; }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, NULL, run, NULL);
            x++;
            pthread_join(thread, NULL);
            strcpy(early, \"early\");
            free(realloc(early, 100));
            free(realpath(\"/\", NULL));
        }";
    let report = report("early.c", source);
    assert_eq!(report["verdict"], "verified", "{report}");
    assert_eq!(report["executions"], 2);
}

#[test]
fn the_main_thread_is_joined_before_its_exit_handlers_run() {
    let source = "#include <assert.h>
         #include <pthread.h>
         #include <stdatomic.h>
         #include <stdlib.h>
         static pthread_t first;
         static int before;
         static atomic_int is_joined;
         static void handle(void) { assert(atomic_load(&is_joined)); }
         static void *joins(void *p) {
             void *result;
             assert(pthread_join(first, &result) == 0 && result == &before && before == 1);
             atomic_store(&is_joined, 1);
             return p;
         }
         static void *waits(void *p) { return p; }
         int main(void) {
             pthread_t threads[2];
             first = pthread_self();
             atexit(handle);
             pthread_create(&threads[0], NULL, joins, NULL);
             pthread_create(&threads[1], NULL, waits, NULL);
             before = 1;
             pthread_exit(&before);
         }";
    let report = report("joins.c", source);
    assert_eq!(report["verdict"], "verified", "{report}");
}

/// Returns a program with an exit handler and destructors, which check that they run in the right
/// order. The last one asserts this condition.
fn ends_with(asserted: &str) -> String {
    format!(
        "#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static int done;
static void handler(void) {{ assert(done == 0); done = 1; }}
__attribute__((destructor(150))) static void last(void) {{ assert(done == 3); assert({asserted}); }}
__attribute__((destructor)) static void first(void) {{ assert(done == 1); done = 2; }}
__attribute__((destructor(200))) static void second(void) {{ assert(done == 2); done = 3; }}
static void *thread(void *unused) {{ return unused; }}
int main(void) {{
    pthread_t other;
    atexit(handler);
    pthread_create(&other, NULL, thread, NULL);
    pthread_join(other, NULL);
    return 0;
}}
"
    )
}

#[test]
fn destructors_of_the_program_run_at_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    let executable = folder.path().join("program");
    for (asserted, expected) in [("done", None), ("!done", Some("assertion"))] {
        fs::write(&source, ends_with(asserted)).unwrap();
        for compiler in ["gcc", "clang"] {
            let Some(toolchain) = Toolchain::named(compiler) else {
                continue;
            };
            toolchain.build(&source, &[], &executable).unwrap();
            let report = check(&[], &executable, &[]).unwrap();
            let kind = report["errors"][0]["kind"].as_str();
            assert_eq!(kind, expected, "{compiler}: {report}");
        }
    }
}
