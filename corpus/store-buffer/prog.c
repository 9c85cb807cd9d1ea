/* store-buffer: the litmus test of store buffers. If two threads store before they load, at
   least one sees the other's store, if all four accesses are sequentially consistent. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x, y;
static int seen_by_other;

static void *other(void *unused) {
    (void)unused;
    atomic_store(&x, 1);
    seen_by_other = atomic_load(&y);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    atomic_store(&y, 1);
    int seen_by_main = atomic_load(&x);
    pthread_join(thread, NULL);
    assert(seen_by_main + seen_by_other > 0);
    return 0;
}
