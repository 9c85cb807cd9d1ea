/* serial-thread-fixed: two threads meet at a barrier. The
   thread that the barrier chooses adds up their results. */
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
    pthread_join(thread, &others);
    assert((mine != NULL) + (others != NULL) == 1);
    assert(sum == 3);
    pthread_barrier_destroy(&barrier);
    return 0;
}
