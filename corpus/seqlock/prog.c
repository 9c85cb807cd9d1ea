/* seqlock: a sequence lock. The bug: the reader checks the sequence number before reading, but
   not after it, so it may combine words of two writes. The repair: it checks the number again,
   and gives up if it has changed. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_uint sequence;
static atomic_int words[2];

static void write_both(int value) {
    atomic_fetch_add(&sequence, 1);
    for (int i = 0; i < 2; i++)
        atomic_store(&words[i], value);
    atomic_fetch_add(&sequence, 1);
}

/* Fails if a write came in between. */
static bool read_both(int *first, int *second) {
    unsigned before = atomic_load(&sequence);
    *first = atomic_load(&words[0]);
    *second = atomic_load(&words[1]);
#ifdef FIXED
    return before % 2 == 0 && atomic_load(&sequence) == before;
#else
    return before % 2 == 0;
#endif
}

static void *writer(void *unused) {
    (void)unused;
    write_both(1);
    write_both(2);
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
