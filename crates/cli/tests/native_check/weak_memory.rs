//! Programs in C and C++ under weak memory models, with published verdicts.

use crate::toolchain::{Toolchain, check};
use serde_json::Value;
use std::fs;

/// The start of each program: two threads `one` and `two`, which `both` runs to their ends.
const HEAD: &str = "
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define RLX memory_order_relaxed
#define ACQ memory_order_acquire
#define REL memory_order_release
#define SC memory_order_seq_cst
#define load(x, how) atomic_load_explicit(&(x), how)
#define store(x, value, how) atomic_store_explicit(&(x), value, how)
static void both(void *(*one)(void *), void *(*two)(void *)) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, two, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
";

/// Checks a program under a memory model. Returns the report, or the line that refuses the program.
fn report(
    toolchain: &Toolchain,
    name: &str,
    flags: &[&str],
    text: &str,
    memory: &str,
) -> Result<Value, String> {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join(name);
    let executable = folder.path().join("program");
    fs::write(&source, text).unwrap();
    let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
    toolchain.build(&source, &flags, &executable).unwrap();
    check(&["--memory", memory], &executable, &[])
}

/// Checks that each C program has a bug under the memory models next to it, and under no other
/// model.
fn expect(programs: &[(&str, &[&str])]) {
    for compiler in ["gcc", "clang"] {
        let Some(toolchain) = Toolchain::named(compiler) else {
            continue;
        };
        for (program, failing) in programs {
            let text = format!("{HEAD}{program}");
            for memory in ["sc", "tso", "ra", "rc11"] {
                let report = report(toolchain, "program.c", &[], &text, memory).unwrap();
                let expected = match failing.contains(&memory) {
                    true => "bug",
                    false => "verified",
                };
                assert_eq!(
                    report["verdict"], expected,
                    "{compiler}, {memory}:\n{program}\n{report:#}"
                );
            }
        }
    }
}

/// Returns the program in which two threads run these statements, with variables `x`, `y`, `a` and
/// `b`, and main checks the last statement.
fn two(one: &str, two: &str, end: &str) -> String {
    format!(
        "static atomic_int x, y; static int a = -1, b = -1;
static void *one(void *p) {{ {one} return p; }}
static void *two(void *p) {{ {two} return p; }}
int main(void) {{ both(one, two); {end} return 0; }}"
    )
}

#[test]
fn two_threads_read_what_their_orderings_allow() {
    let fence = "atomic_thread_fence(SC);";
    expect(&[
        // Store buffering.
        (
            &two(
                "store(x, 1, RLX); a = load(y, RLX);",
                "store(y, 1, RLX); b = load(x, RLX);",
                "assert(a || b);",
            ),
            &["tso", "ra", "rc11"],
        ),
        (
            &two(
                "store(x, 1, SC); a = load(y, SC);",
                "store(y, 1, SC); b = load(x, SC);",
                "assert(a || b);",
            ),
            &["ra"],
        ),
        (
            &two(
                &format!("store(x, 1, RLX); {fence} a = load(y, RLX);"),
                &format!("store(y, 1, RLX); {fence} b = load(x, RLX);"),
                "assert(a || b);",
            ),
            &["ra"],
        ),
        // Message passing.
        (
            &two(
                "store(x, 1, RLX); store(y, 1, RLX);",
                "if (load(y, ACQ)) assert(load(x, RLX));",
                "",
            ),
            &["rc11"],
        ),
        (
            &two(
                "store(x, 1, RLX); store(y, 1, REL);",
                "if (load(y, RLX)) assert(load(x, RLX));",
                "",
            ),
            &["rc11"],
        ),
        (
            &two(
                "store(x, 1, RLX); store(y, 1, REL);",
                "if (load(y, ACQ)) assert(load(x, RLX));",
                "",
            ),
            &[],
        ),
        (
            &two(
                "store(x, 1, RLX); atomic_thread_fence(REL); store(y, 1, RLX);",
                "if (load(y, RLX)) { atomic_thread_fence(ACQ); assert(load(x, RLX)); }",
                "",
            ),
            &[],
        ),
        // Load buffering, which no model here allows.
        (
            &two(
                "a = load(x, RLX); store(y, 1, RLX);",
                "b = load(y, RLX); store(x, 1, RLX);",
                "assert(!(a == 1 && b == 1));",
            ),
            &[],
        ),
        // 2+2W.
        (
            &two(
                "store(x, 1, RLX); store(y, 2, RLX);",
                "store(y, 1, RLX); store(x, 2, RLX);",
                "assert(!(load(x, RLX) == 1 && load(y, RLX) == 1));",
            ),
            &["ra", "rc11"],
        ),
        // Coherence of reads.
        (
            &two(
                "store(x, 1, RLX); store(x, 2, RLX);",
                "if (load(x, RLX) == 2) assert(load(x, RLX) == 2);",
                "",
            ),
            &[],
        ),
    ]);
}

