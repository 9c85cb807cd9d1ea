//! Clocks of threads: after an acquire, the time is not earlier than the release.

use crate::operations::{bug, verified};

/// How a thread releases, and how main acquires. `is` is set if main has acquired.
const ORDERS: [(&str, &str); 9] = [
    ("flag = 1", "is = flag"),
    (
        "flag++",
        "int e = 1; is = atomic_compare_exchange_strong(&flag, &e, 2)",
    ),
    (
        "pthread_mutex_lock(&m); ready = 1; pthread_mutex_unlock(&m)",
        "pthread_mutex_lock(&m); is = ready; pthread_mutex_unlock(&m)",
    ),
    (
        "pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m)",
        "pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&c, &m); is = 1; pthread_mutex_unlock(&m)",
    ),
    (
        "pthread_rwlock_wrlock(&r); ready = 1; pthread_rwlock_unlock(&r)",
        "pthread_rwlock_rdlock(&r); is = ready; pthread_rwlock_unlock(&r)",
    ),
    (
        "pthread_spin_lock(&l); ready = 1; pthread_spin_unlock(&l)",
        "pthread_spin_lock(&l); is = ready; pthread_spin_unlock(&l)",
    ),
    ("sem_post(&s)", "sem_wait(&s); is = 1"),
    (
        "pthread_barrier_wait(&b)",
        "pthread_barrier_wait(&b); is = 1",
    ),
    ("(void)0", "join(); is = 1"),
];

#[test]
fn what_is_acquired_is_not_earlier_than_its_release() {
    for (release, acquire) in ORDERS {
        let program = |seconds: u32| {
            format!(
                "#include <sys/time.h>
                 #include <unistd.h>
                 static atomic_int flag; static int ready; static sem_t s; static pthread_barrier_t b; static pthread_spinlock_t l;
                 static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
                 static pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER;
                 static void *run(void *p) {{ sleep(5); {release}; return p; }}
                 int main(void) {{
                     sem_init(&s, 0, 0); pthread_barrier_init(&b, 0, 2); pthread_spin_init(&l, 0);
                     time_t until = time(0) + {seconds};
                     start(run);
                     int is = 0;
                     {acquire};
                     struct timeval day; gettimeofday(&day, 0);
                     struct timespec now; clock_gettime(CLOCK_REALTIME, &now);
                     assert(!is || (time(0) >= until && day.tv_sec >= until && now.tv_sec >= until));
                 }}"
            )
        };
        verified("later.c", &program(5), &[]);
        bug("assertion", "much-later.c", &program(6), &[]);
    }
}

#[test]
fn a_clock_is_carried_in_cpp_and_a_loop_until_a_deadline_ends() {
    let source = "#include <atomic>
        #include <cassert>
        #include <chrono>
        #include <mutex>
        #include <thread>
        using clock_type = std::chrono::steady_clock;
        std::mutex m; clock_type::time_point written; std::atomic<bool> is_over;
        int main() {
            std::thread t([] {
                auto deadline = clock_type::now() + std::chrono::seconds(2);
                while (clock_type::now() < deadline) std::this_thread::sleep_for(std::chrono::seconds(1));
                { std::lock_guard lock(m); written = clock_type::now(); }
                is_over = true;
            });
            { std::lock_guard lock(m); assert(written <= clock_type::now()); }
            if (is_over) assert(written <= clock_type::now());
            t.join();
        }";
    verified("carried.cpp", source, &["--", "-std=c++17"]);
}

#[test]
fn an_old_value_carries_no_later_time() {
    let source = "static atomic_int flag;
        static void *run(void *p) { flag = 1; sleep(5); atomic_fetch_add(&flag, 1); return p; }
        int main(void) {
            time_t until = time(0) + 5;
            start(run);
            int seen = flag;
            assert((time(0) >= until) == (seen == 2));
        }";
    for memory in ["sc", "tso", "rc11"] {
        verified("old.c", source, &["--memory", memory]);
    }
}

#[test]
fn the_end_of_a_wait_carries_the_time_of_the_waker_only() {
    let source = "#include <linux/futex.h>
        #include <sys/syscall.h>
        static atomic_int word;
        static void *wake(void *p) { syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0); return p; }
        static void *change(void *p) { sleep(5); word = 1; return p; }
        int main(void) {
            time_t until = time(0) + 5;
            struct timespec limit = { 2, 0 };
            start(wake); start(change);
            syscall(SYS_futex, &word, FUTEX_WAIT, 0, &limit, 0, 0);
            assert(time(0) < until);
        }";
    for memory in ["sc", "tso", "rc11"] {
        verified("woken.c", source, &["--memory", memory]);
    }
}

