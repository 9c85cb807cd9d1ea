/* lamport: Lamport's fast lock (ACM TOCS 1987) around a counter. */
#include "measured.h"
#include <assert.h>
#include <stdbool.h>

static atomic_bool wants[3];
static atomic_int x, y;
static int counter;

static void lock(int me) {
    for (;;) {
        atomic_store(&wants[me], true);
        atomic_store(&x, me);
        if (atomic_load(&y) != 0) {
            atomic_store(&wants[me], false);
            while (atomic_load(&y) != 0)
                ;
            continue;
        }
        atomic_store(&y, me);
        if (atomic_load(&x) == me)
            return;
        atomic_store(&wants[me], false);
        for (int other = 1; other <= 2; other++)
            while (atomic_load(&wants[other]))
                ;
        if (atomic_load(&y) == me)
            return;
        while (atomic_load(&y) != 0)
            ;
    }
}

static void *work(void *number) {
    int me = (int)(intptr_t)number;
    lock(me);
    counter++;
    atomic_store(&y, 0);
    atomic_store(&wants[me], false);
    return NULL;
}

static void prepare(void) {
    counter = 0;
}

static void body(int size) {
    (void)size;
    run(work, 1, 2);
    assert(counter == 2);
}