#[test]
fn plain_memory_is_ordered_by_release_and_acquire_only() {
    let publication = |release: &str, acquire: &str| {
        format!(
            "static int data; static atomic_int flag;
static void *one(void *p) {{ data = 42; store(flag, 1, {release}); return p; }}
static void *two(void *p) {{ while (!load(flag, {acquire})); assert(data == 42); return p; }}
int main(void) {{ both(one, two); return 0; }}"
        )
    };
    expect(&[
        (&publication("REL", "ACQ"), &[]),
        (&publication("RLX", "ACQ"), &["sc", "tso", "rc11"]),
        (&publication("REL", "RLX"), &["sc", "tso", "rc11"]),
    ]);
}

/// After a plain write, reads do not return older values.
#[test]
fn plain_writes_between_phases_hide_old_values() {
    let phases = |again: &str| {
        format!(
            "struct {{ atomic_int x; long more; }} s;
static void *one(void *p) {{ store(s.x, 1, RLX); return p; }}
static void *two(void *p) {{ int r = load(s.x, RLX); assert(r == 0 || r == 1 || r == 5); return p; }}
static void *three(void *p) {{ assert(load(s.x, RLX) == 5); return p; }}
int main(void) {{ both(one, two); {again} both(three, three); return 0; }}"
        )
    };
    expect(&[
        (&phases("atomic_init(&s.x, 5);"), &[]),
        (&phases("*(int *)&s.x = 5;"), &[]),
        (&phases("int v = 5; memcpy((void *)&s, &v, sizeof v);"), &[]),
        (
            &phases("memset((void *)&s, 0, sizeof s); store(s.x, 5, RLX);"),
            &[],
        ),
        (
            "static void count(void) {
    atomic_int local = 0;
    atomic_int *p = malloc(sizeof *p);
    atomic_init(p, 7);
    atomic_fetch_add_explicit(&local, 1, RLX);
    atomic_fetch_add_explicit(p, 1, RLX);
    assert(load(local, RLX) == 1 && load(*p, RLX) == 8);
    free((void *)p);
}
static void *one(void *p) { count(); count(); return p; }
int main(void) { both(one, one); return 0; }",
            &[],
        ),
    ]);
}

