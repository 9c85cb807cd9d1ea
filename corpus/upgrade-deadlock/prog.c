/* upgrade-deadlock: two readers want to write and keep their read locks. Each waits for the other
   to stop reading. Repair: a reader stops reading before it waits for the write lock, and then
   checks again. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int cache; /* 0 if empty */

static void *fill(void *value) {
    pthread_rwlock_rdlock(&lock);
#ifdef FIXED
    int is_empty = cache == 0;
    pthread_rwlock_unlock(&lock);
    if (is_empty) {
        pthread_rwlock_wrlock(&lock);
        if (cache == 0)
            cache = (int)(intptr_t)value;
        pthread_rwlock_unlock(&lock);
    }
#else
    if (cache == 0) {
        pthread_rwlock_wrlock(&lock);
        cache = (int)(intptr_t)value;
        pthread_rwlock_unlock(&lock);
    }
    pthread_rwlock_unlock(&lock);
#endif
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, fill, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(cache != 0);
    return 0;
}
