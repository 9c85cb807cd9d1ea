/* mutex(T, N): T threads, N times lock, counter = counter + 1, unlock. Only
   the order of the critical sections matters: (TN)! / (N!)^T traces. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { MAX = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *count(void *rounds) {
    for (intptr_t round = 0; round < (intptr_t)rounds; round++) {
        pthread_mutex_lock(&lock);
        counter = counter + 1;
        pthread_mutex_unlock(&lock);
    }
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
    assert(counter == t * n);
    return 0;
}
