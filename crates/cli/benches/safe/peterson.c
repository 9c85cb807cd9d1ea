/* peterson: Peterson's lock around a counter, several rounds for each thread. */
#include "measured.h"
#include <assert.h>
#include <stdbool.h>

enum { ROUNDS = 2 };

static atomic_bool wants[2];
static atomic_int turn;
static int counter;

static void *work(void *number) {
    int me = (int)(intptr_t)number, other = 1 - me;
    for (int round = 0; round < ROUNDS; round++) {
        atomic_store(&wants[me], true);
        atomic_store(&turn, other);
        while (atomic_load(&wants[other]) && atomic_load(&turn) == other)
            ;
        counter++;
        atomic_store(&wants[me], false);
    }
    return NULL;
}

static void prepare(void) {
    atomic_store(&turn, 0);
    counter = 0;
}

static void body(int size) {
    (void)size;
    run(work, 0, 2);
    assert(counter == 2 * ROUNDS);
}
