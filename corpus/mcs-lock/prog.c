/* mcs-lock: the queue lock of Mellor-Crummey and Scott (TOCS 1991). The bug: a thread without a
   known successor empties the queue by a store, and a thread that came in between waits forever.
   The repair: it empties the queue by a compare-exchange, and waits for the successor if that
   fails. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct node {
    _Atomic(struct node *) next;
    atomic_bool must_wait;
};

static _Atomic(struct node *) tail;
static struct node nodes[2];
static int count;

static void lock(struct node *me) {
    atomic_store(&me->must_wait, true);
    struct node *before = atomic_exchange(&tail, me);
    if (before == NULL)
        return;
    atomic_store(&before->next, me);
    while (atomic_load(&me->must_wait))
        ;
}

static void unlock(struct node *me) {
    if (atomic_load(&me->next) == NULL) {
#ifdef FIXED
        struct node *last = me;
        if (atomic_compare_exchange_strong(&tail, &last, NULL))
            return;
        while (atomic_load(&me->next) == NULL)
            ;
#else
        atomic_store(&tail, NULL);
        return;
#endif
    }
    atomic_store(&atomic_load(&me->next)->must_wait, false);
}

static void *increment(void *node) {
    lock(node);
    count++;
    unlock(node);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, increment, &nodes[1]);
    increment(&nodes[0]);
    pthread_join(thread, NULL);
    assert(count == 2);
    return 0;
}
