//! Loops that wait for a plain variable while they do something else. Accesses to the variable are
//! not events, so no schedule of events ends the loops.

use crate::operations::{bug, checked, verified};
use crate::toolchain::{Toolchain, check};
use std::fs;

fn program(flag: &str, round: &str) -> String {
    format!(
        "#include <pthread.h>
static int shared, rounds;
static void *sets(void *flag) {{ *(int *)flag = 1; return flag; }}
int main(void) {{
    int local = 0, count = 0, *flag = {flag};
    pthread_t thread;
    pthread_create(&thread, NULL, sets, flag);
    while (!*flag) {round}++;
    pthread_join(thread, NULL);
    return local + count < 0;
}}
"
    )
}

#[test]
fn a_loop_that_counts_while_it_waits_for_a_plain_flag_stops_so_that_the_race_is_found() {
    let toolchain = Toolchain::first();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    let executable = folder.path().join("program");
    for flag in ["&shared", "&local"] {
        for round in ["count", "rounds"] {
            fs::write(&source, program(flag, round)).unwrap();
            toolchain.build(&source, &[], &executable).unwrap();
            let report = check(&["--max-events", "100"], &executable, &[]).unwrap();
            let kind = &report["errors"][0]["kind"];
            assert_eq!(kind, "data_race", "{flag} {round}: {report}");
            assert_eq!(report["executions"], 1, "{flag} {round}: {report}");
        }
    }
}

/// `load` leaves its result on the stack. The next call of `atomic_ref` overwrites the result.
const OWN_STACK: &str = "#include <atomic>
#include <thread>
int main() {
    int value = 0;
    std::thread other([&value] { std::atomic_ref(value).store(1); });
    while (std::atomic_ref(value).load() != 2) {}
    other.join();
}
";

#[test]
fn a_loop_that_overwrites_what_it_reads_on_its_own_stack_spins_for_ever_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.cpp");
    let executable = folder.path().join("program");
    fs::write(&source, OWN_STACK).unwrap();
    let toolchain = Toolchain::first();
    toolchain
        .build(
            &source,
            &["-std=c++20", "-O0"].map(str::to_owned),
            &executable,
        )
        .unwrap();
    let report = check(&["--plain", "sc"], &executable, &[]).unwrap();
    assert_eq!(report["errors"][0]["kind"], "stuck", "{report}");
}

/// Hooks overwrite values in frames that have ended, but those in deep frames only after the thread
/// has stopped. Such a value must not count as one that another thread may change.
#[test]
fn a_loop_whose_calls_have_ended_spins_for_ever_however_deep_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    let executable = folder.path().join("program");
    let text = "#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int flag;
static int is_set(int calls) {
    int found = atomic_load(&flag);
    return calls ? found | is_set(calls - 1) : found;
}
static void *waits(void *calls) {
    while (!is_set(*(int *)calls)) sched_yield();
    return NULL;
}
int main(int count, char **arguments) {
    int calls = atoi(arguments[count - 1]);
    pthread_t thread;
    pthread_create(&thread, NULL, waits, &calls);
    pthread_join(thread, NULL);
    return 0;
}
";
    fs::write(&source, text).unwrap();
    let options = ["--plain", "sc", "--without", "private-stacks"];
    for toolchain in ["gcc", "clang"].into_iter().filter_map(Toolchain::named) {
        toolchain
            .build(&source, &["-O0".to_owned()], &executable)
            .unwrap();
        for calls in [0, 1, 2, 4, 8, 12, 16, 32] {
            let report = check(&options, &executable, &[calls.to_string()]).unwrap();
            let kind = &report["errors"][0]["kind"];
            assert_eq!(kind, "stuck", "{calls} calls: {report}");
        }
    }
}

