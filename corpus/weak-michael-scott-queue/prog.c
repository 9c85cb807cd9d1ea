/* weak-michael-scott-queue: the queue of Michael and Scott (1996). Its nodes are numbered from 1,
   and node 1 is the first dummy. The bug: the compare-exchange that links a node is relaxed, so the
   thread that takes the node may not see its value. The repair: this compare-exchange releases. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define RELAXED memory_order_relaxed
#define ACQUIRE memory_order_acquire
#define RELEASE memory_order_release
#ifdef FIXED
#define LINK memory_order_release
#else
#define LINK memory_order_relaxed
#endif

struct node {
    atomic_int next;
    atomic_int value;
};

static struct node nodes[4];
static atomic_int head = 1, tail = 1;

static void enqueue(int node) {
    atomic_store_explicit(&nodes[node].value, 10 * node, RELAXED);
    /* The second attempt succeeds, because there is only one other producer. */
    for (int attempt = 0; attempt < 2; attempt++) {
        int last = atomic_load_explicit(&tail, ACQUIRE), next = 0, seen = last;
        bool is_linked = atomic_compare_exchange_strong_explicit(&nodes[last].next, &next, node,
                                                                 LINK, RELAXED);
        /* If another node is linked, the tail is behind. */
        int end = is_linked ? node : next;
        atomic_compare_exchange_strong_explicit(&tail, &seen, end, RELEASE, RELAXED);
        if (is_linked)
            return;
    }
}

/* Returns the node with the value, and 0 if the queue is empty. */
static int dequeue(void) {
    int first = atomic_load_explicit(&head, ACQUIRE), next;
    do {
        next = atomic_load_explicit(&nodes[first].next, ACQUIRE);
        if (next == 0)
            return 0;
    } while (!atomic_compare_exchange_strong_explicit(&head, &first, next, RELEASE, ACQUIRE));
    return next;
}

static void *producer(void *unused) {
    (void)unused;
    enqueue(2);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    enqueue(3);
    int node = dequeue();
    assert(node != 0);
    int value = atomic_load_explicit(&nodes[node].value, RELAXED);
    assert(value == 10 * node);
    pthread_join(thread, NULL);
    return 0;
}
