/* dekker: Dekker's lock around a counter. */
#include "measured.h"
#include <assert.h>
#include <stdbool.h>

static atomic_bool wants[2];
static atomic_int turn;
static int counter;

static void *work(void *number) {
    int me = (int)(intptr_t)number, other = 1 - me;
    atomic_store(&wants[me], true);
    while (atomic_load(&wants[other])) {
        if (atomic_load(&turn) == me)
            continue;
        atomic_store(&wants[me], false);
        while (atomic_load(&turn) != me)
            ;
        atomic_store(&wants[me], true);
    }
    counter++;
    atomic_store(&turn, other);
    atomic_store(&wants[me], false);
    return NULL;
}

static void prepare(void) {
    atomic_store(&turn, 0);
    counter = 0;
}

static void body(int size) {
    (void)size;
    run(work, 0, 2);
    assert(counter == 2);
}
