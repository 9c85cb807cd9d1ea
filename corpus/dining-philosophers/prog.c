/* dining-philosophers: each of N philosophers takes the left fork, then the right one. All
   may hold one fork and wait for the next. In the repaired program, each takes the fork with
   the lower number first, so there is no cycle of waits. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { MAX = 16 };

static int n;
static pthread_mutex_t forks[MAX];
static int uses[MAX];

static void *philosopher(void *number) {
    int left = (int)(intptr_t)number, right = (left + 1) % n;
#ifdef FIXED
    int first = left < right ? left : right, second = left < right ? right : left;
#else
    int first = left, second = right;
#endif
    pthread_mutex_lock(&forks[first]);
    pthread_mutex_lock(&forks[second]);
    uses[first]++;
    uses[second]++;
    pthread_mutex_unlock(&forks[second]);
    pthread_mutex_unlock(&forks[first]);
    return NULL;
}

int main(int argc, char **argv) {
    n = argc > 1 ? atoi(argv[1]) : 3;
    if (n < 2 || n > MAX)
        return 2;
    pthread_t threads[MAX];
    for (int i = 0; i < n; i++)
        pthread_mutex_init(&forks[i], NULL);
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, philosopher, (void *)(intptr_t)i);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < n; i++)
        assert(uses[i] == 2);
    return 0;
}
