/* sigma(N): N times, main does idx = idx + 1 and starts a thread that does array[idx] = 1. The
   plain variables race on purpose: (2N-1)!! traces with --plain=sc, otherwise a data race. */
#include <pthread.h>
#include <stdlib.h>

enum { MAX = 64 };

static int idx;
static int array[MAX + 1];

static void *mark(void *unused) {
    (void)unused;
    array[idx] = 1;
    return NULL;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 4;
    if (n < 1 || n > MAX)
        return 2;
    pthread_t threads[MAX];
    for (int i = 0; i < n; i++) {
        idx = idx + 1;
        pthread_create(&threads[i], NULL, mark, NULL);
    }
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
