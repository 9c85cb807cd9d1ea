//! Local variables whose addresses other threads have. Clang inserts no hooks for their members and
//! elements. By the C standard, these accesses race and updates can be lost.

use crate::toolchain::{Toolchain, check};
use serde_json::Value;
use std::fs;

/// Checks this program with each compiler and level.
fn reports(text: &str, options: &[&str], levels: &[&str]) -> Vec<(String, Value)> {
    let mut reports = Vec::new();
    for compiler in ["gcc", "clang"] {
        let Some(toolchain) = Toolchain::named(compiler) else {
            continue;
        };
        for level in levels {
            let folder = tempfile::tempdir().unwrap();
            let [source, executable] =
                ["program.c", "program"].map(|name| folder.path().join(name));
            fs::write(&source, format!("{BEGINNING}{text}")).unwrap();
            let flags = [*level, "-D_GNU_SOURCE"].map(str::to_owned);
            toolchain.build(&source, &flags, &executable).unwrap();
            let report = check(options, &executable, &[]).unwrap();
            reports.push((format!("{compiler} {level}:\n{text}"), report));
        }
    }
    reports
}

const BEGINNING: &str = "
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
struct pair { int a, b; };
struct outer { int pad[3]; struct pair pairs[2]; };
static atomic_int count;
static pthread_t start(void *(*function)(void *), void *argument) {
    pthread_t thread;
    pthread_create(&thread, 0, function, argument);
    return thread;
}
";

#[test]
fn parts_of_locals_that_escape_race() {
    let cases = [
        ("struct pair x = {0, 0};", "x.b", "&x"),
        ("struct pair x = {0, 0};", "x.a", "&x.a"),
        ("int x[4] = {0};", "x[2]", "x"),
        (
            "struct outer x; memset(&x, 0, sizeof x);",
            "x.pairs[1].b",
            "&x.pairs",
        ),
        (
            "int x[4] = {0}; struct { int n; int *p; } holder = {1, x};",
            "x[1]",
            "&holder",
        ),
    ];
    let places = [
        "((struct pair *)p)->b",
        "*(int *)p",
        "((int *)p)[2]",
        "((struct pair *)p)[1].b",
        "(*(int **)((char *)p + 8))[1]",
    ];
    for ((declared, own, given), place) in cases.into_iter().zip(places) {
        let text = format!(
            "static void *other(void *p) {{ {place} += 1; return 0; }}
int main(void) {{
    {declared}
    pthread_t thread = start(other, {given});
    {own} += 1;
    pthread_join(thread, 0);
    assert({own} == 2);
}}
"
        );
        for (what, report) in reports(&text, &[], &["-O0", "-O2"]) {
            assert_eq!(report["errors"][0]["kind"], "data_race", "{what}");
        }
        for (what, report) in reports(&text, &["--plain", "sc"], &["-O0"]) {
            assert_eq!(report["errors"][0]["kind"], "assertion", "{what}");
        }
        let joined = text.replace(
            &format!("    {own} += 1;\n    pthread_join(thread, 0);"),
            &format!("    pthread_join(thread, 0);\n    {own} += 1;"),
        );
        for (what, report) in reports(&joined, &[], &["-O0", "-O2"]) {
            assert_eq!(report["verdict"], "verified", "{what}");
        }
    }
}

/// Other code, for example a hook, has left values at the places of these variables. The values
/// must be the same in each execution.
#[test]
fn first_writes_to_locals_are_the_same_in_each_execution() {
    for declared in ["volatile int n = 0;", "atomic_int n; atomic_store(&n, 0);"] {
        let text = format!(
            "static void *both(void *p) {{
    char bytes[200];
    {declared}
    memset(bytes, 1, sizeof bytes);
    n++;
    count += n + bytes[199];
    return p;
}}
int main(void) {{
    pthread_t thread = start(both, 0);
    both(0);
    pthread_join(thread, 0);
    assert(count == 4);
}}
"
        );
        for (what, report) in reports(&text, &[], &["-O0", "-O2"]) {
            assert_eq!(report["verdict"], "verified", "{what}");
        }
    }
}

