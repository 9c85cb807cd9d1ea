/* missed-wakeup-fixed: one mutex protects flag and condition,
   so nothing can come between the check and the wait. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static bool is_ready;

static void *wait_for_flag(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    while (!is_ready)
        pthread_cond_wait(&ready, &mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_flag, NULL);
    pthread_mutex_lock(&mutex);
    is_ready = true;
    pthread_mutex_unlock(&mutex);
    pthread_cond_signal(&ready);
    pthread_join(thread, NULL);
    return 0;
}
