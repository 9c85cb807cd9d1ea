/* semaphore-permits-fixed: a semaphore for mutual exclusion has one permit. */
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
    sem_init(&permits, 0, 1);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, increment, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(count == 2);
    return 0;
}