/// The await rule compares only the stacks that the checker gives to threads.
#[test]
fn a_loop_on_a_stack_of_the_programs_own_ends_at_the_bound() {
    let toolchain = Toolchain::first();
    let folder = tempfile::tempdir().unwrap();
    let [source, executable] = ["program.c", "program"].map(|name| folder.path().join(name));
    for stack in ["own", "malloc(sizeof own)"] {
        let text = format!(
            "#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <ucontext.h>
static atomic_int flag;
static ucontext_t caller, callee;
static char own[1 << 16];
static void spins(void) {{ while (!atomic_load(&flag)) {{}} }}
static void *waits(void *a) {{
    getcontext(&callee);
    callee.uc_stack.ss_sp = {stack};
    callee.uc_stack.ss_size = sizeof own;
    callee.uc_link = &caller;
    makecontext(&callee, spins, 0);
    swapcontext(&caller, &callee);
    return a;
}}
int main(void) {{
    pthread_t thread;
    pthread_create(&thread, NULL, waits, NULL);
    pthread_join(thread, NULL);
    return 0;
}}
"
        );
        fs::write(&source, text).unwrap();
        toolchain.build(&source, &[], &executable).unwrap();
        for (bound, limit) in [("--max-events", "events"), ("--unroll", "unroll")] {
            for plain in ["race", "sc"] {
                let options = [bound, "50", "--plain", plain];
                let report = check(&options, &executable, &[]).unwrap();
                let shown = format!("{stack} {options:?}: {report}");
                assert_eq!(report["verdict"], "bounded", "{shown}");
                assert_eq!(report["limits"], serde_json::json!([limit]), "{shown}");
                assert_eq!(report["halted"], 1, "{shown}");
                let message = report["bounds"][0].as_str().unwrap();
                assert!(message.contains(" 50 "), "{shown}");
            }
        }
    }
}

/// No register that calls preserve contains the pointer `p`.
#[test]
fn a_loop_over_a_text_that_threads_share_ends() {
    let text = "
#include <pthread.h>
#include <string.h>
static char text[] = \"abacada\";
static void *reads(void *a) { const char *p = text; while ((p = strchr(p, 'a'))) p++; return a; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, reads, 0);
    reads(0);
    pthread_join(thread, 0);
}
";
    for compiler in ["gcc", "clang"] {
        let Some(toolchain) = Toolchain::named(compiler) else {
            continue;
        };
        for level in ["-O0", "-O1", "-O2"] {
            let folder = tempfile::tempdir().unwrap();
            let [source, executable] =
                ["program.c", "program"].map(|name| folder.path().join(name));
            fs::write(&source, text).unwrap();
            toolchain
                .build(&source, &[level.to_owned()], &executable)
                .unwrap();
            let report = check(&[], &executable, &[]).unwrap();
            assert_eq!(
                report["verdict"], "verified",
                "{compiler} {level}: {report}"
            );
        }
    }
}

/// A compare-exchange that overlaps another atomic object must have one alternative. This must not
/// depend on how many threads wait for a condition variable that its thread has signalled, in this
/// or an earlier execution. (The three algorithms share no code that counts traces.)
#[test]
fn a_compare_exchange_has_one_alternative_whatever_its_thread_signalled() {
    let text = "
#include <pthread.h>
#include <stdint.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t v = PTHREAD_COND_INITIALIZER;
static _Alignas(4) unsigned char shared[4];
static uint32_t expected;
static void *waits(void *a) {
    __atomic_load_n((uint16_t *)shared, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&m); pthread_cond_wait(&v, &m); pthread_cond_wait(&v, &m); pthread_mutex_unlock(&m);
    return a;
}
static void *exchanges(void *a) {
    __atomic_compare_exchange_n((uint32_t *)shared, &expected, 2, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    pthread_cond_signal(&v);
    return a;
}
static void *signals(void *a) {
    __atomic_store_n((uint16_t *)shared, 0, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&m); pthread_cond_signal(&v); pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m); pthread_cond_wait(&v, &m); pthread_mutex_unlock(&m);
    return a;
}
int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, waits, 0);
    pthread_create(&threads[1], 0, exchanges, 0);
    pthread_create(&threads[2], 0, signals, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
}
";
    let toolchain = Toolchain::first();
    let folder = tempfile::tempdir().unwrap();
    let [source, executable] = ["program.c", "program"].map(|name| folder.path().join(name));
    fs::write(&source, text).unwrap();
    toolchain.build(&source, &[], &executable).unwrap();
    let counts = ["parsimonious", "optimal", "source"].map(|algorithm| {
        let options = ["--extra", "0", "--algorithm", algorithm];
        let report = check(&options, &executable, &[]).unwrap();
        assert_eq!(report["errors"][0]["kind"], "deadlock", "{report}");
        report["executions"].as_u64().unwrap()
    });
    assert_eq!(counts, [counts[0]; 3]);
}

