/* volatile-flag-fixed: a flag is atomic, which orders the data that it guards. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_bool is_ready;
static int value;

static void *producer(void *unused) {
    (void)unused;
    value = 42;
    is_ready = true;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    if (is_ready)
        assert(value == 42);
    pthread_join(thread, NULL);
    return 0;
}
