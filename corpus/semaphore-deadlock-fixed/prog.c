/* semaphore-deadlock-fixed: only one thread at a time takes the two permits. */
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t permits;
static pthread_mutex_t taking = PTHREAD_MUTEX_INITIALIZER;

static void *use_both(void *unused) {
    (void)unused;
    pthread_mutex_lock(&taking);
    sem_wait(&permits);
    sem_wait(&permits);
    pthread_mutex_unlock(&taking);
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