#[test]
fn locks_signals_and_other_objects_order_relaxed_accesses() {
    expect(&[
        (
            "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static atomic_int x; static int is_there;
static void *one(void *p) { store(x, 1, RLX); pthread_mutex_lock(&lock); is_there = 1; pthread_cond_signal(&cond); pthread_mutex_unlock(&lock); return p; }
static void *two(void *p) { pthread_mutex_lock(&lock); while (!is_there) pthread_cond_wait(&cond, &lock); pthread_mutex_unlock(&lock); assert(load(x, RLX)); return p; }
int main(void) { both(one, two); return 0; }",
            &[],
        ),
        (
            "#include <semaphore.h>
static sem_t sem; static atomic_int x;
static void *one(void *p) { store(x, 1, RLX); sem_post(&sem); return p; }
static void *two(void *p) { sem_wait(&sem); assert(load(x, RLX)); return p; }
int main(void) { sem_init(&sem, 0, 0); both(one, two); return 0; }",
            &[],
        ),
        (
            "#include <semaphore.h>
static sem_t sem; static atomic_int x;
static void *one(void *p) { store(x, 1, RLX); sem_post(&sem); return p; }
static void *two(void *p) { if (!sem_trywait(&sem)) assert(load(x, RLX)); return p; }
int main(void) { sem_init(&sem, 0, 0); both(one, two); return 0; }",
            &[],
        ),
        (
            "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int x; static int is_there;
static void *one(void *p) { store(x, 1, RLX); pthread_mutex_lock(&lock); is_there = 1; pthread_mutex_unlock(&lock); return p; }
static void *two(void *p) { if (!pthread_mutex_trylock(&lock)) { if (is_there) assert(load(x, RLX)); pthread_mutex_unlock(&lock); } return p; }
int main(void) { both(one, two); return 0; }",
            &[],
        ),
        (
            "static pthread_once_t once = PTHREAD_ONCE_INIT; static atomic_int x;
static void set(void) { store(x, 1, RLX); }
static void *one(void *p) { pthread_once(&once, set); assert(load(x, RLX)); return p; }
int main(void) { both(one, one); return 0; }",
            &[],
        ),
        (
            "static pthread_barrier_t barrier; static atomic_int x, y;
static void *one(void *p) { store(x, 1, RLX); pthread_barrier_wait(&barrier); assert(load(y, RLX)); return p; }
static void *two(void *p) { store(y, 1, RLX); pthread_barrier_wait(&barrier); assert(load(x, RLX)); return p; }
int main(void) { pthread_barrier_init(&barrier, NULL, 2); both(one, two); return 0; }",
            &[],
        ),
        (
            "static atomic_flag lock = ATOMIC_FLAG_INIT; static int count;
static void *one(void *p) { while (atomic_flag_test_and_set_explicit(&lock, ACQ)); count++; atomic_flag_clear_explicit(&lock, REL); return p; }
int main(void) { both(one, one); assert(count == 2); return 0; }",
            &[],
        ),
        (
            "static atomic_flag lock = ATOMIC_FLAG_INIT; static int count;
static void *one(void *p) { while (atomic_flag_test_and_set_explicit(&lock, ACQ)); count++; atomic_flag_clear_explicit(&lock, RLX); return p; }
int main(void) { both(one, one); assert(count == 2); return 0; }",
            &["sc", "tso", "rc11"],
        ),
    ]);
}

