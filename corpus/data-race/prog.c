/* data-race: two threads increment a plain variable without any synchronization. */
#include <pthread.h>
#include <stddef.h>

static int count;

static void *increment(void *unused) {
    (void)unused;
    count++;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, increment, NULL);
    increment(NULL);
    pthread_join(thread, NULL);
    return 0;
}
