/* weak-ring-buffer: a ring buffer with one producer and one consumer. The bug: the indices are
   relaxed, so the consumer may see that there is an item, but not the item. The repair: a store of
   an index releases, and a load of the other thread's index acquires. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define RELAXED memory_order_relaxed
#ifdef FIXED
#define LOAD memory_order_acquire
#define STORE memory_order_release
#else
#define LOAD memory_order_relaxed
#define STORE memory_order_relaxed
#endif

enum { CAPACITY = 2, ITEMS = 3 };

static atomic_uint head, tail;
static atomic_int slots[CAPACITY];

/* Fails if the buffer is full. */
static bool push(int item) {
    unsigned end = atomic_load_explicit(&tail, RELAXED);
    if (end - atomic_load_explicit(&head, LOAD) == CAPACITY)
        return false;
    atomic_store_explicit(&slots[end % CAPACITY], item, RELAXED);
    atomic_store_explicit(&tail, end + 1, STORE);
    return true;
}

/* Fails if the buffer is empty. */
static bool pop(int *item) {
    unsigned start = atomic_load_explicit(&head, RELAXED);
    if (start == atomic_load_explicit(&tail, LOAD))
        return false;
    *item = atomic_load_explicit(&slots[start % CAPACITY], RELAXED);
    atomic_store_explicit(&head, start + 1, STORE);
    return true;
}

static void *producer(void *unused) {
    (void)unused;
    for (int item = 1; item <= ITEMS && push(item); item++)
        ;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    int item;
    for (int expected = 1; expected <= ITEMS && pop(&item); expected++)
        assert(item == expected);
    pthread_join(thread, NULL);
    return 0;
}
