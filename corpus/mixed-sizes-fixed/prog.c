/* mixed-sizes-fixed: a pair of 32-bit words is written and read by single atomic
   accesses of 64 bits. The reading thread writes its words by accesses of 32 bits. */
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
    uint64_t both = atomic_load(&pair.both);
    assert(both == both_of((uint32_t)both));
    atomic_store(&pair.words[0], 3);
    both = atomic_load(&pair.both);
    assert((both >> 32) <= 2);
    pthread_join(thread, NULL);
    return 0;
}
