/* missed-wakeup: the flag is set and the condition signalled between the check of the
   flag and the wait. There is no further signal, so the waiter sleeps forever. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static atomic_bool is_ready;

static void *wait_for_flag(void *unused) {
    (void)unused;
    if (!atomic_load(&is_ready)) {
        pthread_mutex_lock(&mutex);
        pthread_cond_wait(&ready, &mutex);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_flag, NULL);
    atomic_store(&is_ready, true);
    pthread_cond_signal(&ready);
    pthread_join(thread, NULL);
    return 0;
}
