/* casrot(N): thread i of 1..N does a compare-exchange of x from i-1 to i. It
   succeeds only after its predecessor's. A failing compare-exchange is a read. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { MAX = 64 };

static atomic_int x;

static void *rotate(void *number) {
    int i = (int)(intptr_t)number;
    int expected = i - 1;
    atomic_compare_exchange_strong(&x, &expected, i);
    return NULL;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 6;
    if (n < 1 || n > MAX)
        return 2;
    pthread_t threads[MAX];
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, rotate, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
