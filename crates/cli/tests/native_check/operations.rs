//! Operations of POSIX, C and C++ as the standards describe them. Each wrong program has a correct
//! twin.

use crate::toolchain::{self, Toolchain};
use serde_json::Value;
use std::fs;
use std::process::Command;

const HEAD: &str = "#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
static pthread_t thread;
static void start(void *(*run)(void *)) { pthread_create(&thread, 0, run, 0); }
static void join(void) { pthread_join(thread, 0); }
";

/// Returns the verdict on a program, and the first error.
#[track_caller]
pub fn checked(name: &str, source: &str, options: &[&str]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let head = if name.ends_with(".c") { HEAD } else { "" };
    fs::write(folder.path().join(name), format!("{head}{source}")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    Toolchain::first().stands_behind(&mut command);
    let output = command
        .args(["check", name, "--no-output", "--format", "json"])
        .args(options)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let report: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{errors}"));
    let error = &report["errors"][0];
    let kind = error["kind"].as_str().unwrap_or_default();
    let message = error["message"].as_str().unwrap_or_default();
    let verdict = report["verdict"].as_str().unwrap().to_owned();
    (verdict, format!("{kind}: {message}"))
}

/// Returns what a program prints when it runs without the checker.
#[track_caller]
pub fn printed(name: &str, source: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), source).unwrap();
    let built = Command::new("cc")
        .args([name, "-pthread", "-o", "program"])
        .current_dir(folder.path())
        .status()
        .unwrap();
    assert!(built.success());
    let output = Command::new(folder.path().join("program"))
        .output()
        .unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
pub fn verified(name: &str, source: &str, options: &[&str]) {
    let (verdict, error) = checked(name, source, options);
    assert_eq!(verdict, "verified", "{error}");
}

#[track_caller]
pub fn bug(part: &str, name: &str, source: &str, options: &[&str]) {
    let (verdict, error) = checked(name, source, options);
    assert_eq!(verdict, "bug");
    assert!(error.contains(part), "{error}");
}

#[test]
fn initialization_and_destruction_race_with_uses() {
    let program = |before: &str, after: &str| {
        format!(
            "static sem_t s; static pthread_mutex_t m;
             static void *run(void *p) {{ pthread_mutex_lock(&m); pthread_mutex_unlock(&m); sem_post(&s); return p; }}
             int main(void) {{ {before} start(run); {after} join(); }}"
        )
    };
    let (init, wait) = ("sem_init(&s, 0, 0);", "sem_wait(&s);");
    let right = format!("{wait} pthread_mutex_destroy(&m); sem_destroy(&s);");
    let reuse = "join(); sem_destroy(&s); sem_wait(&s); start(run);";
    // With interleaved plain accesses, only these operations order the threads.
    for options in [&[][..], &["--plain", "sc"]] {
        verified("right.c", &program(init, &right), options);
        let late = program("", &format!("{init} {wait}"));
        bug("initialization", "late.c", &late, options);
        bug(
            "destr",
            "early.c",
            &program(init, "sem_destroy(&s);"),
            options,
        );
        bug("destroyed", "reuse.c", &program(init, reuse), options);
        let mutex = program(init, "pthread_mutex_destroy(&m);");
        bug("", "mutex.c", &mutex, options);
        let again = program(init, "pthread_mutex_init(&m, 0);");
        bug("initialization", "again.c", &again, options);
    }
}

#[test]
fn what_was_destroyed_may_be_initialized_again_and_objects_on_the_stack_begin_anew() {
    let source = "static void use(void) {
            pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER;
            pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
            pthread_mutex_lock(&m); pthread_cond_signal(&c); pthread_mutex_unlock(&m);
            pthread_rwlock_rdlock(&l); pthread_rwlock_unlock(&l);
            pthread_mutex_destroy(&m); pthread_cond_destroy(&c); pthread_rwlock_destroy(&l);
        }
        static void *run(void *p) { use(); use(); return p; }
        int main(void) {
            pthread_barrier_t b;
            start(run); use(); use(); join();
            for (int i = 0; i < 2; i++) { pthread_barrier_init(&b, 0, 1); pthread_barrier_wait(&b); pthread_barrier_destroy(&b); }
        }";
    verified("again.c", source, &[]);
    let never = "int main(void) { static pthread_barrier_t b; pthread_barrier_wait(&b); }";
    bug("never initialized", "never.c", never, &[]);
}

