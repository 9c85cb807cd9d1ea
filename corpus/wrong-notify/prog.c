/* wrong-notify: a producer and consumers wait for one condition variable. A signal may wake the
   wrong kind of thread, which sleeps again. Repair: a broadcast wakes both kinds. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int place; /* 0 if empty */

static void wake(void) {
#ifdef FIXED
    pthread_cond_broadcast(&changed);
#else
    pthread_cond_signal(&changed);
#endif
}

static void put(int element) {
    pthread_mutex_lock(&mutex);
    while (place != 0)
        pthread_cond_wait(&changed, &mutex);
    place = element;
    wake();
    pthread_mutex_unlock(&mutex);
}

static void *take(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    while (place == 0)
        pthread_cond_wait(&changed, &mutex);
    int element = place;
    place = 0;
    wake();
    pthread_mutex_unlock(&mutex);
    return (void *)(intptr_t)element;
}

int main(void) {
    pthread_t consumers[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&consumers[i], NULL, take, NULL);
    put(1);
    put(2);
    void *first, *second;
    pthread_join(consumers[0], &first);
    pthread_join(consumers[1], &second);
    assert((intptr_t)first + (intptr_t)second == 3);
    return 0;
}