/// Accesses to the state of C library functions are sequentially consistent.
#[test]
fn library_state_has_no_old_values() {
    expect(&[
        (
            "static atomic_int done;
static void *one(void *p) { setenv(\"NAME\", \"new\", 1); store(done, 1, REL); return p; }
static void *two(void *p) { if (load(done, ACQ)) assert(!strcmp(getenv(\"NAME\"), \"new\")); return p; }
int main(void) { setenv(\"NAME\", \"old\", 1); both(one, two); return 0; }",
            &[],
        ),
        // `dup2` uses two kinds of state. It takes effect after it has used both.
        (
            "#include <sys/ioctl.h>
#include <unistd.h>
static int from[2], other[2], count;
static void *one(void *p) { ioctl(from[0], FIONREAD, &count); assert(count == 0); return p; }
static void *two(void *p) { dup2(other[0], from[0]); return p; }
int main(void) {
    if (pipe(from) || pipe(other) || write(other[1], \"y\", 1) != 1) return 2;
    both(one, two);
    return 0;
}",
            &["sc", "tso", "ra", "rc11"],
        ),
    ]);
}

/// If the program publishes plain memory, the failure is a data race.
#[test]
fn the_orderings_that_prevent_a_failure_are_found() {
    let program = "static int value; static atomic_int flag;
static void *one(void *p) { value = 1; store(flag, 1, RLX); return p; }
static void *two(void *p) { if (load(flag, RLX)) assert(value); return p; }
int main(void) { both(one, two); return 0; }";
    let folder = tempfile::tempdir().unwrap();
    let [source, executable] = ["program.c", "program"].map(|name| folder.path().join(name));
    fs::write(&source, format!("{HEAD}{program}")).unwrap();
    Toolchain::first().build(&source, &[], &executable).unwrap();
    let report = check(&["--why"], &executable, &[]).unwrap();
    let orderings = report["errors"][0]["repair"]["orderings"].as_array();
    let orderings = orderings.unwrap_or_else(|| panic!("{report:#}")).iter();
    let needs: Vec<String> = orderings
        .map(|stronger| {
            let place = stronger["location"].as_str().unwrap();
            let line = place.rsplit(':').nth(1).unwrap();
            format!("{line}: {} {}", stronger["is"], stronger["needs"])
        })
        .collect();
    // Counted from the line after `HEAD`.
    let line = |line: usize| HEAD.lines().count() + line;
    let expected = [
        format!("{}: \"relaxed\" \"release\"", line(2)),
        format!("{}: \"relaxed\" \"acquire\"", line(3)),
    ];
    assert_eq!(needs, expected);
}

/// In C17, later stores of a thread continue its release sequence. In C++20, they do not.
#[test]
fn release_sequences_depend_on_the_language() {
    let program = |includes: &str, atomic: &str| {
        format!(
            "#include <pthread.h>
{includes}
static {atomic} flag; static int value;
static void *one(void *p) {{ value = 1; atomic_store_explicit(&flag, 1, memory_order_release); atomic_store_explicit(&flag, 2, memory_order_relaxed); return p; }}
int main() {{
    pthread_t thread; pthread_create(&thread, 0, one, 0);
    if (atomic_load_explicit(&flag, memory_order_acquire) == 2) value = 2;
    pthread_join(thread, 0); return 0;
}}"
        )
    };
    let cpp = program("#include <atomic>\nusing namespace std;", "atomic<int>");
    let c = program("#include <stdatomic.h>", "atomic_int");
    let toolchain = Toolchain::first();
    for (name, standard, text, expected) in [
        ("program.c", "-std=gnu17", &c, "verified"),
        ("program.cpp", "-std=c++17", &cpp, "verified"),
        ("program.cpp", "-std=c++20", &cpp, "bug"),
    ] {
        let report = report(toolchain, name, &[standard], text, "rc11").unwrap();
        assert_eq!(report["verdict"], expected, "{standard}\n{report:#}");
    }
}

#[test]
fn what_a_weak_memory_model_does_not_cover_is_refused() {
    let toolchain = Toolchain::first();
    for (program, part) in [
        (
            "static _Alignas(8) union { _Atomic uint64_t whole; _Atomic uint32_t half; } u;
static void *one(void *p) { store(u.whole, 1, RLX); return p; }
static void *two(void *p) { (void)load(u.half, RLX); return p; }
int main(void) { both(one, two); return 0; }",
            "different sizes",
        ),
        (
            "static int x;
static void *one(void *p) { __atomic_store_n(&x, 1, __ATOMIC_RELAXED); return p; }
static void *two(void *p) { (void)*(volatile int *)&x; return p; }
int main(void) { both(one, two); return 0; }",
            "atomic and volatile",
        ),
    ] {
        let text = format!("#define _GNU_SOURCE\n{HEAD}{program}");
        let refusal = report(toolchain, "program.c", &[], &text, "rc11").unwrap_err();
        assert!(refusal.contains(part), "{refusal}");
        assert_eq!(refusal.lines().count(), 1, "{refusal}");
        // If the search chooses the model, it uses sequential consistency for this program.
        let report = report(toolchain, "program.c", &[], &text, "auto").unwrap();
        assert_eq!(report["verdict"], "verified", "{report:#}");
        assert_eq!(report["memory"], "sc", "{report:#}");
        let warnings = report["warnings"].to_string();
        assert!(
            warnings.contains("sequential consistency only"),
            "{report:#}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let [source, executable] = ["program.c", "program"].map(|name| folder.path().join(name));
    fs::write(&source, "int main(void) { return 0; }").unwrap();
    toolchain.build(&source, &[], &executable).unwrap();
    let options = ["--memory", "rc11", "--plain", "sc"];
    let refusal = check(&options, &executable, &[]).unwrap_err();
    assert!(refusal.contains("choose the memory model sc"), "{refusal}");
}

/// `check` passes `--keep-going`. A refused access ends the search all the same.
#[test]
fn a_refusal_ends_a_search_that_keeps_going() {
    let folder = tempfile::tempdir().unwrap();
    let [source, executable] = ["program.c", "program"].map(|name| folder.path().join(name));
    let program = "static union { uint64_t whole; uint32_t half[2]; } u;
static void wait_at_half(int half, uint32_t value) {
    syscall(SYS_futex, &u.half[half], FUTEX_WAIT, value, NULL, NULL, 0);
}
static void *one(void *p) { wait_at_half(0, 0); __atomic_store_n(&u.half[1], 2, 5); return p; }
static void *two(void *p) { wait_at_half(1, 0); wait_at_half(0, 0); return p; }
static void *three(void *p) {
    __atomic_fetch_add(&u.whole, 0, 5);
    wait_at_half(0, 1);
    wait_at_half(1, 0);
    return p;
}
int main(void) {
    void *(*const bodies[])(void *) = {one, two, three};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, bodies[i], NULL);
    syscall(SYS_futex, &u.half[0], FUTEX_WAKE, 1, NULL, NULL, 0);
    for (int i = 2; i >= 0; i--) pthread_join(threads[i], NULL);
    return 0;
}";
    fs::write(
        &source,
        format!("#define _GNU_SOURCE\n{HEAD}{FUTEX}{program}"),
    )
    .unwrap();
    Toolchain::first().build(&source, &[], &executable).unwrap();
    for jobs in ["1", "2"] {
        let options = ["--memory", "tso", "--jobs", jobs];
        let refusal = check(&options, &executable, &[]).unwrap_err();
        assert!(refusal.contains("different sizes"), "{refusal}");
    }
}

/// A bug that was found before the fallback to sequential consistency does not end the search.
#[test]
fn a_search_that_falls_back_with_bugs_is_completed() {
    let program = "static _Alignas(8) union { _Atomic uint64_t whole; _Atomic uint32_t half; } u;
static void *one(void *p) { store(u.whole, 1, RLX); return p; }
static void *two(void *p) { (void)load(u.half, RLX); return p; }
int main(void) { both(one, two); assert(0); return 0; }";
    let text = format!("#define _GNU_SOURCE\n{HEAD}{program}");
    let [sc, auto] = ["sc", "auto"]
        .map(|memory| report(Toolchain::first(), "program.c", &[], &text, memory).unwrap());
    assert_eq!(auto["verdict"], "bug", "{auto:#}");
    assert_eq!(auto["memory"], "sc", "{auto:#}");
    assert_eq!(auto["executions"], sc["executions"], "{auto:#}");
    assert_eq!(sc["executions"], 2, "{sc:#}");
}

/// The failure of store buffering exists under RC11 only. Later executions access memory with two
/// sizes.
#[test]
fn a_failure_of_a_given_up_memory_model_is_left_out() {
    for (before, branch) in [
        ("", "store(u.whole, 1, RLX); (void)load(u.half, RLX);"),
        ("store(u.whole, 1, RLX);", "(void)load(u.half, RLX);"),
    ] {
        let program = format!(
            "static _Alignas(8) union {{ _Atomic uint64_t whole; _Atomic uint32_t half; }} u;
static atomic_int f, x, y;
static int a, b;
static void *one(void *p) {{ {before} store(f, 1, RLX); store(x, 1, RLX); a = load(y, RLX); return p; }}
static void *two(void *p) {{
    if (!load(f, RLX)) {{ {branch} }}
    store(y, 1, RLX); b = load(x, RLX); return p;
}}
int main(void) {{ both(one, two); assert(a || b); return 0; }}"
        );
        let text = format!("#define _GNU_SOURCE\n{HEAD}{program}");
        let [sc, auto] = ["sc", "auto"]
            .map(|memory| report(Toolchain::first(), "program.c", &[], &text, memory).unwrap());
        assert_eq!(sc["verdict"], "verified", "{sc:#}");
        assert_eq!(auto["verdict"], "bounded", "{auto:#}");
        assert_eq!(auto["memory"], "sc", "{auto:#}");
        assert_eq!(auto["executions"], sc["executions"], "{auto:#}");
        assert_eq!(auto["limits"].to_string(), r#"["memory"]"#, "{auto:#}");
    }
}

/// After a data race, an execution may differ from what the search expects, and so may its replay.
#[test]
fn a_search_that_keeps_going_ends_at_a_race_that_changes_operations() {
    let program = "static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *p) {
    for (int i = 0; i < 2; i++) { pthread_mutex_destroy(&mutex); pthread_mutex_init(&mutex, NULL); }
    return p;
}
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static void *two(void *p) {
    pthread_mutex_lock(&mutex);
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
    return p;
}
int main(void) { both(one, two); return 0; }";
    let text = format!("#define _GNU_SOURCE\n{HEAD}{program}");
    for memory in ["tso", "rc11"] {
        let report = report(Toolchain::first(), "program.c", &[], &text, memory).unwrap();
        assert_eq!(report["errors"][0]["kind"], "data_race", "{report:#}");
    }
}

/// The start of programs with futexes.
const FUTEX: &str = "
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static _Atomic uint32_t word, x;
static void wait_at(uint32_t value) { syscall(SYS_futex, &word, FUTEX_WAIT, value, NULL, NULL, 0); }
static void wake(int most) { syscall(SYS_futex, &word, FUTEX_WAKE, most, NULL, NULL, 0); }
";

/// When a wait tests its word, the test may read an old value, like any load. The test and the
/// beginning of the wait are one step.
#[test]
fn waits_at_futexes_follow_the_model() {
    let message = |order: &str| {
        format!(
            "static void *one(void *p) {{
    while (load(word, ACQ) == 0) wait_at(0);
    assert(load(x, RLX) == 1);
    return p;
}}
static void *two(void *p) {{ store(x, 1, RLX); store(word, 1, {order}); wake(1); return p; }}
int main(void) {{ both(one, two); return 0; }}"
        )
    };
    // The waiting thread announces its wait in `x`. Only the ordering of the other thread's store
    // and load matters, because the system has a barrier before the test of the word.
    let announced = |order: &str| {
        format!(
            "static void *one(void *p) {{ store(x, 1, RLX); wait_at(0); return p; }}
static void *two(void *p) {{ store(word, 1, {order}); if (load(x, {order})) wake(1); return p; }}
int main(void) {{ both(one, two); return 0; }}"
        )
        .replace("load(x, REL)", "load(x, ACQ)")
    };
    let lock = |order: &str| {
        format!(
            "static void lock(void) {{
    uint32_t found = 0;
    if (atomic_compare_exchange_strong_explicit(&word, &found, 1, ACQ, RLX)) return;
    if (found != 2) found = atomic_exchange_explicit(&word, 2, ACQ);
    while (found != 0) {{ wait_at(2); found = atomic_exchange_explicit(&word, 2, ACQ); }}
}}
static void *one(void *p) {{
    lock();
    store(x, load(x, RLX) + 1, RLX);
    if (atomic_exchange_explicit(&word, 0, {order}) == 2) wake(1);
    return p;
}}
int main(void) {{ both(one, one); assert(load(x, RLX) == 2); return 0; }}"
        )
    };
    let timed = "static void *one(void *p) {
    struct timespec time = {0, 1000};
    if (syscall(SYS_futex, &word, FUTEX_WAIT, 0, &time, NULL, 0) == 0) assert(load(x, RLX) == 1);
    return p;
}
static void *two(void *p) { store(x, 1, RLX); wake(1); return p; }
int main(void) { both(one, two); return 0; }";
    // The wake synchronizes with the end of the wait.
    let woken = "static int data;
static void *one(void *p) {
    if (syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0) == 0) assert(data == 1);
    return p;
}
static void *two(void *p) { data = 1; store(word, 1, RLX); wake(1); return p; }
int main(void) { both(one, two); return 0; }";
    // Wakes and waits are full barriers. `FUTEX_WAKE` with the number 0 wakes one thread.
    let barriers = "static _Atomic uint32_t y, other, a = 1, b = 1;
static void *one(void *p) { store(x, 1, RLX); wake(0); a = load(y, RLX); return p; }
static void *two(void *p) {
    store(y, 1, RLX);
    syscall(SYS_futex, &other, FUTEX_WAKE, 1, NULL, NULL, 0);
    b = load(x, RLX);
    return p;
}
int main(void) { both(one, two); assert(a == 1 || b == 1); return 0; }";
    let early = "static void *one(void *p) { while (load(word, ACQ) == 0) wait_at(0); return p; }
static void *two(void *p) { wake(1); store(word, 1, REL); return p; }
int main(void) { both(one, two); return 0; }";
    let weaker: &[&str] = &["rc11"];
    for (program, failing) in [
        (message("REL"), &[][..]),
        (message("RLX"), weaker),
        // Under `ra`, seq_cst is no stronger than acquire and release.
        (announced("SC"), &["ra"]),
        (announced("REL"), &["tso", "ra", "rc11"]),
        (lock("REL"), &[]),
        (lock("RLX"), weaker),
        (timed.to_owned(), &[]),
        (woken.to_owned(), &[]),
        (barriers.to_owned(), &["ra"]),
        (early.to_owned(), &["sc", "tso", "ra", "rc11"]),
    ] {
        expect(&[(&format!("{FUTEX}{program}"), failing)]);
    }
}

#[test]
fn wrong_and_unknown_futex_calls_are_met() {
    let Some(toolchain) = Toolchain::named("gcc") else {
        return;
    };
    let wrong = "#include <errno.h>
static char bytes[8];
static struct timespec wrong = {0, 2000000000};
int main(void) {
    assert(syscall(SYS_futex, bytes + 1, FUTEX_WAIT, 0, NULL, NULL, 0) == -1 && errno == EINVAL);
    assert(syscall(SYS_futex, &word, FUTEX_WAIT, 0, &wrong, NULL, 0) == -1 && errno == EINVAL);
    assert(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, NULL, NULL, 0) == -1 && errno == EINVAL);
    return 0;
}";
    let masked = "int main(void) {
    syscall(SYS_futex, &word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 2);
    return 0;
}";
    let freed = "int main(void) {
    _Atomic uint32_t *gone = malloc(4);
    free(gone);
    syscall(SYS_futex, gone, FUTEX_WAIT, 0, NULL, NULL, 0);
    return 0;
}";
    for memory in ["sc", "rc11"] {
        let checked = |program: &str| {
            let text = format!("#define _GNU_SOURCE\n{HEAD}{FUTEX}{program}");
            report(toolchain, "program.c", &[], &text, memory)
        };
        assert_eq!(checked(wrong).unwrap()["verdict"], "verified", "{memory}");
        let refusal = checked(masked).unwrap_err();
        assert!(refusal.contains("mask 0x2"), "{refusal}");
        let kind = &checked(freed).unwrap()["errors"][0]["kind"];
        assert_eq!(kind, "use_after_free", "{memory}");
    }
}

/// A thread's start and end flush its store buffer, even if a load follows the store.
#[test]
fn starts_and_ends_of_threads_order_stores() {
    let joined = "static atomic_int y, z;
static void *one(void *p) { store(y, 2, RLX); (void)load(z, RLX); return p; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, one, NULL);
    pthread_join(thread, NULL);
    assert(load(y, RLX) == 2);
    return 0;
}";
    let started = "static atomic_int y, z;
static void *one(void *p) { assert(load(y, RLX) == 2); return p; }
int main(void) {
    store(y, 2, RLX);
    (void)load(z, RLX);
    pthread_t thread;
    pthread_create(&thread, NULL, one, NULL);
    pthread_join(thread, NULL);
    return 0;
}";
    expect(&[(joined, &[]), (started, &[])]);
}

/// A correct program: the other thread has set the flag, and main waits for it after another event.
/// Main may read the old value only for a while, wherever the flag lies.
#[test]
fn a_loop_that_reads_an_old_value_of_any_memory_is_not_stuck() {
    for (flag, more) in [
        ("static atomic_int own; flag = &own;", ""),
        ("atomic_int own = 0; flag = &own;", ""),
        ("atomic_int own[4] = {0}; flag = &own[2];", ""),
        ("static _Thread_local atomic_int own; flag = &own;", ""),
        ("flag = calloc(1, sizeof *flag);", "free(flag);"),
    ] {
        let program = format!(
            "static atomic_int *flag, other;
static void *one(void *p) {{ store(*flag, 1, REL); return p; }}
int main(void) {{
    {flag}
    pthread_t thread;
    pthread_create(&thread, NULL, one, NULL);
    atomic_fetch_add_explicit(&other, 1, RLX);
    while (!load(*flag, ACQ)) {{}}
    pthread_join(thread, NULL);
    {more}
    return 0;
}}"
        );
        let text = format!("{HEAD}{program}");
        for memory in ["sc", "tso", "ra", "rc11", "auto"] {
            for flags in [&["-O0"], &["-O2"]] {
                let report = report(Toolchain::first(), "program.c", flags, &text, memory).unwrap();
                assert_eq!(
                    report["verdict"], "verified",
                    "{flag}, {memory}: {report:#}"
                );
            }
        }
    }
}

/// The second store of 1 seems to change nothing, unless the store of 2 is placed before it.
#[test]
fn a_loop_that_stores_a_value_again_hides_no_failure() {
    for (loaded, order) in [("RLX", "RLX"), ("ACQ", "REL"), ("SC", "SC")] {
        let program = format!(
            "static atomic_int x, y;
static int a, b;
static void *one(void *p) {{ while (!load(x, {loaded})) store(y, 1, {order}); return p; }}
static void *two(void *p) {{
    a = load(y, {loaded});
    store(y, 2, {order});
    b = load(y, {loaded});
    store(x, 1, {order});
    return p;
}}
int main(void) {{ both(one, two); assert(a != 1 || b != 1); return 0; }}"
        );
        let text = format!("{HEAD}{program}");
        for memory in ["sc", "auto"] {
            let report = report(Toolchain::first(), "program.c", &[], &text, memory).unwrap();
            assert_eq!(report["verdict"], "bug", "{memory}: {report:#}");
        }
        for memory in ["tso", "rc11"] {
            let refusal = report(Toolchain::first(), "program.c", &[], &text, memory).unwrap_err();
            assert!(refusal.contains("choose the memory model sc"), "{refusal}");
        }
    }
}

/// Store buffering on x86, with something between the store and the load of each thread.
#[test]
fn what_lies_between_the_accesses_of_store_buffering_matters_as_on_x86() {
    for (between, expected) in [
        ("", "bug"),
        ("mazurka_choose(2);", "bug"),
        ("mazurka_choose(1);", "bug"),
        ("atomic_thread_fence(SC);", "verified"),
        ("(void)atomic_fetch_add_explicit(&z, 1, RLX);", "verified"),
        // It prevents the failure, but is not seen.
        ("__asm__ volatile(\"mfence\" ::: \"memory\");", "bug"),
    ] {
        let program = format!(
            "unsigned mazurka_choose(unsigned alternatives);
static atomic_int x, y, z;
static int a, b;
static void *one(void *p) {{ store(x, 1, RLX); {between} a = load(y, RLX); return p; }}
static void *two(void *p) {{ store(y, 1, RLX); {between} b = load(x, RLX); return p; }}
int main(void) {{ both(one, two); assert(a || b); return 0; }}"
        );
        let text = format!("{HEAD}{program}");
        let report = report(Toolchain::first(), "program.c", &[], &text, "tso").unwrap();
        assert_eq!(report["verdict"], expected, "{between}: {report:#}");
        let is_ignored = report["bounds"].to_string().contains("mfence");
        assert_eq!(is_ignored, between.contains("mfence"), "{report:#}");
    }
}

/// Accesses whose old values are not explored: volatile ones under TSO, and large atomic ones.
#[test]
fn accesses_without_old_values_are_a_bound() {
    let volatile = "static volatile int x, y;
static int a, b;
static void *one(void *p) { x = 1; a = y; return p; }
static void *two(void *p) { y = 1; b = x; return p; }
int main(void) { both(one, two); assert(a || b); return 0; }";
    let large = "typedef struct { long words[3]; } large;
static _Atomic large x, y;
static void *one(void *p) { large one = {{1}}; store(x, one, HOW); (void)load(y, HOW); return p; }
static void *two(void *p) { large one = {{1}}; store(y, one, HOW); (void)load(x, HOW); return p; }
int main(void) { both(one, two); return 0; }";
    for (program, memory, expected) in [
        (volatile.to_owned(), "sc", "verified"),
        (volatile.to_owned(), "rc11", "verified"),
        (volatile.to_owned(), "tso", "bounded"),
        (large.replace("HOW", "SC"), "rc11", "verified"),
        (large.replace("HOW", "RLX"), "rc11", "bounded"),
        (large.replace("HOW", "RLX"), "auto", "bounded"),
    ] {
        let text = format!("{HEAD}{program}");
        let flags = ["-latomic"];
        let report = report(Toolchain::first(), "program.c", &flags, &text, memory).unwrap();
        assert_eq!(
            report["verdict"], expected,
            "{program} {memory}: {report:#}"
        );
    }
}

/// A reader of a sequence lock repeats its reads, with a fence between them. A round that learns
/// nothing new is not repeated.
#[test]
fn a_loop_with_a_fence_stops() {
    let seqlock = |release: &str| {
        two(
            &format!(
                "store(x, 1, RLX); {release} store(y, 1, RLX); store(z, 1, RLX); store(x, 2, REL);"
            ),
            "int before, first, second;
             do {
                 before = load(x, ACQ);
                 first = load(y, RLX);
                 second = load(z, RLX);
                 atomic_thread_fence(ACQ);
             } while (before != load(x, RLX) || before & 1);
             assert(first == second);",
            "",
        )
        .replace("static atomic_int x, y;", "static atomic_int x, y, z;")
    };
    let spin = |order: &str| {
        let round = format!("while (!load(x, RLX)) atomic_thread_fence({order});");
        two("store(x, 1, RLX);", &round, "")
    };
    expect(&[
        (&seqlock("atomic_thread_fence(REL);"), &[]),
        (&seqlock(""), &["rc11"]),
        (&spin("ACQ"), &[]),
        (&spin("SC"), &[]),
    ]);
}
