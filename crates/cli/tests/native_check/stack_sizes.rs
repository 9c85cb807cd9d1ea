//! The sizes of the stacks of threads, and executable stacks for programs that require them.

use crate::toolchain::run_and_check;

/// Returns a program with one thread for each pair: the size of its stack (0 for the default), and
/// the number of bytes of the stack that the thread uses.
fn sized(threads: &[(usize, usize)]) -> String {
    let pairs: String = threads
        .iter()
        .map(|(size, used)| format!("{{{size}, {used}}}, "))
        .collect();
    format!(
        "#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
static size_t threads[][2] = {{ {pairs} }};
static __attribute__((noinline)) long use(long pages) {{
    volatile char page[16384];
    page[0] = 1;
    return pages > 0 ? use(pages - 1) + page[0] : 0;
}}
static void *run(void *p) {{
    size_t *own = p, size;
    void *start;
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &start, &size);
    assert((char *)start < (char *)&size && (char *)&size < (char *)start + size);
    assert(size >= own[0]);
    if (own[1] > 0) use((long)own[1] / 16384);
    return p;
}}
int main(void) {{
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {{
        pthread_attr_t attributes;
        pthread_t thread;
        pthread_attr_init(&attributes);
        if (threads[i][0] > 0)
            pthread_attr_setstacksize(&attributes, threads[i][0]);
        assert(!pthread_create(&thread, &attributes, run, threads[i]));
        pthread_join(thread, NULL);
    }}
    return 0;
}}
"
    )
}

const KIB: usize = 1 << 10;

#[test]
fn a_thread_has_the_stack_that_its_attributes_ask_for() {
    let enough = [
        (64 * KIB, 32 * KIB),
        (0, 4096 * KIB),
        (16 * KIB, 0),
        (32 << 20, 30 << 20),
    ];
    let too_small = [(0, 4096 * KIB), (64 * KIB, 200 * KIB)];
    for compiler in ["gcc", "clang"] {
        let Some((real, report)) = run_and_check(compiler, &sized(&enough)) else {
            continue;
        };
        assert!(real.success());
        assert_eq!(report["verdict"], "verified", "{compiler}: {report}");
        // In a real run, there may be other memory below the stack. Then the program continues.
        let (_, report) = run_and_check(compiler, &sized(&too_small)).expect("it was there");
        assert_eq!(
            report["errors"][0]["kind"], "stack_overflow",
            "{compiler}: {report}"
        );
        let message = report["errors"][0]["message"].to_string();
        assert!(message.contains("64 KiB"), "{message}");
    }
}

#[test]
fn one_thread_may_have_a_small_stack_in_some_executions_only() {
    let text = "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
static atomic_int x, y;
static __attribute__((noinline)) long use(long pages) {
    volatile char page[4096];
    page[0] = 1;
    return pages > 0 ? use(pages - 1) + page[0] : 0;
}
static void *set(void *p) { atomic_store(&x, 1); return p; }
static void *run(void *p) { use(p ? 4 : 500); atomic_fetch_add(&y, 1); use(p ? 4 : 500); return p; }
int main(void) {
    pthread_t one, two;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_create(&one, NULL, set, NULL);
    int is_small = atomic_load(&x);
    if (is_small) pthread_attr_setstacksize(&attributes, 65536);
    pthread_create(&two, &attributes, run, is_small ? &x : NULL);
    atomic_fetch_add(&y, 1);
    atomic_load(&y);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return atomic_load(&y) - 2;
}
";
    for compiler in ["gcc", "clang"] {
        if let Some((real, report)) = run_and_check(compiler, text) {
            assert!(real.success());
            assert_eq!(report["verdict"], "verified", "{compiler}: {report}");
            // The load of x comes before or after the store. The other thread's increment comes
            // before main's, after main's, or after the load of y.
            assert_eq!(report["executions"], 6, "{compiler}: {report}");
        }
    }
}

#[test]
fn nested_functions_run_on_stacks_that_hold_code() {
    let text = "#include <assert.h>
#include <pthread.h>
#include <stddef.h>
static int apply(int (*function)(int)) { return function(3); }
static void *run(void *p) {
    int k = 4;
    int add(int x) { return x + k; }
    assert(apply(add) == 7);
    return p;
}
int main(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    pthread_create(&thread, &attributes, run, NULL);
    run(NULL);
    return pthread_join(thread, NULL);
}
";
    if let Some((real, report)) = run_and_check("gcc", text) {
        assert!(real.success());
        assert_eq!(report["verdict"], "verified", "{report}");
    }
}
