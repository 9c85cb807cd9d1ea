/* torn-publish-fixed: the flag is stored with release and
   loaded with acquire, which also orders the words. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_bool is_published;
static int first, second;

static void *publish(void *unused) {
    (void)unused;
    first = 1;
    second = 1;
    atomic_store_explicit(&is_published, true, memory_order_release);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, publish, NULL);
    if (atomic_load_explicit(&is_published, memory_order_acquire))
        assert(first == second);
    pthread_join(thread, NULL);
    return 0;
}
