/* incr(T, N): T threads, N times fetch_add, which is always a write: (TN)! / (N!)^T traces. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { MAX = 16 };

static atomic_int counter;

static void *count(void *rounds) {
    for (intptr_t round = 0; round < (intptr_t)rounds; round++)
        atomic_fetch_add(&counter, 1);
    return NULL;
}

int main(int argc, char **argv) {
    int t = argc > 1 ? atoi(argv[1]) : 2;
    int n = argc > 2 ? atoi(argv[2]) : 2;
    if (t < 1 || t > MAX)
        return 2;
    pthread_t threads[MAX];
    for (int i = 0; i < t; i++)
        pthread_create(&threads[i], NULL, count, (void *)(intptr_t)n);
    for (int i = 0; i < t; i++)
        pthread_join(threads[i], NULL);
    int counted = atomic_load(&counter);
    assert(counted == t * n);
    return 0;
}
