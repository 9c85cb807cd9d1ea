/* serial-thread: two threads meet at a barrier, which chooses one of them to add up their
   results. The bug: main assumes that it is chosen. The repair: main assumes only that one
   thread is chosen. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static pthread_barrier_t barrier;
static int results[2], sum;

static void *work(void *number) {
    int me = (int)(intptr_t)number;
    results[me] = me + 1;
    int is_chosen = pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
    if (is_chosen)
        sum = results[0] + results[1];
    return (void *)(intptr_t)is_chosen;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_t thread;
    pthread_create(&thread, NULL, work, (void *)1);
    void *mine = work((void *)0), *others;
#ifndef FIXED
    assert(mine != NULL);
#endif
    pthread_join(thread, &others);
#ifdef FIXED
    assert((mine != NULL) + (others != NULL) == 1);
#endif
    assert(sum == 3);
    pthread_barrier_destroy(&barrier);
    return 0;
}
