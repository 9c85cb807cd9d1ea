/* lastzero(N): one thread searches an array backwards for a zero; thread j of 1..N does
   array[j] = array[j-1] + 1. (N+3) * 2^(N-2) traces. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { MAX = 64 };

static atomic_int array[MAX + 1];

static void *search(void *last) {
    int i = (int)(intptr_t)last;
    while (atomic_load(&array[i]) != 0) /* array[0] is always zero */
        i--;
    return NULL;
}

static void *fill(void *place) {
    int j = (int)(intptr_t)place;
    atomic_store(&array[j], atomic_load(&array[j - 1]) + 1);
    return NULL;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 8;
    if (n < 1 || n > MAX)
        return 2;
    pthread_t threads[MAX + 1];
    pthread_create(&threads[0], NULL, search, (void *)(intptr_t)n);
    for (int j = 1; j <= n; j++)
        pthread_create(&threads[j], NULL, fill, (void *)(intptr_t)j);
    for (int j = 0; j <= n; j++)
        pthread_join(threads[j], NULL);
    return 0;
}