#[test]
fn a_condition_variable_is_not_destroyed_under_a_wait_that_ends_by_itself() {
    let program = |wait: &str, destroys: &str| {
        format!(
            "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
             static int waits, over;
             static void *run(void *p) {{
                 struct timespec late = {{1, 0}};
                 pthread_mutex_lock(&m); waits = 1; {wait} over = 1; pthread_mutex_unlock(&m); return p;
             }}
             int main(void) {{
                 start(run);
                 pthread_mutex_lock(&m); {destroys} pthread_mutex_unlock(&m);
                 join();
             }}"
        )
    };
    let timed = "pthread_cond_timedwait(&c, &m, &late);";
    let renews = "if (waits) { pthread_cond_destroy(&c); pthread_cond_init(&c, 0); }";
    let begins = "if (waits) pthread_cond_init(&c, 0);";
    let after = "if (over) { pthread_cond_destroy(&c); pthread_cond_init(&c, 0); }";
    let wakes = "if (waits) { pthread_cond_broadcast(&c); pthread_cond_destroy(&c); }";
    for plain in [&[][..], &["--plain", "sc"]] {
        bug(
            "destroyed while",
            "renews.c",
            &program(timed, renews),
            plain,
        );
        bug(
            "initialized while",
            "begins.c",
            &program(timed, begins),
            plain,
        );
        verified("after.c", &program(timed, after), plain);
        verified("wakes.c", &program(timed, wakes), plain);
        let spurious = [plain, &["--spurious", "1"]].concat();
        let once = program(
            "if (!over) pthread_cond_wait(&c, &m);",
            &format!("over = 1; {renews}"),
        );
        bug("destroyed while", "once.c", &once, &spurious);
    }
}

#[test]
fn an_object_is_destroyed_while_a_thread_waits_for_something_else() {
    let kinds = [
        (
            "pthread_cond_t",
            "pthread_cond_init(&o, NULL)",
            "pthread_cond_signal(&o)",
            "pthread_cond_destroy(&o)",
        ),
        (
            "pthread_barrier_t",
            "pthread_barrier_init(&o, NULL, 1)",
            "pthread_barrier_wait(&o)",
            "pthread_barrier_destroy(&o)",
        ),
        (
            "sem_t",
            "sem_init(&o, 0, 0)",
            "sem_post(&o)",
            "sem_destroy(&o)",
        ),
        (
            "pthread_rwlock_t",
            "pthread_rwlock_init(&o, NULL)",
            "pthread_rwlock_tryrdlock(&o); pthread_rwlock_unlock(&o)",
            "pthread_rwlock_destroy(&o)",
        ),
    ];
    for (kind, initialize, uses, destroy) in kinds {
        let source = format!(
            "#include <semaphore.h>
             static {kind} o;
             static void *run(void *p) {{ {destroy}; {initialize}; return p; }}
             int main(void) {{ {initialize}; {uses}; start(run); join(); }}"
        );
        verified(&format!("{kind}.c"), &source, &[]);
    }
}

#[test]
fn memory_of_a_condition_variable_is_not_freed_under_a_wait() {
    let program = |ends: &str| {
        format!(
            "struct shared {{ pthread_mutex_t m; pthread_cond_t c; }};
             static struct shared *s; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static int waits, over;
             static void *run(void *p) {{
                 struct timespec late = {{1, 0}};
                 pthread_mutex_lock(&m);
                 if (!over) {{ waits = 1; pthread_cond_timedwait(&s->c, &m, &late); waits = 0; }}
                 pthread_mutex_unlock(&m); return p;
             }}
             int main(void) {{
                 s = calloc(1, sizeof *s); start(run);
                 pthread_mutex_lock(&m); over = 1; {ends} pthread_mutex_unlock(&m);
                 join();
             }}"
        )
    };
    bug("is freed while", "wrong.c", &program("free(s);"), &[]);
    verified("right.c", &program("if (!waits) free(s);"), &[]);
}

