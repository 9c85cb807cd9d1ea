/* ring-buffer: a ring of one producer and one consumer (Lamport). The bug: the producer
   publishes a place before it fills it. The repair: it fills the place first. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { PLACES = 2 };

/* The producer advances tail, the consumer head. */
static int places[PLACES];
static atomic_uint head, tail;

static bool push(int element) {
    unsigned end = atomic_load_explicit(&tail, memory_order_relaxed);
    if (end - atomic_load_explicit(&head, memory_order_acquire) == PLACES)
        return false;
#ifdef FIXED
    places[end % PLACES] = element;
    atomic_store_explicit(&tail, end + 1, memory_order_release);
#else
    atomic_store_explicit(&tail, end + 1, memory_order_release);
    places[end % PLACES] = element;
#endif
    return true;
}

static bool pop(int *element) {
    unsigned begin = atomic_load_explicit(&head, memory_order_relaxed);
    if (begin == atomic_load_explicit(&tail, memory_order_acquire))
        return false;
    *element = places[begin % PLACES];
    atomic_store_explicit(&head, begin + 1, memory_order_release);
    return true;
}

static void *producer(void *unused) {
    (void)unused;
    for (int element = 1; element <= 3 && push(element);)
        element++;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    int popped = 0, element;
    for (int i = 0; i < 3; i++)
        if (pop(&element))
            assert(element == ++popped);
    pthread_join(thread, NULL);
    return 0;
}
