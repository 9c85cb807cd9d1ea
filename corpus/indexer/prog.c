/* indexer(N): N threads each insert four keys into one hash table by compare-exchange.
   Keys collide from 12 threads on (Flanagan and Godefroid, POPL 2005). 8^(N-11) traces. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { PLACES = 128, KEYS = 4, MAX = PLACES / KEYS };

static atomic_int table[PLACES];

static void insert(int key) {
    int hash = key * 7 % PLACES;
    int none = 0;
    while (!atomic_compare_exchange_strong(&table[hash], &none, key)) {
        hash = (hash + 1) % PLACES;
        none = 0;
    }
}

static void *worker(void *number) {
    int thread = (int)(intptr_t)number;
    for (int message = 1; message <= KEYS; message++)
        insert(message * 11 + thread);
    return NULL;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 12;
    if (n < 1 || n > MAX)
        return 2;
    pthread_t threads[MAX];
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(intptr_t)i);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
