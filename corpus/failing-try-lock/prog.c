/* failing-try-lock: a trylock finds the lock held. A
   checker that never lets a try fail misses this. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *increment(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, increment, NULL);
    int error = pthread_mutex_trylock(&lock);
    assert(error == 0);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
