/* length(T, N): T threads each store and load their own variable N times, and then a shared one
   once. Main does not wait. Executions are long, traces few: 4 for T = 2, 576 for T = 4. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { MAX = 16 };

static atomic_int shared;
static atomic_int own[MAX];
static int rounds;

static void *worker(void *number) {
    int thread = (int)(intptr_t)number;
    int n = rounds;
    for (int round = 0; round < n; round++) {
        atomic_store(&own[thread], round);
        atomic_load(&own[thread]);
    }
    atomic_store(&shared, thread + 1);
    atomic_load(&shared);
    return NULL;
}

int main(int argc, char **argv) {
    int t = argc > 1 ? atoi(argv[1]) : 2;
    rounds = argc > 2 ? atoi(argv[2]) : 100;
    if (t < 1 || t > MAX)
        return 2;
    for (int i = 0; i < t; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, worker, (void *)(intptr_t)i);
    }
    return 0;
}