/// Threads use state that the C library shares between threads. Some uses race. For others, the
/// order matters.
#[test]
fn state_of_the_library_is_shared() {
    let begin =
        "#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n#include <sys/stat.h>\n";
    let program = |before: &str, other: &str, own: &str, after: &str| {
        format!(
            "{begin}static int got;
static FILE *file;
static time_t zero;
static void *other(void *p) {{ {other}; return p; }}
int main(void) {{
    {before};
    pthread_t thread = start(other, 0);
    {own};
    pthread_join(thread, 0);
    {after};
}}
"
        )
    };
    let races = [
        (
            "",
            "char a[] = \"a b\"; strtok(a, \" \")",
            "char b[] = \"c d\"; strtok(b, \" \")",
        ),
        ("", "localtime(&zero)", "gmtime(&zero)"),
        ("", "setenv(\"A\", \"1\", 1)", "getenv(\"B\")"),
        ("", "drand48()", "lrand48()"),
    ];
    for (before, other, own) in races {
        for (what, report) in reports(&program(before, other, own, ""), &[], &["-O0"]) {
            assert_eq!(report["errors"][0]["kind"], "data_race", "{what}");
        }
        let together = program(before, "", &format!("{other}; {own}"), "");
        for (what, report) in reports(&together, &[], &["-O0"]) {
            assert_eq!(report["verdict"], "verified", "{what}");
        }
    }
    let orders = [
        (
            "srand(7); int first = rand(); srand(7)",
            "rand()",
            "got = rand()",
            "assert(got == first)",
        ),
        ("umask(7)", "umask(0)", "got = umask(1)", "assert(got == 7)"),
        (
            "file = fmemopen(\"xy\", 2, \"r\")",
            "fgetc(file)",
            "got = fgetc(file)",
            "fclose(file); assert(got == 'x')",
        ),
        (
            "file = tmpfile()",
            "write(fileno(file), \"a\", 1)",
            "write(fileno(file), \"b\", 1)",
            "rewind(file); got = fgetc(file); fclose(file); assert(got == 'b')",
        ),
    ];
    for (before, other, own, after) in orders {
        let text = format!(
            "#include <unistd.h>\n{}",
            program(before, other, own, after)
        );
        for (what, report) in reports(&text, &[], &["-O0"]) {
            assert_eq!(report["errors"][0]["kind"], "assertion", "{what}");
        }
    }
}

#[test]
fn functions_fail_where_posix_says_so() {
    let text = "
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>
static void *other(void *p) {
    sigset_t set;
    pthread_sigmask(SIG_BLOCK, 0, &set);
    assert(sigismember(&set, SIGUSR2) && !sigismember(&set, SIGUSR1));
    sigfillset(&set);
    pthread_sigmask(SIG_SETMASK, &set, 0);
    return p;
}
int main(void) {
    struct timespec bad = {1, 1000000000};
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    assert(sem_timedwait(&semaphore, &bad) == -1 && errno == EINVAL);
    errno = 0;
    assert(nanosleep(&bad, 0) == -1 && errno == EINVAL);
    assert(clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, 0) == EINVAL);
    pthread_key_t key;
    int keys = 0, result;
    while (!(result = pthread_key_create(&key, 0)))
        assert(++keys <= PTHREAD_KEYS_MAX);
    assert(result == EAGAIN && keys > 64);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_join(start(other, 0), 0);
    pthread_sigmask(SIG_UNBLOCK, &set, &set);
    assert(sigismember(&set, SIGUSR2) && !sigismember(&set, SIGUSR1));
    assert(pthread_sigmask(17, &set, 0) == EINVAL);
    struct pollfd one = {0};
    struct timeval now = {0, 0};
    struct epoll_event event;
    errno = 0;
    assert(poll(&one, -1, 0) == -1 && errno == EINVAL);
    assert(epoll_wait(-1, &event, 1, 0) == -1 && errno == EBADF);
    assert(select(-1, 0, 0, 0, &now) == -1 && errno == EINVAL);
}
";
    for (what, report) in reports(text, &[], &["-O0"]) {
        assert_eq!(
            report["verdict"], "verified",
            "{what}: {}",
            report["errors"]
        );
    }
}

/// A thread publishes the address of its thread-local variable. `{uses}` is code in main, and
/// `{before}` runs before the thread ends.
fn gives_away(before: &str, uses: &str) -> String {
    format!(
        "#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
static _Thread_local volatile int own;
static _Thread_local atomic_int own_atomic;
static volatile int *plain;
static atomic_int *variable;
static sem_t given, used;
static void *thread(void *unused) {{
    plain = &own;
    variable = &own_atomic;
    own = 1;
    sem_post(&given);
    {before}
    return unused;
}}
int main(void) {{
    pthread_t other;
    sem_init(&given, 0, 0);
    sem_init(&used, 0, 0);
    pthread_create(&other, NULL, thread, NULL);
    {uses}
    return 0;
}}
"
    )
}

