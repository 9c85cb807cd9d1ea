/* casw(N): thread i of 0..N-1 does a compare-exchange of x from 0
   to 1, then stores i + 3, whether the former succeeded or not. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { MAX = 64 };

static atomic_int x;

static void *worker(void *number) {
    int expected = 0;
    atomic_compare_exchange_strong(&x, &expected, 1);
    atomic_store(&x, (int)(intptr_t)number + 3);
    return NULL;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 3;
    if (n < 1 || n > MAX)
        return 2;
    pthread_t threads[MAX];
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(intptr_t)i);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