#[test]
fn the_last_user_of_a_mutex_may_destroy_it() {
    let program = |right: bool| {
        let (first, second) = match right {
            true => ("", "pthread_mutex_unlock(&m);"),
            false => ("pthread_mutex_unlock(&m);", ""),
        };
        format!(
            "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static int users = 2;
             static void *run(void *p) {{
                 pthread_mutex_lock(&m); {first} int last = --users == 0; {second}
                 if (last) pthread_mutex_destroy(&m);
                 return p;
             }}
             int main(void) {{ start(run); run(0); join(); }}"
        )
    };
    verified("right.c", &program(true), &[]);
    bug("data_race", "wrong.c", &program(false), &[]);
}

#[test]
fn a_wait_that_expires_has_reached_its_deadline_and_need_not_expire() {
    let program = |after: &str| {
        format!(
            "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
             static sem_t s; static struct timespec until; static int done;
             static void *run(void *p) {{ pthread_mutex_lock(&m); done = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return p; }}
             static void *expire(void *p) {{ assert(sem_timedwait(&s, &until) == -1 && errno == ETIMEDOUT); return p; }}
             int main(void) {{
                 struct timespec now; int result = 0;
                 sem_init(&s, 0, 0); clock_gettime(CLOCK_REALTIME, &until); until.tv_sec += 5;
                 start(run); pthread_mutex_lock(&m);
                 while (!done && !result) result = pthread_cond_timedwait(&c, &m, &until);
                 pthread_mutex_unlock(&m); join();
                 clock_gettime(CLOCK_REALTIME, &now); int late = now.tv_sec >= until.tv_sec;
                 {after}
             }}"
        )
    };
    verified(
        "both.c",
        &program("assert(late == (result == ETIMEDOUT));"),
        &[],
    );
    bug("assertion", "expires.c", &program("assert(!result);"), &[]);
    bug("assertion", "signalled.c", &program("assert(result);"), &[]);
    let joined = "start(expire); join(); clock_gettime(CLOCK_REALTIME, &now); assert(now.tv_sec >= until.tv_sec);";
    verified("joined.c", &program(joined), &[]);
}

#[test]
fn wakeups_without_a_signal_are_explored_where_they_are_asked_for() {
    let program = |how: &str| {
        format!(
            "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c = PTHREAD_COND_INITIALIZER; static int ready;
             static void *run(void *p) {{ pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return p; }}
             int main(void) {{ start(run); pthread_mutex_lock(&m); {how} (!ready) pthread_cond_wait(&c, &m); assert(ready); pthread_mutex_unlock(&m); join(); }}"
        )
    };
    verified("if.c", &program("if"), &[]);
    bug("assertion", "if.c", &program("if"), &["--spurious", "1"]);
    verified("while.c", &program("while"), &["--spurious", "2"]);
}

#[test]
fn release_sequences_continue_in_c_and_in_cpp_before_cpp20() {
    let body = "static int x; static std::atomic<int> y;
        int main() {
            std::thread t([] { x = 1; y.store(1, std::memory_order_release); y.store(2, std::memory_order_relaxed); });
            if (y.load(std::memory_order_acquire) == 2) x = 2;
            t.join();
        }";
    let source = format!("#include <atomic>\n#include <thread>\n{body}");
    verified("old.cpp", &source, &["--", "-std=c++17"]);
    bug("data_race", "new.cpp", &source, &["--", "-std=c++20"]);
}

