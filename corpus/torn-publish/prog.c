/* torn-publish: a relaxed flag publishes two words, but does not order the accesses to them.
   Repair: the flag is stored with release and loaded with acquire. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef FIXED
enum { STORE = memory_order_release, LOAD = memory_order_acquire };
#else
enum { STORE = memory_order_relaxed, LOAD = memory_order_relaxed };
#endif

static atomic_bool is_published;
static int first, second;

static void *publish(void *unused) {
    (void)unused;
    first = 1;
    second = 1;
    atomic_store_explicit(&is_published, true, STORE);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, publish, NULL);
    if (atomic_load_explicit(&is_published, LOAD))
        assert(first == second);
    pthread_join(thread, NULL);
    return 0;
}
