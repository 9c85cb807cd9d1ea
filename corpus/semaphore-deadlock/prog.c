/* semaphore-deadlock: two threads need both permits and take them
   one by one. Each may get one permit and wait for the other one. */
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t permits;

static void *use_both(void *unused) {
    (void)unused;
    sem_wait(&permits);
    sem_wait(&permits);
    sem_post(&permits);
    sem_post(&permits);
    return NULL;
}

int main(void) {
    sem_init(&permits, 0, 2);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, use_both, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
