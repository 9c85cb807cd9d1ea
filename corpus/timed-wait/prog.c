/* timed-wait: main waits one second for a result and then uses it, but the other thread may run
   later. Repair: main checks for a timeout and continues without the result. */
#define _POSIX_C_SOURCE 200809L
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER;
static int result;

static void *worker(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    result = 42;
    pthread_cond_signal(&finished);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    int error = 0;
    pthread_mutex_lock(&mutex);
    while (result == 0 && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&finished, &mutex, &until);
#ifdef FIXED
    assert(result == 42 || error == ETIMEDOUT);
#else
    assert(result == 42);
#endif
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    return 0;
}
