/* linuxrwlocks(N): two threads try N times each to take the write lock of Linux' reader-writer
   lock: a fetch_sub of the bias, undone by a fetch_add on failure. C(4N, 2N) traces. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { BIAS = 0x00100000 };

static atomic_int lock = BIAS;
static atomic_int x;
static int rounds;

static bool write_trylock(void) {
    if (atomic_fetch_sub(&lock, BIAS) == BIAS)
        return true;
    atomic_fetch_add(&lock, BIAS);
    return false;
}

static void write_unlock(void) {
    atomic_fetch_add(&lock, BIAS);
}

static void *writer(void *number) {
    int thread = (int)(intptr_t)number;
    for (int round = 0; round < rounds; round++) {
        if (write_trylock()) {
            atomic_store(&x, thread);
            int seen = atomic_load(&x);
            assert(seen == thread);
            write_unlock();
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atoi(argv[1]) : 3;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, writer, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
