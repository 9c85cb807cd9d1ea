/* read-copy-update: read-copy-update (McKenney and Slingwine, 1998). The bug: the writer
   replaces a record and frees the old one without waiting for readers that may still use it. The
   repair: it waits until there is no reader. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct pair {
    int first, second;
};

static _Atomic(struct pair *) present;
static atomic_int readers;

static struct pair *new_pair(int value) {
    struct pair *pair = malloc(sizeof *pair);
    pair->first = value;
    pair->second = -value;
    return pair;
}

static void *reader(void *unused) {
    (void)unused;
    atomic_fetch_add(&readers, 1);
    struct pair *pair = atomic_load(&present);
    assert(pair->first + pair->second == 0);
    atomic_fetch_sub(&readers, 1);
    return NULL;
}

int main(void) {
    atomic_store(&present, new_pair(1));
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    struct pair *old = atomic_exchange(&present, new_pair(2));
#ifdef FIXED
    while (atomic_load(&readers) != 0)
        ;
#endif
    free(old);
    pthread_join(thread, NULL);
    free(atomic_load(&present));
    return 0;
}
