/* volatile-flag: a flag is volatile, which orders neither the accesses to the flag nor those to the
   data that it guards. Repair: the flag is atomic. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef FIXED
static atomic_bool is_ready;
#else
static volatile bool is_ready;
#endif
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
