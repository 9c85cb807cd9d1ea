/* wrong-unlock-fixed: a function unlocks on exactly those paths on which it has locked. */
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
    if (is_open)
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