#[test]
fn a_wider_access_changes_no_verdict_on_its_bytes() {
    let program = |wide: &str, acquired: usize, between: &str| {
        format!(
            "static union {{ _Atomic unsigned char b[2]; _Atomic unsigned short h; }} u; static int d, seen;
             static void *run(void *p) {{ d = 1; atomic_store_explicit(&u.b[0], 1, memory_order_release); {between} return p; }}
             int main(void) {{
                 {wide} start(run);
                 if (atomic_load_explicit(&u.b[0], memory_order_relaxed)) {{
                     atomic_load_explicit(&u.b[{acquired}], memory_order_acquire); seen = d;
                 }}
                 join();
             }}"
        )
    };
    let relaxed = "atomic_store_explicit(&u.b[1], 1, memory_order_relaxed);";
    for wide in ["", "atomic_load(&u.h);"] {
        verified("own.c", &program(wide, 0, relaxed), &[]);
        bug("data_race", "neighbour.c", &program(wide, 1, ""), &[]);
    }
}

#[test]
fn readers_pass_waiting_writers_unless_the_lock_prefers_writers() {
    let program = |kind: &str| {
        format!(
            "static pthread_rwlock_t l;
             static void *run(void *p) {{ pthread_rwlock_wrlock(&l); pthread_rwlock_unlock(&l); return p; }}
             int main(void) {{
                 pthread_rwlockattr_t a; pthread_rwlockattr_init(&a);
                 pthread_rwlockattr_setkind_np(&a, PTHREAD_RWLOCK_PREFER_{kind}_NP); pthread_rwlock_init(&l, &a);
                 pthread_rwlock_rdlock(&l); start(run);
                 if (pthread_rwlock_tryrdlock(&l) == 0) pthread_rwlock_unlock(&l); else assert(!\"no place\");
                 pthread_rwlock_rdlock(&l); pthread_rwlock_unlock(&l); pthread_rwlock_unlock(&l); join();
             }}"
        )
    };
    verified("readers.c", &program("READER"), &[]);
    let writers = program("WRITER_NONRECURSIVE");
    bug("", "writers.c", &writers, &[]);
    let tried = "if (pthread_rwlock_tryrdlock(&l) == 0) pthread_rwlock_unlock(&l); else assert(!\"no place\");";
    bug("deadlock", "again.c", &writers.replace(tried, ""), &[]);
}

#[test]
fn a_local_variable_ends_with_its_function() {
    let program = |before: &str| {
        format!(
            "static _Atomic(int *) p; static atomic_int done;
             static void publish(void) {{ int local = 42; atomic_store(&p, &local); {before} }}
             static void *run(void *a) {{ publish(); return a; }}
             int main(void) {{ start(run); int *q = atomic_load(&p), v = q ? *q : 0; atomic_store(&done, 1); join(); return v & 0; }}"
        )
    };
    verified(
        "waits.c",
        &program("while (!atomic_load(&done));"),
        &["--", "-w"],
    );
    bug("has returned", "returns.c", &program(""), &["--", "-w"]);
}

#[test]
fn a_semaphore_has_a_greatest_value() {
    let source = "static sem_t s;
        static void *run(void *p) { sem_wait(&s); return p; }
        int main(void) {
            assert(sem_init(&s, 0, SEM_VALUE_MAX + 1u) == -1 && errno == EINVAL);
            sem_init(&s, 0, SEM_VALUE_MAX); start(run);
            int result = sem_post(&s);
            assert(ASSERTED);
            join();
        }";
    let or_full = "result == 0 || errno == EOVERFLOW";
    verified("either.c", &source.replace("ASSERTED", or_full), &[]);
    bug(
        "assertion",
        "fits.c",
        &source.replace("ASSERTED", "result == 0"),
        &[],
    );
    bug(
        "assertion",
        "full.c",
        &source.replace("ASSERTED", "result == -1"),
        &[],
    );
}

#[test]
fn what_is_done_once_is_tried_again_after_an_exception_and_throwing_is_no_event() {
    let source = "#include <cassert>\n#include <mutex>\n#include <thread>
        static std::once_flag flag; static int tries, done;
        static void call() { try { std::call_once(flag, [] { if (++tries == 1) throw 1; ++done; }); } catch (int) {} }
        int main() { std::thread t(call); call(); t.join(); assert(done == ASSERTED); }";
    verified("once.cpp", &source.replace("ASSERTED", "1"), &[]);
    bug(
        "assertion",
        "never.cpp",
        &source.replace("ASSERTED", "0"),
        &[],
    );
}

/// Each thread has its own processors, at first those of its creator.
#[test]
fn the_processors_that_a_thread_sets_are_those_that_it_reads() {
    let source = "#include <sched.h>
        static cpu_set_t all, last;
        static void *run(void *own) {
            cpu_set_t set, found;
            assert(!sched_getaffinity(0, sizeof found, &found));
            assert(own ? CPU_COUNT(&found) == CPU_COUNT(&all) : CPU_EQUAL(&found, &last));
            CPU_ZERO(&set);
            int first = -1;
            for (int i = 0; i < CPU_SETSIZE && (first < 0 || own); i++) if (CPU_ISSET(i, &all)) first = i;
            CPU_SET(first, &set);
            assert(!pthread_setaffinity_np(pthread_self(), sizeof set, &set));
            assert(!sched_getaffinity(0, sizeof found, &found) && CPU_EQUAL(&set, &found));
            assert(!pthread_getaffinity_np(pthread_self(), sizeof found, &found) && CPU_EQUAL(&set, &found));
            assert(sched_getcpu() == first);
            last = set;
            CPU_ZERO(&set);
            assert(sched_setaffinity(0, sizeof set, &set) == -1 && errno == EINVAL);
            return 0;
        }
        int main(void) {
            sched_getaffinity(0, sizeof all, &all);
            run(&thread);
            start(run);
            join();
        }";
    verified("processors.c", source, &[]);
}

#[test]
fn results_that_functions_of_threads_write_race_with_reads() {
    let program = |own: &str, main: &str| {
        format!(
            "#include <poll.h>
             #include <signal.h>
             #include <sys/epoll.h>
             #include <sys/eventfd.h>
             #include <threads.h>
             static struct epoll_event found; static pthread_key_t key; static clockid_t clock_id;
             static struct pollfd asked = {{-1}}; static sigset_t set; static struct sigaction action;
             static eventfd_t number; static void *memory;
             static pthread_t worker; static void *result; static int code;
             static void *work(void *p) {{ return p; }}
             static int work_too(void *p) {{ return 1; }}
             static void *run(void *p) {{ {own}; return p; }}
             int main(void) {{ start(run); {main}; join(); }}"
        )
    };
    for (own, main) in [
        (
            "assert(!pthread_equal(worker, thread))",
            "pthread_create(&worker, 0, work, 0); pthread_join(worker, 0)",
        ),
        (
            "assert(!result)",
            "pthread_create(&worker, 0, work, &asked); pthread_join(worker, &result)",
        ),
        (
            "assert(!code)",
            "thrd_create(&worker, work_too, 0); thrd_join(worker, &code)",
        ),
        ("assert(!key)", "pthread_key_create(&key, 0)"),
        ("assert(!key)", "tss_create(&key, 0)"),
        (
            "assert(!clock_id)",
            "pthread_getcpuclockid(pthread_self(), &clock_id)",
        ),
        ("assert(!asked.revents)", "poll(&asked, 1, 0)"),
        (
            "assert(!sigismember(&set, 3))",
            "pthread_sigmask(SIG_BLOCK, 0, &set)",
        ),
        ("assert(!action.sa_flags)", "sigaction(SIGUSR1, 0, &action)"),
        ("assert(!code)", "pthread_setcancelstate(1, &code)"),
        (
            "assert(!memory)",
            "posix_memalign(&memory, 64, 64); free(memory)",
        ),
        (
            "assert(!number)",
            "int file = eventfd(1, 0); eventfd_read(file, &number)",
        ),
        (
            "assert(!found.events)",
            "int file = eventfd(1, 0), poller = epoll_create1(0); struct epoll_event event = {EPOLLIN};
             epoll_ctl(poller, EPOLL_CTL_ADD, file, &event); epoll_wait(poller, &found, 1, 0)",
        ),
    ] {
        bug("data_race", "result.c", &program(own, main), &[]);
    }
    // The id is written before the thread starts.
    let source = "static pthread_t worker;
        static void *run(void *p) { assert(pthread_equal(worker, pthread_self())); return p; }
        int main(void) { pthread_create(&worker, 0, run, 0); pthread_join(worker, 0); }";
    verified("own.c", source, &[]);
}

/// A wait on a condition variable unlocks its mutex once. The thread must hold the mutex.
#[test]
fn a_condition_is_waited_for_with_a_mutex_that_is_held_once() {
    let program = |kind: &str, code: &str| {
        format!(
            "#include <threads.h>
             static pthread_mutex_t m = PTHREAD_{kind}_MUTEX_INITIALIZER_NP;
             static pthread_cond_t c = PTHREAD_COND_INITIALIZER; static int ready;
             static void *run(void *p) {{
                 pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);
                 return p;
             }}
             int main(void) {{ {code} }}"
        )
    };
    let waits = "while (!ready) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);";
    let once = format!("start(run); pthread_mutex_lock(&m); {waits} join();");
    verified("once.c", &program("RECURSIVE", &once), &[]);
    let twice = format!(
        "start(run); pthread_mutex_lock(&m); pthread_mutex_lock(&m); {waits} pthread_mutex_unlock(&m); join();"
    );
    bug("misuse", "twice.c", &program("RECURSIVE", &twice), &[]);
    for kind in ["RECURSIVE", "ERRORCHECK"] {
        let code = "struct timespec past = {0}; assert(pthread_cond_wait(&c, &m) == EPERM);
            assert(pthread_cond_timedwait(&c, &m, &past) == EPERM);
            assert(cnd_wait((cnd_t *)&c, (mtx_t *)&m) == thrd_error);";
        verified("not-held.c", &program(kind, code), &[]);
    }
}

