/* torn-publish: a relaxed flag publishes two words. It does not order their accesses. */
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
    atomic_store_explicit(&is_published, true, memory_order_relaxed);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, publish, NULL);
    if (atomic_load_explicit(&is_published, memory_order_relaxed))
        assert(first == second);
    pthread_join(thread, NULL);
    return 0;
}
