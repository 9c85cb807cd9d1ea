/* expmem(N): one thread writes x, N threads write y1…yN, one reads y1…yN, then x. 2^(N+1) traces.
   The wakeup trees of Optimal-DPOR grow exponentially (after Abdulla et al., CAV 2024). */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { MAX = 64 };

static atomic_int x;
static atomic_int y[MAX];

static void *writer(void *place) {
    atomic_store((atomic_int *)place, 1);
    return NULL;
}

static void *reader(void *count) {
    for (intptr_t i = 0; i < (intptr_t)count; i++)
        atomic_load(&y[i]);
    atomic_load(&x);
    return NULL;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 8;
    if (n < 1 || n > MAX)
        return 2;
    pthread_t threads[MAX + 2];
    pthread_create(&threads[n], NULL, writer, &x);
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, writer, &y[i]);
    pthread_create(&threads[n + 1], NULL, reader, (void *)(intptr_t)n);
    for (int i = 0; i < n + 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