/// If accesses to the stack are events, clang's code announces them with all registers. Hooks may
/// change vector registers, so the contents of these must not count.
#[test]
fn vector_registers_that_hooks_change_are_no_state_of_the_program() {
    let text = "
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static _Alignas(16) unsigned char shared[8];
static void *stores(void *a) { __atomic_store_n((uint32_t *)(shared + 4), 1, __ATOMIC_SEQ_CST); return a; }
static void *waits(void *a) {
    uint64_t rounds[3] = {0, 0, 0};
    while (__atomic_load_n((uint64_t *)shared, __ATOMIC_SEQ_CST) != 1)
        if (rounds[1] < 2) {
            char text[24];
            snprintf(text, 24, \"%llu\", (unsigned long long)(rounds[1] + 1));
            rounds[1] = strtoull(text, NULL, 10);
        }
    return a;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, stores, 0);
    pthread_create(&threads[1], 0, waits, 0);
    pthread_join(threads[1], 0);
    pthread_join(threads[0], 0);
}
";
    let Some(toolchain) = Toolchain::named("clang") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let [source, executable] = ["program.c", "program"].map(|name| folder.path().join(name));
    fs::write(&source, text).unwrap();
    let flags = ["-O0", "-pthread"].map(str::to_owned);
    toolchain.build(&source, &flags, &executable).unwrap();
    let options = ["--plain", "sc", "--without", "folded-spawns"];
    let report = check(&options, &executable, &[]).unwrap();
    assert_eq!(report["errors"][0]["kind"], "stuck", "{report}");
}

/// The value 1 exists only while the thread that has written it yields.
#[test]
fn a_switch_after_a_yield_or_a_sleep_is_no_preemption() {
    let program = |wait: &str, local: &str| {
        format!(
            "#include <sched.h>
             #include <threads.h>
             #include <unistd.h>
             static atomic_int number, read_number;
             static void *run(void *p) {{ read_number = number; return p; }}
             int main(void) {{
                 volatile int local = 0; struct timespec time = {{ 0, 1 }}; (void)time;
                 start(run);
                 number = 1; {wait}; {local}; number = 0;
                 join();
                 assert(read_number == 0);
                 return local - local;
             }}"
        )
    };
    let none = ["--preemptions", "0"];
    let (verdict, error) = checked("goes-on.c", &program("(void)0", "local++"), &none);
    assert_eq!(verdict, "bounded", "{error}");
    for wait in [
        "sched_yield()",
        "thrd_yield()",
        "usleep(1)",
        "nanosleep(&time, 0)",
        "thrd_sleep(&time, 0)",
    ] {
        for local in ["(void)0", "local++"] {
            bug("assertion", "yields.c", &program(wait, local), &none);
        }
    }
}

/// In each round, a thread changes memory and changes it back. Suspending the thread in between
/// must have no effect.
#[test]
fn what_a_round_changes_and_changes_back_is_the_same_in_each_execution() {
    let toolchain = Toolchain::first();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    let executable = folder.path().join("program");
    for round in ["value = 5; value = 0;", "value++; value--;"] {
        for qualifier in ["", "volatile"] {
            let text = format!(
                "#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
static {qualifier} int value;
static void *sets(void *argument) {{ atomic_store(&flag, 1); return argument; }}
int main(void) {{
    pthread_t thread;
    pthread_create(&thread, NULL, sets, NULL);
    while (!atomic_load(&flag)) {{ {round} }}
    pthread_join(thread, NULL);
    return value;
}}
"
            );
            fs::write(&source, text).unwrap();
            toolchain.build(&source, &[], &executable).unwrap();
            for plain in ["race", "sc"] {
                let options = ["--plain", plain, "--max-events", "200"];
                let report = check(&options, &executable, &[]).unwrap();
                assert_eq!(report["errors"].as_array().unwrap().len(), 0, "{report}");
            }
        }
    }
}

