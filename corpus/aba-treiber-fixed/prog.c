/* aba-treiber-fixed: a Treiber stack whose nodes are reused. Each change increments a number
   in the top, so that a compare-exchange does not mistake an old top for the current one. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { CHANGE = 8 };

/* The nodes 1 to 3, linked by index; 0 is the end. Multiples of CHANGE count the changes of top. */
static atomic_uint top = 1;
static atomic_uint next[4] = {0, 2, 3, 0};

static bool change(unsigned seen, unsigned node) {
    unsigned changed = seen - seen % CHANGE + CHANGE + node;
    return atomic_compare_exchange_strong(&top, &seen, changed);
}

static unsigned pop(void) {
    for (;;) {
        unsigned seen = atomic_load(&top);
        unsigned node = seen % CHANGE;
        if (node == 0)
            return 0;
        unsigned successor = atomic_load(&next[node]);
        if (change(seen, successor))
            return node;
    }
}

static void push(unsigned node) {
    for (;;) {
        unsigned seen = atomic_load(&top);
        atomic_store(&next[node], seen % CHANGE);
        if (change(seen, node))
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
