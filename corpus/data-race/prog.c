/* data-race: two threads increment a plain variable without any synchronization.
   In the repaired program, a mutex protects the variable. */
#include <pthread.h>
#include <stddef.h>

static int count;
#ifdef FIXED
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *increment(void *unused) {
    (void)unused;
#ifdef FIXED
    pthread_mutex_lock(&mutex);
    count++;
    pthread_mutex_unlock(&mutex);
#else
    count++;
#endif
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, increment, NULL);
    increment(NULL);
    pthread_join(thread, NULL);
    return 0;
}
