/* semaphore-deadlock: two threads need both permits of a semaphore and take them one by one. The
   bug: each thread may get one permit and wait for the other. The repair: a mutex, so that only
   one thread at a time takes permits. */
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t permits;
#ifdef FIXED
static pthread_mutex_t taking = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *use_both(void *unused) {
    (void)unused;
#ifdef FIXED
    pthread_mutex_lock(&taking);
#endif
    sem_wait(&permits);
    sem_wait(&permits);
#ifdef FIXED
    pthread_mutex_unlock(&taking);
#endif
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