#[test]
fn thread_local_memory_ends_with_its_thread() {
    let toolchain = Toolchain::first();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    let executable = folder.path().join("program");
    let is_right = "sem_wait(&used);";
    let cases = [
        (
            is_right,
            "sem_wait(&given); *plain = 2; (*variable)++; sem_post(&used); pthread_join(other, NULL);",
            None,
        ),
        (
            "",
            "pthread_join(other, NULL); *plain = 2;",
            Some("use_after_free"),
        ),
        (
            "",
            "pthread_join(other, NULL); (void)*plain;",
            Some("use_after_free"),
        ),
        (
            "",
            "pthread_join(other, NULL); (*variable)++;",
            Some("use_after_free"),
        ),
        (
            "",
            "sem_wait(&given); *plain = 2; pthread_join(other, NULL);",
            Some("use_after_free"),
        ),
        (
            "",
            "sem_wait(&given); (*variable)++; pthread_join(other, NULL);",
            Some("use_after_free"),
        ),
    ];
    for (before, uses, expected) in cases {
        fs::write(&source, gives_away(before, uses)).unwrap();
        for flag in ["-O0", "-O2"] {
            toolchain
                .build(&source, &[flag.to_owned()], &executable)
                .unwrap();
            for plain in ["race", "sc"] {
                let report = check(&["--plain", plain], &executable, &[]).unwrap();
                let kind = report["errors"][0]["kind"].as_str();
                assert_eq!(kind, expected, "{uses} {flag} {plain}: {report}");
            }
        }
    }
}

/// A program whose function `run` shares its local `x` with a thread, and returns.
fn returns(used: &str, run: &str) -> String {
    format!(
        "#include <semaphore.h>
         #include <stdio.h>
         static sem_t posted, seen;
         static pthread_t thread;
         struct shared {{
             int n; atomic_int go, more; char text[8];
             pthread_mutex_t m; pthread_cond_t c; sem_t s; pthread_barrier_t b;
         }};
         struct shared *given;
         int kept;
         static void *use(void *p) {{ struct shared *x = p; {used} return 0; }}
         __attribute__((noinline)) static void run(void) {{
             struct shared x = {{.m = PTHREAD_MUTEX_INITIALIZER, .c = PTHREAD_COND_INITIALIZER}};
             sem_init(&x.s, 0, 0);
             pthread_barrier_init(&x.b, 0, 2);
             {run}
         }}
         int main(void) {{
             sem_init(&posted, 0, 0);
             sem_init(&seen, 0, 0);
             run();
             return pthread_join(thread, 0);
         }}"
    )
}

#[test]
fn the_return_of_a_function_must_be_ordered_with_uses_of_its_locals() {
    let start = "pthread_create(&thread, 0, use, &x);";
    let wait = format!("{start} sem_wait(&posted);");
    let spin = format!("{start} while (!x.go);");
    let lock = format!(
        "{start} pthread_mutex_lock(&x.m);
         while (!x.n) pthread_cond_wait(&x.c, &x.m);
         pthread_mutex_unlock(&x.m);"
    );
    // Each case has two programs. In the first, the use follows the event that lets the function
    // return. In the second, it precedes that event.
    let cases = [
        (
            &wait,
            "sem_post(&posted); x->n = 1;",
            "x->n = 1; sem_post(&posted);",
        ),
        (
            &wait,
            "sem_post(&posted); return (void *)(long)x->n;",
            "int n = x->n; sem_post(&posted); return n ? x : 0;",
        ),
        (
            &wait,
            "sem_post(&posted); strcpy(x->text, \"abc\");",
            "strcpy(x->text, \"abc\"); sem_post(&posted);",
        ),
        (
            &wait,
            "sem_post(&posted); sem_post(&x->s);",
            "sem_post(&x->s); sem_post(&posted);",
        ),
        (
            &wait,
            "sem_post(&posted); pthread_mutex_lock(&x->m);",
            "pthread_mutex_lock(&x->m); sem_post(&posted);",
        ),
        (&spin, "x->go = 1; x->more = 1;", "x->more = 1; x->go = 1;"),
        (&spin, "x->go = 1; x->n = 1;", "x->n = 1; x->go = 1;"),
        (
            &lock,
            "pthread_mutex_lock(&x->m); x->n = 1; pthread_mutex_unlock(&x->m); pthread_cond_signal(&x->c);",
            "pthread_mutex_lock(&x->m); x->n = 1; pthread_cond_signal(&x->c); pthread_mutex_unlock(&x->m);",
        ),
    ];
    for (run, late, early) in cases {
        for (used, is_late) in [(late, true), (early, false)] {
            for options in [&[][..], &["--plain=sc"], &["--memory=rc11"]] {
                for (program, report) in reports(&returns(used, run), options, &["-O0", "-O2"]) {
                    let verdict = if is_late { "bug" } else { "verified" };
                    assert_eq!(
                        report["verdict"], verdict,
                        "{options:?} {program}\n{report}"
                    );
                    if is_late {
                        assert_eq!(report["errors"][0]["kind"], "use_after_free", "{program}");
                    }
                }
            }
        }
    }
}

