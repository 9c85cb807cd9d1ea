/* spin-lock: checking the lock and taking it are two operations. Two threads may see it free. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_bool is_locked;
static atomic_int count;

static void lock(void) {
    while (atomic_load(&is_locked))
        ;
    atomic_store(&is_locked, true);
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
