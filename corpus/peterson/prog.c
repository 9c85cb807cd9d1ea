/* peterson: Peterson's lock (1981). The bug: a thread gives the turn away before it requests
   entry. The repair: it requests entry first. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

static atomic_bool wants[2];
static atomic_int turn;
static atomic_int count;

static void enter(int me) {
    int other = 1 - me;
#ifdef FIXED
    atomic_store(&wants[me], true);
    atomic_store(&turn, other);
#else
    atomic_store(&turn, other);
    atomic_store(&wants[me], true);
#endif
    while (atomic_load(&wants[other]) && atomic_load(&turn) == other)
        ;
}

static void leave(int me) {
    atomic_store(&wants[me], false);
}

static void *work(void *number) {
    int me = (int)(intptr_t)number;
    enter(me);
    atomic_store(&count, atomic_load(&count) + 1);
    leave(me);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(count == 2);
    return 0;
}
