/* fib-bench(N): N times, one thread does i += j and another j += i, each with a load and a store.
   Main reads both meanwhile. No result exceeds a Fibonacci number (SV-COMP, fib_bench). */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

static atomic_int i = 1, j = 1;

static void *add_to_i(void *rounds) {
    for (intptr_t round = 0; round < (intptr_t)rounds; round++) {
        int own = atomic_load(&i);
        atomic_store(&i, own + atomic_load(&j));
    }
    return NULL;
}

static void *add_to_j(void *rounds) {
    for (intptr_t round = 0; round < (intptr_t)rounds; round++) {
        int own = atomic_load(&j);
        atomic_store(&j, own + atomic_load(&i));
    }
    return NULL;
}

static int fibonacci(int n) {
    int this = 0, next = 1;
    while (n-- > 0) {
        int sum = this + next;
        this = next;
        next = sum;
    }
    return this;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 3;
    if (n < 1 || n > 21)
        return 2;
    int largest = fibonacci(2 * n + 2);
    pthread_t first, second;
    pthread_create(&first, NULL, add_to_i, (void *)(intptr_t)n);
    pthread_create(&second, NULL, add_to_j, (void *)(intptr_t)n);
    int seen = atomic_load(&i);
    assert(seen <= largest);
    seen = atomic_load(&j);
    assert(seen <= largest);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