/// If the thread waits, the first signal wakes it. The second signal then finds no waiter.
#[test]
fn a_waiter_takes_the_time_of_the_signal_that_woke_it() {
    let source = "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
        static int ready;
        static void *run(void *p) {
            pthread_mutex_lock(&m);
            while (!ready) pthread_cond_wait(&c, &m);
            assert(time(0) < *(time_t *)p + 5);
            pthread_mutex_unlock(&m);
            return p;
        }
        int main(void) {
            time_t before = time(0);
            pthread_t waiter;
            pthread_create(&waiter, 0, run, &before);
            pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);
            sleep(5);
            pthread_cond_signal(&c);
            pthread_join(waiter, 0);
        }";
    for memory in ["sc", "rc11"] {
        verified("signalled.c", source, &["--memory", memory]);
    }
}

/// Operations with a time limit, and results for invalid times and clocks as in real runs.
const LIMITED: [&str; 19] = [
    "pthread_mutex_timedlock(&m, &bad)",
    "pthread_mutex_timedlock(&free_m, &bad)",
    "pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &bad)",
    "pthread_mutex_clocklock(&free_m, CLOCK_PROCESS_CPUTIME_ID, &past)",
    "mtx_timedlock((mtx_t *)&m, &bad)",
    "pthread_rwlock_timedrdlock(&r, &bad)",
    "pthread_rwlock_timedwrlock(&free_r, &bad)",
    "pthread_rwlock_clockrdlock(&free_r, CLOCK_PROCESS_CPUTIME_ID, &past)",
    "pthread_rwlock_clockwrlock(&r, CLOCK_MONOTONIC, &bad)",
    "pthread_cond_timedwait(&c, &m, &bad)",
    "pthread_cond_clockwait(&c, &m, CLOCK_PROCESS_CPUTIME_ID, &past)",
    "pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &bad)",
    "cnd_timedwait((cnd_t *)&c, (mtx_t *)&m, &bad)",
    "sem_timedwait(&s, &bad) == 0 ? 0 : errno",
    "sem_clockwait(&s, CLOCK_PROCESS_CPUTIME_ID, &past) == 0 ? 0 : errno",
    "clock_gettime(99, &now) == 0 ? 0 : errno",
    "clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &past, 0)",
    "clock_nanosleep(99, 0, &past, 0)",
    "nanosleep(&bad, 0) == 0 ? 0 : errno",
];

/// The program asserts the results that the same program has printed in a real run.
#[test]
fn invalid_times_and_clocks_have_the_results_of_real_runs() {
    let program = |prints: bool, results: &[i32]| {
        let calls = LIMITED
            .iter()
            .enumerate()
            .map(|(index, call)| match prints {
                true => format!("printf(\"%d\\n\", {call});\n"),
                false => format!("assert(({call}) == {});\n", results[index]),
            });
        format!(
            "#define _GNU_SOURCE
             #include <assert.h>
             #include <errno.h>
             #include <pthread.h>
             #include <semaphore.h>
             #include <stdio.h>
             #include <threads.h>
             #include <time.h>
             static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, free_m = PTHREAD_MUTEX_INITIALIZER;
             static pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER, free_r = PTHREAD_RWLOCK_INITIALIZER;
             static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
             static sem_t s;
             static void *run(void *p) {{
                 pthread_mutex_t *lock = &m;
                 struct timespec bad = {{1, 1000000000}}, past = {{1, 0}}, now;
                 {}
                 (void)lock; (void)now;
                 return p;
             }}
             static void *hold(void *p) {{
                 pthread_mutex_lock(&m); pthread_rwlock_rdlock(&r);
                 pthread_t t;
                 pthread_create(&t, 0, run, 0);
                 pthread_join(t, 0);
                 pthread_rwlock_unlock(&r); pthread_mutex_unlock(&m);
                 return p;
             }}
             int main(void) {{ sem_init(&s, 0, 0); hold(0); return 0; }}",
            calls.collect::<String>()
        )
    };
    let results = crate::operations::printed("times.c", &program(true, &[]));
    let results: Vec<i32> = results.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(results.len(), LIMITED.len());
    let text = program(false, &results).replacen("#define _GNU_SOURCE", "", 1);
    verified("times.c", &text, &[]);
}
