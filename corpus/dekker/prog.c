/* dekker: Dekker's lock without its tie-break: both threads request entry and wait for each
   other. In the repaired program, a thread without the turn withdraws its request until it
   gets the turn. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

static atomic_bool wants[2];
#ifdef FIXED
static atomic_int turn;
#endif
static atomic_int count;

static void enter(int me) {
    int other = 1 - me;
    atomic_store(&wants[me], true);
    while (atomic_load(&wants[other])) {
#ifdef FIXED
        if (atomic_load(&turn) == me)
            continue;
        atomic_store(&wants[me], false);
        while (atomic_load(&turn) != me)
            ;
        atomic_store(&wants[me], true);
#endif
    }
}

static void leave(int me) {
#ifdef FIXED
    atomic_store(&turn, 1 - me);
#endif
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
