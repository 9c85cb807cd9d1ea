/* readers(N): one thread writes x; N threads each read their own variable,
   then x. Each read of x comes before or after the write: 2^N traces. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MAX = 64 };

static atomic_int x;
static atomic_int own[MAX];

static void *writer(void *unused) {
    (void)unused;
    atomic_store(&x, 1);
    return NULL;
}

static void *reader(void *place) {
    atomic_load((atomic_int *)place);
    atomic_load(&x);
    return NULL;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 8;
    if (n < 1 || n > MAX)
        return 2;
    pthread_t threads[MAX + 1];
    pthread_create(&threads[n], NULL, writer, NULL);
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, reader, &own[i]);
    for (int i = 0; i <= n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
