/* weak-seqlock: a sequence lock whose words are relaxed. The bug: no fences. The writer's first
   store of the sequence number may become visible after the words, and the reader's second load of
   the number may be older than the words that it has read. So the reader may accept half a write.
   The repair: a release fence before the words are written, and an acquire fence after they are
   read. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define RELAXED memory_order_relaxed

static atomic_uint sequence;
static atomic_int words[2];

static void write_both(int value) {
    unsigned before = atomic_load_explicit(&sequence, RELAXED);
    atomic_store_explicit(&sequence, before + 1, RELAXED);
#ifdef FIXED
    atomic_thread_fence(memory_order_release);
#endif
    for (int i = 0; i < 2; i++)
        atomic_store_explicit(&words[i], value, RELAXED);
    atomic_store_explicit(&sequence, before + 2, memory_order_release);
}

/* Fails if a write came in between. */
static bool read_both(int *first, int *second) {
    unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
    *first = atomic_load_explicit(&words[0], RELAXED);
    *second = atomic_load_explicit(&words[1], RELAXED);
#ifdef FIXED
    atomic_thread_fence(memory_order_acquire);
#endif
    unsigned after = atomic_load_explicit(&sequence, RELAXED);
    return before % 2 == 0 && after == before;
}

static void *writer(void *unused) {
    (void)unused;
    write_both(1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, writer, NULL);
    int first, second;
    if (read_both(&first, &second))
        assert(first == second);
    pthread_join(thread, NULL);
    return 0;
}
