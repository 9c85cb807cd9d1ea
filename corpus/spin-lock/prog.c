/* spin-lock: two threads count under a spin lock. The bug: checking the lock and taking it are
   two operations, so both threads may find it free. The repair: a compare-exchange. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_bool is_locked;
static atomic_int count;

static void lock(void) {
#ifdef FIXED
    bool is_free = false;
    while (!atomic_compare_exchange_strong(&is_locked, &is_free, true))
        is_free = false;
#else
    while (atomic_load(&is_locked))
        ;
    atomic_store(&is_locked, true);
#endif
}

static void unlock(void) {
    atomic_store(&is_locked, false);
}

static void *increment(void *unused) {
    (void)unused;
    lock();
    atomic_store(&count, atomic_load(&count) + 1);
    unlock();
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, increment, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(count == 2);
    return 0;
}
