/* cancel-cleanup: a thread may be cancelled while it holds a mutex, which is never unlocked. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *worker(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    count++;
    pthread_testcancel();
    count++;
    pthread_mutex_unlock(&mutex);
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
