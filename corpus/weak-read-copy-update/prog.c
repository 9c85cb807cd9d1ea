/* weak-read-copy-update: read-copy-update of a pair of numbers. The writer fills a new version and
   publishes it. It invalidates the old version if no reader is there. The bug: the store that
   publishes the version is relaxed, so a reader may not see the version's contents. The repair:
   this store releases. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define RELAXED memory_order_relaxed
#define ACQUIRE memory_order_acquire
#define RELEASE memory_order_release
#define SEQ_CST memory_order_seq_cst
#ifdef FIXED
#define PUBLISH memory_order_release
#else
#define PUBLISH memory_order_relaxed
#endif

/* A version is invalid if its numbers differ. */
static atomic_int versions[2][2] = {{1, 1}, {0, 1}};
static atomic_int current;
static atomic_bool is_reading;

static void *writer(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++)
        atomic_store_explicit(&versions[1][i], 2, RELAXED);
    atomic_store_explicit(&current, 1, PUBLISH);
    atomic_thread_fence(SEQ_CST);
    if (!atomic_load_explicit(&is_reading, ACQUIRE))
        atomic_store_explicit(&versions[0][0], 0, RELAXED);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, writer, NULL);
    atomic_store_explicit(&is_reading, true, RELAXED);
    atomic_thread_fence(SEQ_CST);
    int version = atomic_load_explicit(&current, ACQUIRE);
    int first = atomic_load_explicit(&versions[version][0], RELAXED);
    int second = atomic_load_explicit(&versions[version][1], RELAXED);
    assert(first == second);
    atomic_store_explicit(&is_reading, false, RELEASE);
    pthread_join(thread, NULL);
    return 0;
}
