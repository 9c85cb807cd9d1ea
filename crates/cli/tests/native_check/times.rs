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
