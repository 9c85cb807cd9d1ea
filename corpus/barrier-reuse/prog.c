/* barrier-reuse: after the barrier, each thread reads the other's value, but nothing prevents
   the other from writing for the next round already. In the repaired program, a second wait
   at the barrier separates the writes of the next round from the reads of this one. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { ROUNDS = 2 };

static pthread_barrier_t barrier;
static atomic_int rounds[2];

static void *work(void *number) {
    int me = (int)(intptr_t)number;
    intptr_t in_step = 1;
    for (int round = 1; round <= ROUNDS; round++) {
        atomic_store(&rounds[me], round);
        pthread_barrier_wait(&barrier);
        in_step &= atomic_load(&rounds[1 - me]) == round;
#ifdef FIXED
        pthread_barrier_wait(&barrier);
#endif
    }
    return (void *)in_step;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_t other;
    pthread_create(&other, NULL, work, (void *)1);
    void *mine = work((void *)0), *others;
    assert(mine != NULL);
    pthread_join(other, &others);
    assert(others != NULL);
    pthread_barrier_destroy(&barrier);
    return 0;
}
