/* lastzero(N): one thread searches an array backwards for a zero. Thread j of 1..N performs
   array[j] = array[j-1] + 1 (Abdulla et al., POPL 2014). */
#include "measured.h"

static atomic_int array[65];
static int last;

static void *work(void *number) {
    int j = (int)(intptr_t)number;
    if (j > 0) {
        atomic_store(&array[j], atomic_load(&array[j - 1]) + 1);
        return NULL;
    }
    int i = last;
    while (atomic_load(&array[i]) != 0)
        i--;
    return NULL;
}

static void prepare(void) {
    for (int i = 0; i <= 64; i++)
        atomic_store_explicit(&array[i], 0, memory_order_relaxed);
}

static void body(int size) {
    last = size ? size : 16;
    run(work, 0, last + 1);
}
