/* michael-scott-queue: the queue of Michael and Scott (PODC 1996). The bug: a store links a new
   node behind the last one, and a node that another thread links in between is lost. The repair:
   a compare-exchange links the node. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct node {
    _Atomic(struct node *) next;
    int value;
};

static struct node nodes[3];
static _Atomic(struct node *) head = &nodes[0], tail = &nodes[0];

static bool link_behind(struct node *last, struct node *node) {
#ifdef FIXED
    struct node *none = NULL;
    return atomic_compare_exchange_strong(&last->next, &none, node);
#else
    atomic_store(&last->next, node);
    return true;
#endif
}

static void enqueue(struct node *node, int value) {
    node->value = value;
    for (;;) {
        struct node *last = atomic_load(&tail);
        struct node *next = atomic_load(&last->next);
        if (next != NULL) /* another thread has linked its node but not moved tail yet */
            atomic_compare_exchange_strong(&tail, &last, next);
        else if (link_behind(last, node)) {
            atomic_compare_exchange_strong(&tail, &last, node);
            return;
        }
    }
}

/* Returns 0 if the queue is empty. */
static int dequeue(void) {
    for (;;) {
        struct node *first = atomic_load(&head), *last = atomic_load(&tail);
        struct node *next = atomic_load(&first->next);
        if (next == NULL)
            return 0;
        if (first == last)
            atomic_compare_exchange_strong(&tail, &last, next);
        else if (atomic_compare_exchange_strong(&head, &first, next))
            return next->value;
    }
}

static void *producer(void *unused) {
    (void)unused;
    enqueue(&nodes[1], 1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    enqueue(&nodes[2], 2);
    int sum = dequeue();
    pthread_join(thread, NULL);
    sum += dequeue();
    assert(sum == 3);
    int rest = dequeue();
    assert(rest == 0);
    return 0;
}
