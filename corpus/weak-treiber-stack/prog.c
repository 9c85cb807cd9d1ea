/* weak-treiber-stack: a Treiber stack (IBM, 1986) whose nodes are numbered from 1. The bug: the
   compare-exchange that publishes a node is relaxed, so the thread that pops the node may not see
   its contents. The repair: this compare-exchange releases. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define RELAXED memory_order_relaxed
#ifdef FIXED
#define PUBLISH memory_order_release
#else
#define PUBLISH memory_order_relaxed
#endif

struct node {
    atomic_int next;
    atomic_int value;
};

static struct node nodes[3];
static atomic_int top;

static void push(int node) {
    int seen = atomic_load_explicit(&top, RELAXED);
    atomic_store_explicit(&nodes[node].value, 10 * node, RELAXED);
    do
        atomic_store_explicit(&nodes[node].next, seen, RELAXED);
    while (!atomic_compare_exchange_strong_explicit(&top, &seen, node, PUBLISH, RELAXED));
}

/* Returns 0 if the stack is empty. */
static int pop(void) {
    int seen = atomic_load_explicit(&top, memory_order_acquire);
    while (seen != 0) {
        int next = atomic_load_explicit(&nodes[seen].next, RELAXED);
        if (atomic_compare_exchange_strong_explicit(&top, &seen, next, memory_order_acquire,
                                                    memory_order_acquire))
            break;
    }
    return seen;
}

static void *pusher(void *unused) {
    (void)unused;
    push(1);
    push(2);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, pusher, NULL);
    int node = pop();
    int value = atomic_load_explicit(&nodes[node].value, RELAXED);
    assert(value == 10 * node);
    pthread_join(thread, NULL);
    return 0;
}
