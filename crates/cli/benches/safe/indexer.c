/* indexer(N): N threads insert four keys each into one hash table by compare-exchange. Keys collide
   if there are at least 12 threads (Flanagan and Godefroid, POPL 2005). */
#include "measured.h"

enum { PLACES = 128, KEYS = 4 };

static atomic_int table[PLACES];

static void insert(int key) {
    int place = key * 7 % PLACES, none = 0;
    while (!atomic_compare_exchange_strong(&table[place], &none, key)) {
        place = (place + 1) % PLACES;
        none = 0;
    }
}

static void *work(void *number) {
    for (int message = 1; message <= KEYS; message++)
        insert(message * 11 + (int)(intptr_t)number);
    return NULL;
}

static void prepare(void) {
    for (int place = 0; place < PLACES; place++)
        atomic_store_explicit(&table[place], 0, memory_order_relaxed);
}

static void body(int size) {
    run(work, 0, size ? size : 15);
}