#[test]
fn the_end_of_a_thread_runs_its_handlers() {
    for end in ["pthread_exit(0)", "thrd_exit(0)"] {
        let source = format!(
            "#include <threads.h>
             static int handled;
             static void handle(void *p) {{ handled = 1; }}
             static void *run(void *p) {{ pthread_cleanup_push(handle, 0); {end}; pthread_cleanup_pop(0); return p; }}
             int main(void) {{ start(run); join(); assert(handled); }}"
        );
        verified("handler.c", &source, &[]);
    }
}

#[test]
fn a_reader_writer_lock_that_is_held_is_not_destroyed() {
    let program = |code: &str| {
        format!(
            "int main(void) {{ pthread_rwlock_t l; pthread_rwlock_init(&l, 0);
             pthread_rwlock_rdlock(&l); {code} pthread_rwlock_destroy(&l); }}"
        )
    };
    bug("misuse", "held.c", &program(""), &[]);
    verified("free.c", &program("pthread_rwlock_unlock(&l);"), &[]);
}

/// A loop that asks the system ends after another thread has changed the answer.
#[test]
fn a_loop_that_asks_the_system_is_not_stuck() {
    for asks in [
        "struct pollfd asked = {ends[0], POLLIN}; while (!poll(&asked, 1, 0));",
        "fd_set set; struct timeval now; do { FD_ZERO(&set); FD_SET(ends[0], &set); now.tv_sec = now.tv_usec = 0; }
         while (!select(ends[0] + 1, &set, 0, 0, &now));",
        "struct epoll_event found; while (!epoll_wait(poller, &found, 1, 0));",
    ] {
        let source = format!(
            "#include <poll.h>
             #include <sys/epoll.h>
             #include <sys/select.h>
             #include <unistd.h>
             static int ends[2], poller;
             static void *run(void *p) {{ write(ends[1], \"x\", 1); return p; }}
             int main(void) {{
                 pipe(ends);
                 poller = epoll_create1(0);
                 struct epoll_event event = {{EPOLLIN}};
                 epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], &event);
                 start(run);
                 {asks}
                 join();
             }}"
        );
        verified("asks.c", &source, &[]);
    }
}

#[test]
fn a_thread_loads_and_unloads_a_library() {
    let source = "#include <dlfcn.h>
        static void *run(void *p) {
            void *library = dlopen(\"libm.so.6\", RTLD_NOW);
            double (*cosine)(double) = dlsym(library, \"cos\");
            assert(cosine(0) == 1);
            dlclose(library);
            return p;
        }
        int main(void) { start(run); run(0); join(); }";
    verified("library.c", source, &["--", "-ldl"]);
}

#[test]
fn numbered_arguments_of_formats_are_read() {
    let program = |format: &str, arguments: &str| {
        format!(
            "#include <stdio.h>
             #include <wchar.h>
             static char name[8] = \"abc\"; static wchar_t wide[8] = L\"abc\";
             static void *run(void *p) {{ name[0] = 'x'; wide[0] = L'x'; return p; }}
             int main(void) {{ char text[64]; start(run); snprintf(text, sizeof text, \"{format}\", {arguments}); join(); }}"
        )
    };
    for (format, arguments) in [
        ("%2$.*1$s", "2, name"),
        ("%1$p: %1$s", "name"),
        ("%2$*1$s", "5, name"),
        ("%.3ls", "wide"),
        ("%1$.1s %1$s", "name"),
    ] {
        bug(
            "data_race",
            "format.c",
            &program(format, arguments),
            &["--", "-w"],
        );
    }
    for (format, arguments) in [
        ("%1$*2$d|%3$s", "4, 5, (char *)\"abc\""),
        ("%2$.*1$s", "0, name + 1"),
    ] {
        verified("fine.c", &program(format, arguments), &["--", "-w"]);
    }
}

#[test]
fn a_thread_begins_with_the_name_of_its_creator() {
    let source = "#include <stdio.h>
        #include <string.h>
        static void *run(void *p) {
            char name[16];
            pthread_getname_np(pthread_self(), name, sizeof name);
            assert(!strcmp(name, p));
            return 0;
        }
        int main(void) {
            pthread_setname_np(pthread_self(), \"other\");
            pthread_create(&thread, 0, run, \"other\");
            join();
        }";
    verified("named.c", source, &[]);
}

#[test]
fn threads_with_thread_local_memory_join_sort_and_name_inputs() {
    let text = "
#include <pthread.h>
#include <stdlib.h>
long mazurka_input(const char *name, long lowest, long highest);
static _Thread_local int uses;
static int numbers[2000];
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void *ends(void *p) { return p; }
static void *joins(void *p) {
    pthread_t thread;
    void *result = 0;
    uses += (int)mazurka_input(\"\\xff\", 0, 1);
    pthread_create(&thread, 0, ends, p);
    pthread_join(thread, &result);
    qsort(numbers, 2000, sizeof *numbers, compare);
    return result;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, joins, 0);
    return pthread_join(thread, 0);
}
";
    let folder = tempfile::tempdir().unwrap();
    let [source, executable] = ["program.c", "program"].map(|name| folder.path().join(name));
    fs::write(&source, text).unwrap();
    Toolchain::first()
        .build(&source, &["-O1".to_owned()], &executable)
        .unwrap();
    for (plain, verdict) in [("race", "verified"), ("sc", "bounded")] {
        let options = ["--plain", plain, "--max-events", "1000000"];
        let report = toolchain::check(&options, &executable, &[]).unwrap();
        assert_eq!(report["verdict"], verdict, "{plain}: {report}");
        assert_eq!(report["executions"], 2, "{plain}: {report}");
    }
}

#[test]
fn errors_of_a_mutex_and_of_a_thread_that_is_the_own_one_are_those_of_the_system() {
    let source = "int pthread_tryjoin_np(pthread_t, void **);
        int main(void) {
            pthread_mutexattr_t checking;
            pthread_mutexattr_init(&checking);
            pthread_mutexattr_settype(&checking, PTHREAD_MUTEX_ERRORCHECK);
            pthread_mutex_t m;
            pthread_mutex_init(&m, &checking);
            struct timespec invalid = {0, -1};
            assert(pthread_mutex_timedlock(&m, &invalid) == 0);
            assert(pthread_mutex_timedlock(&m, &invalid) == EDEADLK);
            assert(pthread_tryjoin_np(pthread_self(), NULL) == EBUSY);
            pthread_mutex_unlock(&m);
        }";
    verified("program.c", source, &[]);
}
