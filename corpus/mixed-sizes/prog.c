/* mixed-sizes: a pair of 32-bit words is written by one atomic access of 64 bits and read by two of
   32 bits. The bug: the reader may get words of two different writes. The repair: it reads the pair
   by one access of 64 bits. It also writes a word by an access of 32 bits, to mix sizes. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static union {
    _Atomic uint64_t both;
    _Atomic uint32_t words[2];
} pair;

static uint64_t both_of(uint32_t word) {
    return (uint64_t)word << 32 | word;
}

static void *writer(void *unused) {
    (void)unused;
    atomic_store(&pair.both, both_of(1));
    atomic_store(&pair.both, both_of(2));
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, writer, NULL);
#ifdef FIXED
    uint64_t both = atomic_load(&pair.both);
    assert(both == both_of((uint32_t)both));
    atomic_store(&pair.words[0], 3);
    both = atomic_load(&pair.both);
    assert((both >> 32) <= 2);
#else
    uint32_t first = atomic_load(&pair.words[0]);
    uint32_t second = atomic_load(&pair.words[1]);
    assert(first == second);
#endif
    pthread_join(thread, NULL);
    return 0;
}
