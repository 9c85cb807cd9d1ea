/* destroyed-mutex: main destroys the mutex after seeing the result, but the worker may still have
   to unlock it. In the repaired program, main destroys the mutex after the worker has ended. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_finished;

static void *worker(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    atomic_store(&is_finished, true);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef FIXED
    pthread_join(thread, NULL);
    pthread_mutex_destroy(&mutex);
#else
    bool is_destroyed = atomic_load(&is_finished);
    if (is_destroyed)
        pthread_mutex_destroy(&mutex);
    pthread_join(thread, NULL);
    if (!is_destroyed)
        pthread_mutex_destroy(&mutex);
#endif
    return 0;
}
