/* bigshot: one thread allocates a buffer, the other thread fills it if it exists. */
#include "measured.h"
#include <assert.h>
#include <string.h>

static _Atomic(char *) buffer;

static void *work(void *number) {
    if ((intptr_t)number == 0) {
        atomic_store(&buffer, malloc(8));
    } else {
        char *there = atomic_load(&buffer);
        if (there)
            strcpy(there, "Bigshot");
    }
    return NULL;
}

static void prepare(void) {
    free(atomic_load(&buffer));
    atomic_store(&buffer, NULL);
}

static void body(int size) {
    (void)size;
    run(work, 0, 2);
    assert(is_measured || atomic_load(&buffer)[0] == 'B');
}
