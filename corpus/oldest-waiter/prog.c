/* oldest-waiter: main assumes that a signal wakes the longest waiter, but it may wake any waiter.
   The repair: main expects either of the two waiters. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t waiting, done;
static int oldest, woken;

static void *wait_for_signal(void *number) {
    pthread_mutex_lock(&mutex);
    if (oldest == 0)
        oldest = (int)(intptr_t)number;
    sem_post(&waiting);
    pthread_cond_wait(&changed, &mutex);
    woken = (int)(intptr_t)number;
    sem_post(&done);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void wake_one(void) {
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    sem_wait(&done);
}

int main(void) {
    pthread_t threads[2];
    sem_init(&waiting, 0, 0);
    sem_init(&done, 0, 0);
    for (intptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, wait_for_signal, (void *)(i + 1));
    sem_wait(&waiting);
    sem_wait(&waiting);
    wake_one();
    pthread_mutex_lock(&mutex);
#ifdef FIXED
    assert(woken == 1 || woken == 2);
#else
    assert(woken == oldest);
#endif
    pthread_mutex_unlock(&mutex);
    wake_one();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
