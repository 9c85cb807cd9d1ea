/* reference-count: the last owner of a value destroys it. The bug: the count of owners is
   relaxed, so nothing orders the last owner's write after the other owner's read. The repair:
   giving up a share releases, and the last owner acquires. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int owners = 2;
static int value = 1;

#ifdef FIXED
#define ORDER memory_order_acq_rel
#else
#define ORDER memory_order_relaxed
#endif

/* The last owner destroys the value. */
static void release(void) {
    if (atomic_fetch_sub_explicit(&owners, 1, ORDER) == 1)
        value = 0;
}

static void *use(void *unused) {
    (void)unused;
    int seen = value;
    (void)seen;
    release();
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, use, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
