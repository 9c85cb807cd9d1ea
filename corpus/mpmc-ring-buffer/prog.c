/* mpmc-ring-buffer: a bounded queue of many producers and consumers (after Vyukov). The sequence
   number of a place says whether it can be written or read. The bug: a producer advances it before
   it writes the value. The repair: it writes the value first. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { PLACES = 2 };

static struct {
    atomic_uint sequence;
    int value;
} places[PLACES] = {{0, 0}, {1, 0}};
static atomic_uint enqueued, dequeued;

static bool enqueue(int value) {
    unsigned at = atomic_load(&enqueued);
    while (atomic_load(&places[at % PLACES].sequence) == at) {
        if (atomic_compare_exchange_strong(&enqueued, &at, at + 1)) {
#ifdef FIXED
            places[at % PLACES].value = value;
            atomic_store(&places[at % PLACES].sequence, at + 1);
#else
            atomic_store(&places[at % PLACES].sequence, at + 1);
            places[at % PLACES].value = value;
#endif
            return true;
        }
    }
    return false;
}

static bool dequeue(int *value) {
    unsigned at = atomic_load(&dequeued);
    while (atomic_load(&places[at % PLACES].sequence) == at + 1) {
        if (atomic_compare_exchange_strong(&dequeued, &at, at + 1)) {
            *value = places[at % PLACES].value;
            atomic_store(&places[at % PLACES].sequence, at + PLACES);
            return true;
        }
    }
    return false;
}

static void *producer(void *value) {
    enqueue((int)(intptr_t)value);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, producer, (void *)(intptr_t)(i + 1));
    int value;
    if (dequeue(&value))
        assert(value == 1 || value == 2);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
