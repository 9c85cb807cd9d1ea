/* try-lock: a thread that does not get the lock at once drops its update. Repair: it waits for
   the lock. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *increment(void *unused) {
    (void)unused;
    if (pthread_mutex_trylock(&lock) != 0)
#ifdef FIXED
        pthread_mutex_lock(&lock);
#else
        return NULL;
#endif
    count++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, increment, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(count == 2);
    return 0;
}
