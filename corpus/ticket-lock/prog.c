/* ticket-lock: a ticket is drawn with load and store. Two threads may get the same and enter. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int next, serving;
static atomic_int count;

static void lock(void) {
    int ticket = atomic_load(&next);
    atomic_store(&next, ticket + 1);
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
