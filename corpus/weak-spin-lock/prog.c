/* weak-spin-lock: two threads count under a spin lock. The bug: unlock is relaxed, so the next
   owner of the lock may not see the last count. The repair: unlock releases. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef FIXED
#define UNLOCK memory_order_release
#else
#define UNLOCK memory_order_relaxed
#endif

static atomic_bool is_locked;
static atomic_int count;

static void lock(void) {
    while (atomic_exchange_explicit(&is_locked, true, memory_order_acquire))
        ;
}

static void *increment(void *unused) {
    (void)unused;
    lock();
    int seen = atomic_load_explicit(&count, memory_order_relaxed);
    atomic_store_explicit(&count, seen + 1, memory_order_relaxed);
    atomic_store_explicit(&is_locked, false, UNLOCK);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, increment, NULL);
    increment(NULL);
    pthread_join(thread, NULL);
    int total = atomic_load_explicit(&count, memory_order_relaxed);
    assert(total == 2);
    return 0;
}