#[test]
fn objects_in_locals_may_end_as_soon_as_posix_permits() {
    let start = "pthread_create(&thread, 0, use, &x);";
    let semaphore = format!("{start} sem_wait(&x.s);");
    let barrier = format!("{start} pthread_barrier_wait(&x.b);");
    for (run, used) in [
        (semaphore, "sem_post(&x->s);"),
        (barrier, "pthread_barrier_wait(&x->b);"),
    ] {
        for (program, report) in reports(&returns(used, &run), &[], &["-O0", "-O2"]) {
            assert_eq!(report["verdict"], "verified", "{program}\n{report}");
        }
    }
}

#[test]
fn stacks_may_be_local_variables() {
    let program = |ends: &str| {
        format!(
            "#include <stdint.h>
             #include <ucontext.h>
             static ucontext_t caller, callee;
             static atomic_int steps;
             static void *use(void *p) {{ steps++; atomic_int *x = p; (*x)++; return 0; }}
             static void coroutine(void) {{ steps++; swapcontext(&callee, &caller); steps++; }}
             int main(void) {{
                 atomic_int x = 0;
                 char stack[1 << 15];
                 pthread_t thread = start(use, &x);
                 getcontext(&callee);
                 callee.uc_stack.ss_sp = stack;
                 callee.uc_stack.ss_size = sizeof stack;
                 callee.uc_link = &caller;
                 makecontext(&callee, coroutine, 0);
                 swapcontext(&caller, &callee);
                 x++;
                 swapcontext(&caller, &callee);
                 {ends}
             }}"
        )
    };
    for (ends, verdict) in [
        ("pthread_join(thread, 0); return x != 2;", "verified"),
        ("return x == 2;", "bug"),
    ] {
        for (program, report) in reports(&program(ends), &[], &["-O0", "-O2"]) {
            assert_eq!(report["verdict"], verdict, "{program}\n{report}");
        }
    }
}

#[test]
fn savepoints_keep_which_locals_other_threads_have_accessed() {
    let run = "pthread_create(&thread, 0, use, &x); pthread_create(&given, 0, more, 0);
               while (!atomic_load_explicit(&done, memory_order_relaxed));
               atomic_load_explicit(&again, memory_order_acquire);";
    let text = format!(
        "static atomic_int n, m, o, done, again;
         static pthread_t thread, given;
         int kept;
         static void *use(void *p) {{
             n++;
             n++;
             if (n++ == 5) kept = atomic_load_explicit((atomic_int *)p, memory_order_relaxed);
             m++;
             m++;
             m++;
             atomic_store_explicit(&done, 1, memory_order_relaxed);
             atomic_store_explicit(&again, 1, memory_order_release);
             o++;
             o++;
             return 0;
         }}
         static void *more(void *p) {{ n++; n++; n++; return p; }}
         __attribute__((noinline)) static void run(void) {{ atomic_int x = 0; {run} }}
         int main(void) {{
             run();
             o++;
             o++;
             pthread_join(thread, 0);
             return pthread_join(given, 0);
         }}"
    );
    for options in [
        &["--memory=rc11"][..],
        &["--memory=rc11", "--without=savepoints"],
    ] {
        for (program, report) in reports(&text, options, &["-O1"]) {
            assert_eq!(
                report["errors"][0]["kind"], "use_after_free",
                "{options:?} {program}"
            );
        }
    }
}

#[test]
fn the_end_of_a_thread_must_be_ordered_with_uses_of_its_locals() {
    let run = "pthread_create(&thread, 0, use, &x); sem_wait(&posted);";
    let used = "struct shared own = {.n = 0}; given = &own; sem_post(&posted); sem_wait(&seen);";
    for (then, verdict) in [
        ("sem_post(&seen); kept = given->n;", "bug"),
        ("kept = given->n; sem_post(&seen);", "verified"),
    ] {
        let text = returns(used, &format!("{run} {then}"));
        for (program, report) in reports(&text, &[], &["-O0", "-O2"]) {
            assert_eq!(report["verdict"], verdict, "{program}\n{report}");
            if verdict == "bug" {
                let message = report["errors"][0]["message"].as_str().unwrap();
                assert!(
                    message.contains(": end of T0 and read by main at "),
                    "{message}"
                );
            }
        }
    }
}

#[test]
fn main_must_not_use_memory_of_threads_that_it_has_joined() {
    for uses in [
        "kept = *given",
        "*given = 1",
        "kept = strnlen((char *)given, 4)",
        "kept = memcmp(given, &kept, 4)",
    ] {
        for local in ["int own = 3;", "static _Thread_local int own = 3;"] {
            let text = format!(
                "int kept, *given;
                 static void *run(void *p) {{ {local} given = &own; own++; return p; }}
                 int main(void) {{ pthread_join(start(run, 0), 0); {uses}; }}"
            );
            for (program, report) in reports(&text, &[], &["-O0"]) {
                assert_eq!(
                    report["errors"][0]["kind"], "use_after_free",
                    "{program}\n{report}"
                );
            }
        }
    }
}
