/* ticket-lock: a thread takes its ticket with a load and a store. Two threads may get the same
   ticket and enter together. Repair: a thread takes its ticket with an atomic addition. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int next, serving;
static atomic_int count;

static void lock(void) {
#ifdef FIXED
    int ticket = atomic_fetch_add(&next, 1);
#else
    int ticket = atomic_load(&next);
    atomic_store(&next, ticket + 1);
#endif
    while (atomic_load(&serving) < ticket)
        ;
}

static void unlock(void) {
    atomic_fetch_add(&serving, 1);
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
