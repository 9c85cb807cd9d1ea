/* aba-treiber: a Treiber stack whose nodes are reused. A thread reads the top and its
   successor. Before its compare-exchange, both are popped and the old top is pushed
   again. The compare-exchange succeeds and puts a node that is in use into the stack. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* The nodes 1 to 3, linked by index; 0 is the end. */
static atomic_uint top = 1;
static atomic_uint next[4] = {0, 2, 3, 0};

static unsigned pop(void) {
    for (;;) {
        unsigned node = atomic_load(&top);
        if (node == 0)
            return 0;
        unsigned successor = atomic_load(&next[node]);
        unsigned seen = node;
        if (atomic_compare_exchange_strong(&top, &seen, successor))
            return node;
    }
}

static void push(unsigned node) {
    for (;;) {
        unsigned seen = atomic_load(&top);
        atomic_store(&next[node], seen);
        if (atomic_compare_exchange_strong(&top, &seen, node))
            return;
    }
}

static void *other(void *unused) {
    (void)unused;
    pop();
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    unsigned first = pop();
    unsigned mine = pop();
    push(first);
    pthread_join(thread, NULL);
    unsigned last = pop();
    assert(last != mine);
    return 0;
}
