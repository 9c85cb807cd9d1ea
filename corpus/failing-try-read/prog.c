/* failing-try-read: a tryrdlock finds the lock held by a writer. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int count;

static void *increment(void *unused) {
    (void)unused;
    pthread_rwlock_wrlock(&lock);
    count++;
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, increment, NULL);
    int error = pthread_rwlock_tryrdlock(&lock);
    assert(error == 0);
    pthread_rwlock_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
