/* floating-read(N): N threads write x, main reads x without waiting for them: (N+1)! traces. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { MAX = 64 };

static atomic_int x;

static void *writer(void *number) {
    atomic_store(&x, (int)(intptr_t)number);
    return NULL;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 5;
    if (n < 1 || n > MAX)
        return 2;
    pthread_t threads[MAX];
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, writer, (void *)(intptr_t)(i + 1));
    int seen = atomic_load(&x);
    assert(seen <= n);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
