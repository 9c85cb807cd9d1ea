/* cancel-cleanup: a thread may be cancelled while it holds a mutex, which is never
   unlocked. In the repaired program, a cleanup handler unlocks the mutex. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

#ifdef FIXED
static void unlock(void *mutex) {
    pthread_mutex_unlock(mutex);
}
#endif

static void *worker(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
#ifdef FIXED
    pthread_cleanup_push(unlock, &mutex);
#endif
    count++;
    pthread_testcancel();
    count++;
#ifdef FIXED
    pthread_cleanup_pop(1);
#else
    pthread_mutex_unlock(&mutex);
#endif
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_cancel(thread);
    pthread_mutex_lock(&mutex);
    assert(count <= 2);
    pthread_mutex_unlock(&mutex);
    void *result;
    pthread_join(thread, &result);
    assert(result == PTHREAD_CANCELED || count == 2);
    return 0;
}
