/* weak-arc: a reference count as in Rust's Arc. The last owner destroys the value. The bug: the
   last owner does not acquire, so nothing orders the other owner's read before the destruction.
   The repair: an acquire fence before the destruction. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int owners = 2;
static int value = 1;

static void release(void) {
    if (atomic_fetch_sub_explicit(&owners, 1, memory_order_release) == 1) {
#ifdef FIXED
        atomic_thread_fence(memory_order_acquire);
#endif
        value = 0;
    }
}

static void *use(void *unused) {
    (void)unused;
    int seen = value;
    (void)seen;
    release();
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, use, NULL);
    use(NULL);
    pthread_join(thread, NULL);
    return 0;
}
