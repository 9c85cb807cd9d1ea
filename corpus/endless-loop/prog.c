/* endless-loop: main doubles a step until it reaches a limit. If another thread has set the step
   to zero, the loop never ends. It accesses nothing that other threads could change. In the
   repaired program, a step of zero counts as one. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int first_step = 1;

static void *reset(void *unused) {
    (void)unused;
    atomic_store(&first_step, 0);
    return NULL;
}

static int doublings(int step, int limit) {
    int count = 0;
    while (step < limit) {
        step *= 2;
        count++;
    }
    return count;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reset, NULL);
    int step = atomic_load(&first_step);
#ifdef FIXED
    if (step == 0)
        step = 1;
#endif
    int count = doublings(step, 1000);
    pthread_join(thread, NULL);
    return count == 10 ? 0 : 1;
}
