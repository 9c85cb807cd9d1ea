/* wrong-unlock: a function unlocks on every path, even on the path on which it has not locked. It
   may unlock the mutex of another thread. Repair: it unlocks only where it has locked. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_closed;
static int count;

static void *increment(void *unused) {
    (void)unused;
    bool is_open = !atomic_load(&is_closed);
    if (is_open) {
        pthread_mutex_lock(&mutex);
        count++;
    }
#ifdef FIXED
    if (is_open)
#endif
        pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, increment, NULL);
    pthread_mutex_lock(&mutex);
    count++;
    atomic_store(&is_closed, true);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    return 0;
}
