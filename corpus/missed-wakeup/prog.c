/* missed-wakeup: the flag is set and the condition signalled between the check of the flag and the
   wait. There is no further signal, so the waiter sleeps forever. The repair: one mutex protects
   flag and condition, so that nothing can come between the check and the wait. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
#ifdef FIXED
static bool is_ready;
#else
static atomic_bool is_ready;
#endif

static void *wait_for_flag(void *unused) {
    (void)unused;
#ifdef FIXED
    pthread_mutex_lock(&mutex);
    while (!is_ready)
        pthread_cond_wait(&ready, &mutex);
    pthread_mutex_unlock(&mutex);
#else
    if (!atomic_load(&is_ready)) {
        pthread_mutex_lock(&mutex);
        pthread_cond_wait(&ready, &mutex);
        pthread_mutex_unlock(&mutex);
    }
#endif
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_flag, NULL);
#ifdef FIXED
    pthread_mutex_lock(&mutex);
    is_ready = true;
    pthread_mutex_unlock(&mutex);
#else
    atomic_store(&is_ready, true);
#endif
    pthread_cond_signal(&ready);
    pthread_join(thread, NULL);
    return 0;
}