/// The loop goes round a ring of `states` nodes, which never change.
#[test]
fn an_endless_loop_through_several_states_that_reads_own_memory_is_stuck() {
    let program = |states: u32| {
        format!(
            "#include <pthread.h>
             #include <stdlib.h>
             struct node {{ struct node *next; int done; }};
             static void *run(void *p) {{
                 struct node *nodes = calloc({states}, sizeof *nodes), *at = nodes;
                 for (int i = 0; i < {states}; i++) nodes[i].next = &nodes[(i + 1) % {states}];
                 while (!at->done) at = at->next;
                 free(nodes);
                 return p;
             }}
             int main(void) {{
                 pthread_t thread;
                 pthread_create(&thread, 0, run, 0);
                 return pthread_join(thread, 0);
             }}"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let [source, executable] = ["program.c", "program"].map(|name| folder.path().join(name));
    for states in [1, 2, 3, 7] {
        fs::write(&source, program(states)).unwrap();
        let level = ["-O1".to_owned()];
        Toolchain::first()
            .build(&source, &level, &executable)
            .unwrap();
        for options in [&[][..], &["--without=ownership"], &["--without=savepoints"]] {
            let report = check(options, &executable, &[]).unwrap();
            let kind = &report["errors"][0]["kind"];
            assert_eq!(kind, "stuck", "{states} {options:?}: {report}");
        }
    }
}

/// The loops of the library read their own stack many times between two events.
#[test]
fn a_spin_loop_of_the_cpp_library_stops_in_each_repetition() {
    let program = |one: &str, two: &str| {
        format!(
            "#include <atomic>
             #include <chrono>
             #include <semaphore>
             #include <thread>
             static std::counting_semaphore<> permits{{0}};
             static std::atomic<int> steps;
             int main() {{
                 std::thread one([] {{ while (!permits.try_acquire()) {{}} {one} steps += 2; }});
                 std::thread two([] {{ steps = 1; {two} }});
                 two.join();
                 one.join();
             }}"
        )
    };
    let cases = [
        ("", "permits.release(); (void)permits.try_acquire();"),
        (
            "permits.release(2);",
            "permits.acquire(); steps = 1; (void)permits.try_acquire_for(std::chrono::hours(1));",
        ),
    ];
    for compiler in ["gcc", "clang"] {
        let Some(toolchain) = Toolchain::named(compiler) else {
            continue;
        };
        for (one, two) in cases {
            for level in ["-O0", "-O2"] {
                let folder = tempfile::tempdir().unwrap();
                let [source, executable] =
                    ["program.cpp", "program"].map(|name| folder.path().join(name));
                fs::write(&source, program(one, two)).unwrap();
                let flags = [level, "-std=gnu++20"].map(str::to_owned);
                toolchain.build(&source, &flags, &executable).unwrap();
                let options = ["--max-executions", "600", "--timeouts", "8"];
                let report = check(&options, &executable, &[]);
                let shown = format!("{compiler} {level} {two}: {report:?}");
                assert_eq!(
                    report.expect(&shown)["errors"][0]["kind"],
                    "stuck",
                    "{shown}"
                );
            }
        }
    }
}

/// A mutex whose owner has ended.
const ROBUST: &str = "static pthread_mutex_t lock;
    static void *leaves(void *argument) { pthread_mutex_lock(&lock); return argument; }
    __attribute__((constructor)) static void first(void) {
        pthread_mutexattr_t robust;
        pthread_mutexattr_init(&robust);
        pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
        pthread_mutex_init(&lock, &robust);
    }
    #undef START
    #define START pthread_create(&thread, NULL, leaves, NULL), pthread_join(thread, NULL)";

/// Loops that poll a variable under a lock: declarations, what the other threads do, what `main`
/// does, and the expected result.
const POLLS: [(&str, &str, &str, &str); 14] = [
    (
        "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;",
        "TAKE; data = 7; done = 1; GIVE;",
        "POLL(done); assert(data == 7);",
        "verified",
    ),
    (
        "static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;",
        "pthread_rwlock_wrlock(&rwlock); done = 1; pthread_rwlock_unlock(&rwlock);",
        "for (int is = 0; !is;) {
             pthread_rwlock_rdlock(&rwlock); is = done; pthread_rwlock_unlock(&rwlock);
         }",
        "verified",
    ),
    (
        "static pthread_spinlock_t spin;
         __attribute__((constructor)) static void first(void) { pthread_spin_init(&spin, 0); }",
        "pthread_spin_lock(&spin); done = 1; pthread_spin_unlock(&spin);",
        "for (int is = 0; !is;) { pthread_spin_lock(&spin); is = done; pthread_spin_unlock(&spin); }",
        "verified",
    ),
    // Another lock is taken and released while the lock is held.
    (
        "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
         static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;",
        "TAKE; data = 1; GIVE; pthread_mutex_lock(&inner); done = 1; pthread_mutex_unlock(&inner);",
        "for (int is = 0; !is;) {
             TAKE; pthread_mutex_lock(&inner); is = data && done; pthread_mutex_unlock(&inner); GIVE;
         }",
        "verified",
    ),
    (
        "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;",
        "if (pthread_mutex_trylock(&lock) == 0) GIVE; TAKE; done = 1; GIVE;",
        "for (int is = 0; !is;) if (pthread_mutex_trylock(&lock) == 0) { is = done; GIVE; }",
        "verified",
    ),
    // The lock that was taken first is released first.
    (
        "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
         static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;",
        "TAKE; data = 1; GIVE; pthread_mutex_lock(&inner); done = 1; pthread_mutex_unlock(&inner);",
        "for (int is = 0; !is;) {
             TAKE; pthread_mutex_lock(&inner); is = data && done; GIVE; pthread_mutex_unlock(&inner);
         }",
        "verified",
    ),
    // The calls that take the two locks have the same place in the code, and different stacks.
    (
        "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
         static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
         __attribute__((noinline)) static int get(pthread_mutex_t *from, int *flag) {
             pthread_mutex_lock(from); int is = *flag; pthread_mutex_unlock(from); return is;
         }",
        "TAKE; data = 1; GIVE; pthread_mutex_lock(&inner); done = 1; pthread_mutex_unlock(&inner);",
        "for (;;) { int is = get(&lock, &data); if (get(&inner, &done) && is) break; }",
        "verified",
    ),
    // The thread sets the flag as a reader.
    (
        "static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;",
        "pthread_rwlock_rdlock(&rwlock); done = 1; pthread_rwlock_unlock(&rwlock);",
        "for (int is = 0; !is;) {
             pthread_rwlock_wrlock(&rwlock); is = done; pthread_rwlock_unlock(&rwlock);
         }",
        "verified",
    ),
    // A try passes a writer that waits for a reader.
    (
        "static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
         static void *reader(void *argument) {
             pthread_rwlock_rdlock(&rwlock); pthread_rwlock_unlock(&rwlock); return argument;
         }",
        "pthread_rwlock_wrlock(&rwlock); done = 1; pthread_rwlock_unlock(&rwlock);",
        "pthread_t reads; pthread_create(&reads, NULL, reader, NULL);
         for (int is = 0; !is;)
             if (pthread_rwlock_tryrdlock(&rwlock) == 0) { is = done; pthread_rwlock_unlock(&rwlock); }
         pthread_join(reads, NULL);",
        "verified",
    ),
    // The round repairs a mutex whose owner has ended.
    (
        ROBUST,
        "data = TAKE; if (data) pthread_mutex_consistent(&lock); done = 1; GIVE;",
        "for (int is = 0; !is;) { if (TAKE) pthread_mutex_consistent(&lock); is = done; GIVE; }
         assert(data == EOWNERDEAD);",
        "assertion",
    ),
    // The data comes after the flag.
    (
        "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;",
        "TAKE; done = 1; GIVE; TAKE; data = 7; GIVE;",
        "POLL(done); TAKE; int is = data; GIVE; assert(is == 7);",
        "assertion",
    ),
    // The other thread observes that the lock was held.
    (
        "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;",
        "int is = pthread_mutex_trylock(&lock); if (!is) GIVE; TAKE; data = is; done = 1; GIVE;",
        "POLL(done); assert(!data);",
        "assertion",
    ),
    // No thread sets the flag, though the other thread takes the lock.
    (
        "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;",
        "TAKE; data = 1; GIVE;",
        "POLL(done);",
        "stuck",
    ),
    // Both threads wait for each other, and take the lock again and again.
    (
        "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;",
        "POLL(data); TAKE; done = 1; GIVE;",
        "POLL(done); TAKE; data = 1; GIVE;",
        "stuck",
    ),
];

