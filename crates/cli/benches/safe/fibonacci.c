/* fibonacci(N): two threads add each other's number to their own, N times. */
#include "measured.h"
#include <assert.h>

static atomic_int i, j;
static int rounds;

static void *work(void *number) {
    atomic_int *own = number ? &j : &i, *other = number ? &i : &j;
    for (int round = 0; round < rounds; round++)
        atomic_store(own, atomic_load(own) + atomic_load(other));
    return NULL;
}

static void prepare(void) {
    atomic_store(&i, 1);
    atomic_store(&j, 1);
}

static void body(int size) {
    rounds = size ? size : 5;
    run(work, 0, 2);
}
