/* semaphore-permits: a semaphore is used for mutual exclusion. The bug: it has two permits. The
   repair: it has one. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>

static sem_t permits;
static atomic_int count;

static void *increment(void *unused) {
    (void)unused;
    sem_wait(&permits);
    atomic_store(&count, atomic_load(&count) + 1);
    sem_post(&permits);
    return NULL;
}

int main(void) {
#ifdef FIXED
    sem_init(&permits, 0, 1);
#else
    sem_init(&permits, 0, 2);
#endif
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, increment, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(count == 2);
    return 0;
}
