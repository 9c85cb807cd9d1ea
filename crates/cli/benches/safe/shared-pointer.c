/* shared pointer: two threads copy a reference-counted pointer. The last copy frees the value. */
#include "measured.h"
#include <assert.h>

struct shared {
    atomic_int owners;
    int value;
};

static struct shared *pointer;
static atomic_int freed;

static void drop(struct shared *own) {
    if (atomic_fetch_sub(&own->owners, 1) == 1) {
        atomic_fetch_add(&freed, 1);
        free(own);
    }
}

static void *work(void *number) {
    (void)number;
    struct shared *own = pointer;
    assert(own->value == 7);
    drop(own);
    return NULL;
}

static void prepare(void) {
    pointer = malloc(sizeof *pointer);
    atomic_store(&pointer->owners, 3);
    pointer->value = 7;
    atomic_store(&freed, 0);
}

static void body(int size) {
    (void)size;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    drop(pointer);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(atomic_load(&freed) == 1);
}