#[test]
fn a_loop_that_polls_a_variable_under_a_lock_stops() {
    for compiler in ["gcc", "clang"] {
        let Some(toolchain) = Toolchain::named(compiler) else {
            continue;
        };
        for (declarations, others, main, expected) in POLLS {
            let text = format!(
                "#include <assert.h>
#include <errno.h>
#include <pthread.h>
#define TAKE pthread_mutex_lock(&lock)
#define GIVE pthread_mutex_unlock(&lock)
#define START
#define POLL(flag) for (int is = 0; !is;) {{ TAKE; is = flag; GIVE; }}
static int data, done;
{declarations}
static void *other(void *argument) {{ {others} return argument; }}
int main(void) {{
    pthread_t thread;
    START;
    pthread_create(&thread, NULL, other, NULL);
    {main}
    pthread_join(thread, NULL);
    return 0;
}}
"
            );
            let folder = tempfile::tempdir().unwrap();
            let [source, executable] =
                ["program.c", "program"].map(|name| folder.path().join(name));
            fs::write(&source, text).unwrap();
            for level in ["-O0", "-O2"] {
                toolchain
                    .build(&source, &[level.to_owned()], &executable)
                    .unwrap();
                for options in [
                    &["--memory", "sc"][..],
                    &["--memory", "rc11"],
                    &["--plain", "sc"],
                    &["--algorithm", "optimal"],
                    &["--without", "savepoints"],
                ] {
                    let options = [options, &["--max-executions", "1000"]].concat();
                    let report = check(&options, &executable, &[]).unwrap();
                    let found = match report["verdict"].as_str() {
                        Some("bug") => &report["errors"][0]["kind"],
                        _ => &report["verdict"],
                    };
                    assert_eq!(
                        found, expected,
                        "{compiler} {level} {options:?} {main}: {report}"
                    );
                }
            }
        }
    }
}

/// A futex whose word has another value returns at once, and changes nothing.
#[test]
fn a_loop_around_a_futex_that_does_not_wait_stops() {
    let program = |value: &str| {
        format!(
            "#include <linux/futex.h>
            #include <stdatomic.h>
            #include <sys/syscall.h>
            static atomic_int phase;
            static void *run(void *p) {{
                for (int next = 1; next <= 2; next++) {{
                    atomic_store(&phase, next);
                    syscall(SYS_futex, &phase, FUTEX_WAKE, 1);
                }}
                return p;
            }}
            int main(void) {{
                start(run);
                while (atomic_load(&phase) != 2) syscall(SYS_futex, &phase, FUTEX_WAIT, {value}, NULL);
                join();
            }}"
        )
    };
    verified("program.c", &program("0"), &[]);
    verified("program.c", &program("7"), &["--algorithm", "optimal"]);
    bug("waits", "program.c", &program("2"), &[]);
}
