/* weak-lazy-init: double-checked initialization of a relaxed value. The bug: the flag is relaxed,
   so a thread that sees the flag without the lock may not see the value. The repair: the store of
   the flag releases, and the load without the lock acquires. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define RELAXED memory_order_relaxed
#ifdef FIXED
#define LOAD memory_order_acquire
#define STORE memory_order_release
#else
#define LOAD memory_order_relaxed
#define STORE memory_order_relaxed
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_ready;
static atomic_int value;

static int lazy_value(void) {
    if (!atomic_load_explicit(&is_ready, LOAD)) {
        pthread_mutex_lock(&lock);
        if (!atomic_load_explicit(&is_ready, RELAXED)) {
            atomic_store_explicit(&value, 42, RELAXED);
            atomic_store_explicit(&is_ready, true, STORE);
        }
        pthread_mutex_unlock(&lock);
    }
    return atomic_load_explicit(&value, RELAXED);
}

static void *use(void *unused) {
    (void)unused;
    int seen = lazy_value();
    assert(seen == 42);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, use, NULL);
    use(NULL);
    pthread_join(thread, NULL);
    return 0;
}
